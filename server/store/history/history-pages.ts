/**
 * Reads pages of histories by bucket. A history can have millions of points, so it is read in steps
 * of a few milliseconds, between which the process serves other requests.
 */
import {
  computeCountChanges,
  findLastKnownCounts,
  findBucketStart,
  groupIntoBuckets,
  type HistoryBucket,
} from "../../../core/buckets.ts";
import { cutPage, type CursorPage } from "../../../core/cursor.ts";
import { findHistoryPageStart, type HistoryRequest } from "../../../core/history-request.ts";
import { encodeBucketCursor } from "../../../core/resources/history-resources.ts";
import { yieldToEventLoop } from "../database/paged-scan.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import type { EntityKind } from "../../../core/entity-kinds.ts";
import { decodeChunks, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, selectChunkStartSql } from "./chunk-sql.ts";

/** Chunks that one step reads: about 6,000 points, which take 2 milliseconds. */
const STEP_CHUNKS = 64;

/** A page of a history, oldest first. */
export interface BucketPage extends CursorPage<HistoryBucket> {
  /** The changes of each bucket. */
  readonly changes: readonly (readonly (number | null)[])[];
  /** The instant of the oldest point that the page selects; `null` if it selects none. */
  readonly oldest: number | null;
}

/** The entity whose history is read. */
export interface HistoryOwner {
  readonly kind: EntityKind;
  /** The key of its row. */
  readonly key: number;
}

/**
 * Reads a page of a history.
 *
 * The change of the first known count of a page needs the known count before it. It is searched
 * backwards only for counts that the page knows, because of a count that no source reports the whole
 * history would be searched.
 */
export async function readHistoryPage(
  database: Database,
  owner: HistoryOwner,
  request: HistoryRequest,
): Promise<BucketPage> {
  const { limit } = request;
  const start = findHistoryPageStart(request);
  const range = { ...request, from: start };
  const { buckets: found, oldest } = await readBuckets(database, owner, range, limit + 1);
  const page = cutPage(found, limit, encodeBucketCursor);
  const needed = findLastKnownCounts(page.items).map((count) => count !== null);
  const known = await findKnownBefore(database, owner, { ...request, to: start }, needed);
  return { ...page, changes: computeCountChanges(page.items, known), oldest };
}

/** Which points are read: from the first instant up to the last one, which is left out. */
type PointRange = Pick<HistoryRequest, "from" | "to" | "interval">;

/** Reads the first buckets of a range, oldest first. */
export async function readBuckets(
  database: Database,
  { kind, key }: HistoryOwner,
  { from, to, interval }: PointRange,
  maxBuckets: number,
): Promise<{ buckets: HistoryBucket[]; oldest: number | null }> {
  const { width, selectForwards } = STATEMENTS[kind];
  const buckets: HistoryBucket[] = [];
  let oldest: number | null = null;
  let start = from;
  for (;;) {
    const args = [key, start, to, STEP_CHUNKS];
    const chunks = (await database.queryJson<Chunk[]>(selectForwards, args)) ?? [];
    const points = decodeChunks(chunks, width);
    const selected = points.filter(({ at }) => at >= start && at < to);
    oldest ??= selected[0]?.at ?? null;
    appendBuckets(buckets, groupIntoBuckets(selected, interval));
    // The last one is complete once one follows it.
    if (chunks.length < STEP_CHUNKS || buckets.length > maxBuckets) break;
    start = (points.at(-1)?.at ?? to) + 1;
    await yieldToEventLoop();
  }
  return { buckets: buckets.slice(0, maxBuckets), oldest };
}

/** Appends buckets; the first may continue the last one that is there. */
function appendBuckets(buckets: HistoryBucket[], next: readonly HistoryBucket[]): void {
  if (next[0] !== undefined && next[0].start === buckets.at(-1)?.start) buckets.pop();
  buckets.push(...next);
}

/**
 * Finds the last known counts before an instant, of the counts that are needed.
 *
 * @param range Its end is the instant. Its beginning cuts a bucket in two, on every page.
 */
async function findKnownBefore(
  database: Database,
  { kind, key }: HistoryOwner,
  { from, to, interval }: PointRange,
  needed: readonly boolean[],
): Promise<(number | null)[]> {
  const { width, selectBackwards } = STATEMENTS[kind];
  let end = to;
  let stepChunks = 1;
  let known: (number | null)[] = needed.map(() => null);
  while (needed.some((isNeeded, index) => isNeeded && known[index] === null)) {
    const chunks = await database.queryJson<Chunk[]>(selectBackwards, [key, end, stepChunks]);
    const points = decodeChunks(chunks?.toReversed() ?? [], width).filter(({ at }) => at < end);
    const first = points[0];
    if (first === undefined) break;
    const buckets = [
      ...groupIntoBuckets(
        points.filter(({ at }) => at < from),
        interval,
      ),
      ...groupIntoBuckets(
        points.filter(({ at }) => at >= from),
        interval,
      ),
    ];
    const oldestStart = findBucketStart(first.at, interval);
    const earlierKnown = findLastKnownCounts(buckets);
    known = known.map((count, index) => count ?? earlierKnown[index] ?? null);
    // Earlier points of the oldest bucket don't count: its newest point was read.
    end = first.at < from ? oldestStart : Math.max(oldestStart, from);
    stepChunks = Math.min(STEP_CHUNKS, stepChunks * 8);
    await yieldToEventLoop();
  }
  return known;
}

/** The statements of a kind. */
interface KindStatements {
  /** How many counts a point has. */
  readonly width: number;
  /** Chunks of the entity `?1` with points from `?2` on and before `?3`: the oldest `?4`. */
  readonly selectForwards: string;
  /** Chunks of the entity `?1` that start before `?2`: the newest `?3`, newest first. */
  readonly selectBackwards: string;
}

function createStatements(kind: EntityKind): KindStatements {
  const tables = KIND_TABLES[kind];
  const { historyTable, entityColumn } = tables;
  const selectChunks = (condition: string, order: string, limit: string) => `
    SELECT json_group_array(${CHUNK_JSON})
    FROM (
      SELECT start, size, points
      FROM ${historyTable}
      WHERE ${entityColumn} = ?1 AND ${condition}
      ORDER BY start ${order}
      LIMIT ${limit}
    )`;
  const from = selectChunkStartSql(tables, "?1", "?2");
  return {
    width: tables.counts.length,
    selectForwards: selectChunks(`start >= ${from} AND start < ?3`, "ASC", "?4"),
    selectBackwards: selectChunks("start < ?2", "DESC", "?3"),
  };
}

const STATEMENTS: Readonly<Record<EntityKind, KindStatements>> = {
  channel: createStatements("channel"),
  short: createStatements("short"),
  user: createStatements("user"),
  tweet: createStatements("tweet"),
};
