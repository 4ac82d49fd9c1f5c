/**
 * Reads the list of all channels. It can have a hundred thousand, so it is read, sorted and encoded
 * in steps of a few milliseconds, between which the process serves other requests.
 */
import { createRawJson } from "../../raw-json.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import { ChannelSummary, type ChannelList } from "../../../core/schema/video.ts";
import { compareText } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop, scanPages } from "../database/paged-scan.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { CHANNELS_TAG } from "../history/change-log.ts";

/** Channels that one step reads or encodes. */
const STEP_CHANNELS = 250;

const MERGE_STEP_CHANNELS = 5000;

// Paged by key, because the counts that the list is sorted by can change between two steps.
const SELECT_PAGE = `
  SELECT json_group_array(json_object(
    'key', key,
    'channel', ${fieldsJsonSql(ChannelSummary)}
  ))
  FROM (
    SELECT *
    FROM channels
    WHERE key > ?1 AND observed_at IS NOT NULL
    ORDER BY key
    LIMIT ?2
  )`;

interface ChannelRow {
  readonly key: number;
  readonly channel: ChannelSummary;
}

/** Reads all channels: most subscribers first, unknown counts last, then by identifier. */
export async function readChannelList(database: Database): Promise<CacheableResult<ChannelList>> {
  const pages = scanPages(STEP_CHANNELS, (after: ChannelRow | undefined) =>
    database.queryJson<ChannelRow[]>(SELECT_PAGE, [after?.key ?? 0, STEP_CHANNELS]),
  );
  const sorted: ChannelSummary[][] = [];
  for await (const rows of pages) {
    sorted.push(rows.map(({ channel }) => channel).toSorted(compareChannels));
  }
  const channels = await mergeSortedLists(sorted);
  const body = channels.length <= STEP_CHANNELS ? { channels } : await encodeChannelList(channels);
  return { body, tags: [CHANNELS_TAG] };
}

function compareChannels(a: ChannelSummary, b: ChannelSummary): number {
  return (b.subscribers ?? -1) - (a.subscribers ?? -1) || compareText(a.id, b.id);
}

/** Merges neighbouring lists in pairs until one is left. */
async function mergeSortedLists(sorted: readonly ChannelSummary[][]): Promise<ChannelSummary[]> {
  let lists = sorted;
  while (lists.length > 1) {
    const merged: ChannelSummary[][] = [];
    for (let index = 0; index < lists.length; index += 2) {
      merged.push(await mergePair(lists[index] ?? [], lists[index + 1] ?? []));
    }
    lists = merged;
  }
  return lists[0] ?? [];
}

async function mergePair(
  a: readonly ChannelSummary[],
  b: readonly ChannelSummary[],
): Promise<ChannelSummary[]> {
  const merged: ChannelSummary[] = [];
  let [indexA, indexB] = [0, 0];
  for (;;) {
    if (merged.length % MERGE_STEP_CHANNELS === 0) await yieldToEventLoop();
    const [left, right] = [a[indexA], b[indexB]];
    if (left === undefined) return merged.concat(b.slice(indexB));
    if (right === undefined) return merged.concat(a.slice(indexA));
    const isLeftFirst = compareChannels(left, right) < 0;
    merged.push(isLeftFirst ? left : right);
    if (isLeftFirst) indexA++;
    else indexB++;
  }
}

/** Encodes the list as the bytes of its JSON. */
async function encodeChannelList(channels: readonly ChannelSummary[]): Promise<ChannelList> {
  const encoder = new TextEncoder();
  const pieces = [encoder.encode('{"channels":[')];
  for (let from = 0; from < channels.length; from += STEP_CHANNELS) {
    const text = JSON.stringify(channels.slice(from, from + STEP_CHANNELS)).slice(1, -1);
    pieces.push(encoder.encode(from === 0 ? text : `,${text}`));
    await yieldToEventLoop();
  }
  pieces.push(encoder.encode("]}"));
  return createRawJson(Buffer.concat(pieces));
}
