/**
 * The list of all channels. It is read, sorted and written in steps of a few milliseconds, since it
 * can have a hundred thousand channels.
 */
import { createRawJson } from "../../raw-json.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { ChannelList, ChannelSummary } from "../../../core/schema/video.ts";
import { compareText } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop, scanPages } from "../database/paged-scan.ts";
import { CHANNELS_TAG } from "../history/cache-tags.ts";

/** Channels that are read, or written, in one step. */
const STEP_CHANNELS = 250;

/** Channels that are merged in one step. */
const MERGE_STEP_CHANNELS = 5000;

/** By key, which stays while the counts that the list is sorted by change between two steps. */
const SELECT_PAGE =
  "SELECT json_group_array(json_array(key, id, username, display_name, subscribers, " +
  "video_count, thumbnail)) FROM (SELECT * FROM channels WHERE key > ?1 " +
  "AND observed_at IS NOT NULL ORDER BY key LIMIT ?2)";

type ChannelRow = [
  key: number,
  id: string,
  username: string | null,
  displayName: string | null,
  subscribers: number | null,
  videoCount: number | null,
  thumbnail: string | null,
];

/** Reads all channels: most subscribers first, unknown counts last, then by identifier. */
export async function readChannelList(database: Database): Promise<CacheableResult<ChannelList>> {
  const pages = scanPages(STEP_CHANNELS, (after: ChannelRow | undefined) =>
    database.queryJson<ChannelRow[]>(SELECT_PAGE, [after?.[0] ?? 0, STEP_CHANNELS]),
  );
  const sorted: ChannelSummary[][] = [];
  for await (const rows of pages) sorted.push(rows.map(toChannelSummary).toSorted(compareChannels));
  const channels = await mergeSortedLists(sorted);
  const body = channels.length <= STEP_CHANNELS ? { channels } : await encodeChannelList(channels);
  return { body, tags: [CHANNELS_TAG] };
}

function toChannelSummary(row: ChannelRow): ChannelSummary {
  const [, id, username, displayName, subscribers, videoCount, thumbnail] = row;
  return { id, username, displayName, subscribers, videoCount, thumbnail };
}

function compareChannels(a: ChannelSummary, b: ChannelSummary): number {
  const [left, right] = [a.subscribers ?? -1, b.subscribers ?? -1];
  return left === right ? compareText(a.id, b.id) : right - left;
}

/** Merges sorted lists, two at a time. */
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

/** Writes the list as the bytes of its JSON. */
async function encodeChannelList(channels: readonly ChannelSummary[]): Promise<ChannelList> {
  const encoder = new TextEncoder();
  const pieces = [encoder.encode('{"channels":[')];
  for (let at = 0; at < channels.length; at += STEP_CHANNELS) {
    const text = JSON.stringify(channels.slice(at, at + STEP_CHANNELS)).slice(1, -1);
    pieces.push(encoder.encode(at === 0 ? text : `,${text}`));
    await yieldToEventLoop();
  }
  pieces.push(encoder.encode("]}"));
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
    await yieldToEventLoop();
  }
  return createRawJson(bytes);
}
