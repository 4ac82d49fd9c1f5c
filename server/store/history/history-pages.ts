/**
 * Reads pages of histories by bucket. A history can have millions of points, so it is read in steps
 * of a few milliseconds, between which the process serves other requests.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import {
  computeCountChanges,
  fillUnknownCounts,
  findBucketEnd,
  findLastKnownCounts,
  groupIntoBuckets,
  type HistoryBucket,
} from "../../../core/buckets.ts";
import { cutPage, type CursorPage } from "../../../core/cursor.ts";
import { computeDaysFilterValidity } from "../../../core/pagination.ts";
import {
  encodeHistoryCursor,
  findBucketRange,
  HISTORY_DEFAULT_DAYS,
  type HistoryRequest,
} from "../../../core/history-request.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { CacheMetadata } from "./cache-metadata.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import type { PointLayout } from "../tables/point-layout.ts";
import { mapKinds, type EntityKind } from "../../../core/kinds.ts";
import { decodeChunks, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, selectChunkStartSql } from "./chunk-sql.ts";

/** Chunks that one step reads: about 6,000 points, which take 2 milliseconds. */
const STEP_CHUNKS = 64;

/** A page of a history, oldest first. */
interface BucketPage extends CursorPage<HistoryBucket> {
  /** The changes of each bucket. */
  readonly changes: readonly (readonly (number | null)[])[];
}

/** The entity whose history is read. */
interface HistoryOwner {
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
  const { interval, limit } = request;
  const page = cutPage(await readBuckets(database, owner, request, limit + 1), limit, ({ start }) =>
    encodeHistoryCursor(start, interval),
  );
  const needed = findLastKnownCounts(page.items).map((count) => count !== null);
  const pageStart = findBucketRange(request).start;
  const known = await findKnownBefore(database, owner, pageStart, needed);
  return { ...page, changes: computeCountChanges(page.items, known) };
}

/** What a range of instants says beside its bounds. */
export interface RangeOrigin {
  /** Whether `from` moves with the clock, so that a cached page ages: neither it nor `to` was given. */
  readonly isRecent?: boolean;
}

/**
 * Computes how long a page stays the same while only the clock moves. If the request has the default
 * range, its oldest bucket leaves it at some time.
 *
 * @param oldest The first bucket or row of the page; `undefined` if it is empty.
 */
export function computePageValidity(
  { from, interval, isRecent }: HistoryRequest & RangeOrigin,
  oldest: Pick<HistoryBucket, "start"> | undefined,
): Pick<CacheMetadata, "validDuring"> {
  if (!isRecent) return {};
  const now = from + HISTORY_DEFAULT_DAYS * DAY_MS;
  const lastInstant = oldest === undefined ? null : findBucketEnd(oldest.start, interval) - 1;
  return { validDuring: computeDaysFilterValidity(lastInstant, HISTORY_DEFAULT_DAYS, now) };
}

/** Reads the first buckets of a page and of all pages after it, oldest first. */
export async function readBuckets(
  database: Database,
  { kind, key }: HistoryOwner,
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
    // The last one is complete once one follows it.
    if (chunks.length < STEP_CHUNKS || buckets.length > maxBuckets) break;
    start = (points.at(-1)?.at ?? end) + 1;
    await yieldToEventLoop();
  }
  return buckets.slice(0, maxBuckets);
}

/** Appends buckets; the first may continue the last one that is there. */
function appendBuckets(buckets: HistoryBucket[], next: readonly HistoryBucket[]): void {
  const [last, [first, ...rest]] = [buckets.at(-1), next];
  if (last === undefined || first?.start !== last.start) {
    buckets.push(...next);
    return;
  }
  const counts = fillUnknownCounts(first.counts, last.counts);
  buckets.splice(-1, 1, { ...first, counts }, ...rest);
}

/** Finds the last known counts before an instant, of the counts that are needed. */
async function findKnownBefore(
  database: Database,
  { kind, key }: HistoryOwner,
  instant: number,
  needed: readonly boolean[],
): Promise<readonly (number | null)[]> {
  const { pointLayout, selectBackwards } = STATEMENTS[kind];
  let end = instant;
  let stepChunks = 1;
  let known: readonly (number | null)[] = needed.map(() => null);
  while (needed.some((isNeeded, index) => isNeeded && known[index] === null)) {
    const chunks = await database.queryJson<Chunk[]>(selectBackwards, [key, end, stepChunks]);
    const points = decodeChunks(chunks?.toReversed() ?? [], pointLayout).filter(
      ({ at }) => at < end,
    );
    const first = points[0];
    if (first === undefined) break;
    known = fillUnknownCounts(known, findLastKnownCounts(points));
    end = first.at;
    stepChunks = Math.min(STEP_CHUNKS, stepChunks * 8);
    await yieldToEventLoop();
  }
  return known;
}

/** The statements of a kind. */
interface KindStatements {
  readonly pointLayout: PointLayout;
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
    pointLayout: tables.pointLayout,
    selectForwards: selectChunks(`start >= ${from} AND start < ?3`, "ASC", "?4"),
    selectBackwards: selectChunks("start < ?2", "DESC", "?3"),
  };
}

const STATEMENTS = mapKinds(createStatements);
