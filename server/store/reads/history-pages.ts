/** Reads pages of histories by bucket, in short steps between which other requests are served. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  computeCountChanges,
  fillUnknownCounts,
  findBucketEnd,
  findLastKnownCounts,
  groupIntoBuckets,
  type HistoryBucket,
  type HistoryPoint,
} from "../../../core/buckets.ts";
import { computeDaysFilterValidity } from "../../../core/pagination.ts";
import {
  createGroupingFields,
  cutHistoryPage,
  findBucketRange,
  HISTORY_DEFAULT_DAYS,
  createHistoryItems,
  type HistoryRequest,
} from "../../../core/histories.ts";
import type { TimeRange } from "../../../core/growth.ts";
import { DAY_MS, LAST_INSTANT } from "../../../core/time.ts";
import type { CacheableResult } from "./read-types.ts";
import type { DatabaseReads } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { mapKinds, type EntityKind } from "../../../core/kinds.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
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
  database: DatabaseReads,
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
    page: { ...createGroupingFields(request), history, pagination },
    caching: { observedAt, ...computePageValidity(request, items[0]) },
  };
}

export interface RangeOrigin {
  /** Whether no range was given: then `from` moves with the clock, and a cached page ages. */
  readonly isRecent?: boolean;
}

/** Computes how long a page stays valid: until its first bucket leaves the default range. */
export function computePageValidity(
  { from, interval, zone, isRecent }: HistoryRequest & RangeOrigin,
  oldest: Pick<HistoryBucket, "start"> | undefined,
): Pick<CacheableResult, "validDuring"> {
  if (!isRecent) return {};
  const now = from + HISTORY_DEFAULT_DAYS * DAY_MS;
  const lastInstant = oldest === undefined ? null : findBucketEnd(oldest.start, interval, zone) - 1;
  return { validDuring: computeDaysFilterValidity(lastInstant, HISTORY_DEFAULT_DAYS, now) };
}

/** Reads up to `maxBuckets` buckets from the start of a page on, oldest first. */
export async function readBuckets(
  database: DatabaseReads,
  kind: EntityKind,
  key: number,
  request: HistoryRequest,
  maxBuckets: number,
): Promise<HistoryBucket[]> {
  const { start, end } = findBucketRange(request);
  const buckets: HistoryBucket[] = [];
  for await (const points of readPoints(database, kind, key, { start, end })) {
    appendBuckets(buckets, groupIntoBuckets(points, request.interval, request.zone));
    // The last bucket is complete once another bucket follows it.
    if (buckets.length > maxBuckets) break;
  }
  return buckets.slice(0, maxBuckets);
}

/** Reads the points of an entity from `start` on and before `end`, oldest first, in steps. */
export async function* readPoints(
  database: DatabaseReads,
  kind: EntityKind,
  key: number,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Point[], void> {
  const { pointLayout, selectForwards } = STATEMENTS[kind];
  for (let from = start; ;) {
    const args = [key, from, end, STEP_CHUNKS];
    const chunks = (await database.queryJson<Chunk[]>(selectForwards, args)) ?? [];
    const points = decodeChunks(chunks, pointLayout);
    yield points.filter(({ at }) => at >= from && at < end);
    if (chunks.length < STEP_CHUNKS) return;
    from = (points.at(-1)?.at ?? end) + 1;
    await yieldToEventLoop();
  }
}

/** Reads all points from `from` to `to`, both included, oldest first. */
export async function readAllPoints(
  database: DatabaseReads,
  kind: EntityKind,
  key: number,
  { from, to }: TimeRange,
): Promise<HistoryPoint[]> {
  const steps = readPoints(database, kind, key, { start: from, end: to + 1 });
  return (await Array.fromAsync(steps)).flat();
}

/**
 * Finds the point nearest to an instant that knows a count: the last one before it, or the first one
 * from it on.
 */
export async function findKnownPoint(
  database: DatabaseReads,
  kind: EntityKind,
  search: {
    readonly key: number;
    readonly countIndex: number;
    readonly at: number;
    readonly isBefore: boolean;
  },
): Promise<HistoryPoint | undefined> {
  const { pointLayout, selectForwards, selectBackwards } = STATEMENTS[kind];
  const { key, countIndex, isBefore } = search;
  let { at } = search;
  for (let stepChunks = 1; ; stepChunks = Math.min(STEP_CHUNKS, stepChunks * 8)) {
    const chunks = await database.queryJson<Chunk[]>(
      isBefore ? selectBackwards : selectForwards,
      isBefore ? [key, at, stepChunks] : [key, at, LAST_INSTANT + 1, stepChunks],
    );
    const oldestFirst = isBefore ? (chunks?.toReversed() ?? []) : (chunks ?? []);
    const points = decodeChunks(oldestFirst, pointLayout).filter((point) =>
      isBefore ? point.at < at : point.at >= at,
    );
    const isKnown = ({ counts }: HistoryPoint) => typeof counts[countIndex] === "number";
    const found = isBefore ? points.findLast(isKnown) : points.find(isKnown);
    const outermost = isBefore ? points[0] : points.at(-1);
    if (found !== undefined || outermost === undefined) return found;
    at = isBefore ? outermost.at : outermost.at + 1;
    await yieldToEventLoop();
  }
}

function appendBuckets(buckets: HistoryBucket[], next: readonly HistoryBucket[]): void {
  const [last, [first, ...rest]] = [buckets.at(-1), next];
  if (last === undefined || first?.start !== last.start) return void buckets.push(...next);
  const counts = fillUnknownCounts(first.counts, last.counts);
  buckets.splice(-1, 1, { ...first, counts }, ...rest);
}

/** Finds the last known counts before an instant, of the counts that are needed. */
async function findKnownBefore(
  database: DatabaseReads,
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
