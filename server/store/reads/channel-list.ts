/**
 * Reads the list of all channels. It can have a hundred thousand channels, so it is read, sorted
 * and joined in steps of a few milliseconds, between which the process serves other requests. The
 * JSON of a channel comes from SQLite and stays bytes: an object for each would make the garbage
 * collector stop the process for longer than any step.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createRawJson } from "../../raw-json.ts";
import type { ChannelList } from "../../../core/resources/generated/types.ts";
import * as schema from "../../../core/resources/video.ts";
import { compareText } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import type { CacheableResult } from "./read-types.ts";
import { LIST_TAGS } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";

const STEP_CHANNELS = 250;
const SORT_STEP_CHANNELS = 5000;
const JOIN_STEP_CHANNELS = 2000;

/** Channels in each part of the JSON; a reader gets one part at a time. */
const PART_CHANNELS = 500;

const LINE_END = 0x0a;
const COMMA = 0x2c;

// Paged by key, because the counts that the list is sorted by can change between two steps. The
// JSON of a channel has no line break.
const SELECT_PAGE = `
  SELECT json_object(
    'lastKey', max(key),
    'ids', json_group_array(id),
    'subscribers', json_group_array(ifnull(subscribers, -1)),
    'lines', group_concat(${fieldsJsonSql(schema.ChannelSummary)}, char(10))
  )
  FROM (
    SELECT *
    FROM channels
    WHERE key > ?1 AND observed_at IS NOT NULL
    ORDER BY key
    LIMIT ?2
  )`;

interface ChannelPage {
  readonly lastKey: number;
  readonly ids: readonly string[];
  /** -1 if unknown. */
  readonly subscribers: readonly number[];
  /** The JSON of the channels, a line each; null if there is none. */
  readonly lines: string | null;
}

/** The channels that were read. Their order of reading gives each its index. */
interface ReadChannels {
  readonly ids: string[];
  readonly subscribers: number[];
  readonly pages: Buffer[];
  /** Where the JSON of each channel ends in its page. */
  readonly ends: number[];
}

/** Reads all channels: most subscribers first, unknown counts last, then by identifier. */
export async function readChannelList(database: Database): Promise<CacheableResult<ChannelList>> {
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

async function readChannels(database: Database): Promise<ReadChannels> {
  const channels: ReadChannels = { ids: [], subscribers: [], pages: [], ends: [] };
  let lastKey = 0;
  for (;;) {
    const page = await database.queryJson<ChannelPage>(SELECT_PAGE, [lastKey, STEP_CHANNELS]);
    if (page === undefined || page.lines === null) return channels;
    const lines = Buffer.from(page.lines);
    channels.pages.push(lines);
    for (let end = lines.indexOf(LINE_END); end !== -1; end = lines.indexOf(LINE_END, end + 1)) {
      channels.ends.push(end);
    }
    channels.ends.push(lines.length);
    channels.ids.push(...page.ids);
    channels.subscribers.push(...page.subscribers);
    if (page.ids.length < STEP_CHANNELS) return channels;
    ({ lastKey } = page);
    await yieldToEventLoop();
  }
}

/** Sorts the channels: sorts runs of them, then merges neighbouring runs until one is left. */
async function sortChannels({ ids, subscribers }: ReadChannels): Promise<Uint32Array> {
  const compare = (a = 0, b = 0) =>
    (subscribers[b] ?? -1) - (subscribers[a] ?? -1) || compareText(ids[a] ?? "", ids[b] ?? "");
  const { length } = ids;
  let sorted = Uint32Array.from(ids.keys());
  let target = new Uint32Array(length);
  for (let from = 0; from < length; from += STEP_CHANNELS) {
    sorted.subarray(from, from + STEP_CHANNELS).sort(compare);
    await yieldToEventLoop();
  }
  for (let size = STEP_CHANNELS; size < length; size *= 2) {
    for (let from = 0; from < length; from += 2 * size) {
      // The second run may be shorter or missing.
      const middle = Math.min(from + size, length);
      const end = Math.min(middle + size, length);
      let [left, right] = [from, middle];
      for (let to = from; to < end; to++) {
        if (to % SORT_STEP_CHANNELS === 0) await yieldToEventLoop();
        const isLeftNext =
          right === end || (left < middle && compare(sorted[left], sorted[right]) < 0);
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
