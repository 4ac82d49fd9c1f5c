/** Reads pages of histories by bucket, in short steps between which other requests are served. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  computeCountChanges,
  fillUnknownCounts,
  findBucketEnd,
  findLastKnownCounts,
  groupIntoBuckets,
  type HistoryBucket,
} from "../../../core/buckets.ts";
import { computeDaysFilterValidity } from "../../../core/pagination.ts";
import {
  cutHistoryPage,
  findBucketRange,
  HISTORY_DEFAULT_DAYS,
  createHistoryItems,
  type HistoryRequest,
} from "../../../core/histories.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { CacheableResult } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { mapKinds, type EntityKind } from "../../../core/kinds.ts";
import { decodeChunks, type Chunk } from "../history/chunk-codec.ts";
import { selectChunksSql, selectChunkStartSql } from "../history/chunk-sql.ts";

/** Chunks that one step reads: about 6,000 points, which take 2 milliseconds. */
const STEP_CHUNKS = 64;

/**
 * Reads a page of a history, and how long it may be cached.
 *
 * The change of the first known count of a page needs the known count before it. It is searched
 * backwards only for counts that the page knows: for a count that no source reports, the whole
 * history would be searched.
 */
export async function readHistoryPage<Kind extends EntityKind>(
  database: Database,
  kind: Kind,
  { key, observedAt }: { readonly key: number; readonly observedAt: number | null },
  request: HistoryRequest & RangeOrigin,
) {
  const buckets = await readBuckets(database, kind, key, request, request.limit + 1);
  const { items, pagination } = cutHistoryPage(buckets, request);
  const needed = findLastKnownCounts(items).map((count) => count !== null);
  const { start } = findBucketRange(request);
  const known = await findKnownBefore(database, kind, key, start, needed);
  const history = createHistoryItems(kind, items, computeCountChanges(items, known));
  return {
    page: { interval: request.interval, history, pagination },
    caching: { observedAt, ...computePageValidity(request, items[0]) },
  };
}

export interface RangeOrigin {
  /** Whether no range was given: then `from` moves with the clock, and a cached page ages. */
  readonly isRecent?: boolean;
}

/** Computes how long a page stays valid: until its first bucket leaves the default range. */
export function computePageValidity(
  { from, interval, isRecent }: HistoryRequest & RangeOrigin,
  oldest: Pick<HistoryBucket, "start"> | undefined,
): Pick<CacheableResult, "validDuring"> {
  if (!isRecent) return {};
  const now = from + HISTORY_DEFAULT_DAYS * DAY_MS;
  const lastInstant = oldest === undefined ? null : findBucketEnd(oldest.start, interval) - 1;
  return { validDuring: computeDaysFilterValidity(lastInstant, HISTORY_DEFAULT_DAYS, now) };
}

/** Reads up to `maxBuckets` buckets from the start of a page on, oldest first. */
export async function readBuckets(
  database: Database,
  kind: EntityKind,
  key: number,
  request: HistoryRequest,
  maxBuckets: number,
): Promise<HistoryBucket[]> {
  const { pointLayout, selectForwards } = STATEMENTS[kind];
  const { start: first, end } = findBucketRange(request);
  const buckets: HistoryBucket[] = [];
  let start = first;
  for (;;) {
    const args = [key, start, end, STEP_CHUNKS];
    const chunks = (await database.queryJson<Chunk[]>(selectForwards, args)) ?? [];
    const points = decodeChunks(chunks, pointLayout);
    const selected = points.filter(({ at }) => at >= start && at < end);
    appendBuckets(buckets, groupIntoBuckets(selected, request.interval));
    // The last bucket is complete once another bucket follows it.
    if (chunks.length < STEP_CHUNKS || buckets.length > maxBuckets) break;
    start = (points.at(-1)?.at ?? end) + 1;
    await yieldToEventLoop();
  }
  return buckets.slice(0, maxBuckets);
}

function appendBuckets(buckets: HistoryBucket[], next: readonly HistoryBucket[]): void {
  const [last, [first, ...rest]] = [buckets.at(-1), next];
  if (last === undefined || first?.start !== last.start) return void buckets.push(...next);
  const counts = fillUnknownCounts(first.counts, last.counts);
  buckets.splice(-1, 1, { ...first, counts }, ...rest);
}

/** Finds the last known counts before an instant, of the counts that are needed. */
async function findKnownBefore(
  database: Database,
  kind: EntityKind,
  key: number,
  instant: number,
  needed: readonly boolean[],
): Promise<readonly (number | null)[]> {
  const { pointLayout, selectBackwards } = STATEMENTS[kind];
  let end = instant;
  let stepChunks = 1;
  let known: readonly (number | null)[] = needed.map(() => null);
  while (needed.some((isNeeded, index) => isNeeded && known[index] === null)) {
    const chunks = await database.queryJson<Chunk[]>(selectBackwards, [key, end, stepChunks]);
    const decoded = decodeChunks(chunks?.toReversed() ?? [], pointLayout);
    const points = decoded.filter(({ at }) => at < end);
    const [first] = points;
    if (first === undefined) break;
    known = fillUnknownCounts(known, findLastKnownCounts(points));
    end = first.at;
    stepChunks = Math.min(STEP_CHUNKS, stepChunks * 8);
    await yieldToEventLoop();
  }
  return known;
}

const STATEMENTS = mapKinds((kind) => {
  const tables = KIND_TABLES[kind];
  const select = (condition: string, order: string) =>
    `SELECT ${selectChunksSql(tables, "?1", condition, order)}`;
  const from = selectChunkStartSql(tables, "?1", "?2");
  return {
    pointLayout: tables.pointLayout,
    /** Chunks of the entity `?1` with points from `?2` on and before `?3`: the oldest `?4`. */
    selectForwards: select(`start >= ${from} AND start < ?3`, "start LIMIT ?4"),
    /** Chunks of the entity `?1` that start before `?2`: the newest `?3`, newest first. */
    selectBackwards: select("start < ?2", "start DESC LIMIT ?3"),
  };
});
