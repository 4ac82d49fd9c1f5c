/**
 * Reads the list of all channels. It can have a hundred thousand channels, so it is read, sorted
 * and joined in steps of a few milliseconds, between which the process serves other requests. The
 * JSON of a channel comes from SQLite and stays bytes: an object for each would make the garbage
 * collector stop the process for longer than any step.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createRawJson } from "../../../raw-json.ts";
import type { ChannelList } from "../../../../core/resources/generated/types.ts";
import * as schema from "../../../../core/resources/video.ts";
import type { DatabaseReads } from "../../database/database.ts";
import type { CacheableResult } from "../read-types.ts";
import { LIST_TAGS } from "../../history/change-log.ts";
import { fieldsJsonSql } from "../../tables/entity-sql.ts";

const STEP_CHANNELS = 250;
const SORT_STEP_CHANNELS = 20_000;
const JOIN_STEP_CHANNELS = 2000;

/** Channels in each part of the JSON; a reader gets one part at a time. */
const PART_CHANNELS = 500;

const LINE_END = 0x0a;
const COMMA = 0x2c;

// Paged by identifier, because the counts that the list is sorted by can change between two steps.
// The JSON of a channel has no line break. In a JSON object, the lines would be escaped and parsed
// again, which takes as long as all the rest of the query.
const SELECT_PAGE = `
  SELECT
    max(id) AS last_id,
    json_group_array(ifnull(subscribers, -1)) AS subscribers,
    group_concat(${fieldsJsonSql(schema.ChannelSummary)}, char(10)) AS lines
  FROM (
    SELECT *
    FROM channels
    WHERE id > ?1 AND observed_at IS NOT NULL
    ORDER BY id
    LIMIT ?2
  )`;

/** The channels that were read, by identifier; one is named by its index in this order. */
interface ReadChannels {
  /** -1 if unknown. */
  readonly subscribers: number[];
  readonly pages: Buffer[];
  /** Where the JSON of each channel ends in its page. */
  readonly ends: number[];
}

/** Reads all channels: most subscribers first, unknown counts last, then by identifier. */
export async function readChannelList(
  database: DatabaseReads,
): Promise<CacheableResult<ChannelList>> {
  const channels = await readChannels(database);
  const order = await sortChannels(channels);
  const { json, partStarts } = await joinChannels(channels, order);
  const isShort = order.length <= STEP_CHANNELS;
  return {
    body: isShort
      ? JSON.parse(json.toString())
      : createRawJson(json, () => readParts(json, partStarts)),
    tags: [LIST_TAGS.channel],
  };
}

async function readChannels(database: DatabaseReads): Promise<ReadChannels> {
  const channels: ReadChannels = { subscribers: [], pages: [], ends: [] };
  let lastId = "";
  for (;;) {
    const [page] = await database.queryRows({ sql: SELECT_PAGE, args: [lastId, STEP_CHANNELS] });
    const text = page?.["lines"];
    if (page === undefined || typeof text !== "string") return channels;
    const lines = Buffer.from(text);
    channels.pages.push(lines);
    for (let end = lines.indexOf(LINE_END); end !== -1; end = lines.indexOf(LINE_END, end + 1)) {
      channels.ends.push(end);
    }
    channels.ends.push(lines.length);
    const subscribers: number[] = JSON.parse(String(page["subscribers"]));
    channels.subscribers.push(...subscribers);
    if (subscribers.length < STEP_CHANNELS) return channels;
    lastId = String(page["last_id"]);
    await yieldToEventLoop();
  }
}

/** Sorts the channels, which are sorted by identifier: merges neighbouring runs until one is left. */
async function sortChannels({ subscribers }: ReadChannels): Promise<Uint32Array> {
  const counts = Float64Array.from(subscribers);
  const { length } = counts;
  let sorted = Uint32Array.from(counts.keys());
  let target = new Uint32Array(length);
  for (let size = 1; size < length; size *= 2) {
    for (let from = 0; from < length; from += 2 * size) {
      // The second run may be shorter or missing.
      const middle = Math.min(from + size, length);
      const end = Math.min(middle + size, length);
      let [left, right] = [from, middle];
      for (let to = from; to < end; to++) {
        if (to % SORT_STEP_CHANNELS === 0) await yieldToEventLoop();
        const isLeftNext =
          right === end ||
          (left < middle && (counts[sorted[left] ?? 0] ?? 0) >= (counts[sorted[right] ?? 0] ?? 0));
        target[to] = sorted[isLeftNext ? left++ : right++] ?? 0;
      }
    }
    [sorted, target] = [target, sorted];
  }
  return sorted;
}

async function joinChannels({ pages, ends }: ReadChannels, order: Uint32Array) {
  const begin = Buffer.from('{"channels":[');
  const size = pages.reduce((sum, page) => sum + page.length + 1, begin.length + 2);
  const joined = Buffer.allocUnsafeSlow(size);
  const partStarts: number[] = [];
  let offset = begin.copy(joined);
  for (const [place, index] of order.entries()) {
    if (place % JOIN_STEP_CHANNELS === JOIN_STEP_CHANNELS - 1) await yieldToEventLoop();
    if (place > 0) joined[offset++] = COMMA;
    if (place % PART_CHANNELS === 0) partStarts.push(offset);
    const start = index % STEP_CHANNELS === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
    const page = pages[Math.floor(index / STEP_CHANNELS)];
    offset += page?.copy(joined, offset, start, ends[index]) ?? 0;
  }
  joined.write("]}", offset);
  return { json: joined.subarray(0, offset + 2), partStarts };
}

function* readParts(json: Buffer, partStarts: readonly number[]): Generator<ChannelList> {
  for (const [index, start] of partStarts.entries()) {
    const next = partStarts[index + 1];
    // A comma separates two parts; behind the last are the ends of the list and of the object.
    const end = next === undefined ? json.length - 2 : next - 1;
    yield { channels: JSON.parse(`[${json.toString("utf8", start, end)}]`) };
  }
}
