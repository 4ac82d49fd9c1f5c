/** Creates pages of histories, comparisons and follower counts from points. */
import {
  alignBuckets,
  computeCountChanges,
  findLastKnownCounts,
  groupIntoBuckets,
  sortPoints,
  type HistoryBucket,
  type ComparisonRow,
  type HistoryPoint,
} from "../buckets.ts";
import { cutPage } from "../cursor.ts";
import { filterDays } from "../days.ts";
import { ENTITY_FIELDS, type EntityCounts, type EntityKind } from "../entity-kinds.ts";
import { computeFollowerChanges, type FollowerPoint } from "../growth.ts";
import { encodeHistoryCursor, findBucketRange, type HistoryRequest } from "../history-request.ts";
import { paginate, type PageRequest } from "../pagination.ts";
import { formatInstant } from "../time.ts";
import type { ComparisonTable } from "./batch.ts";
import type { HistoryItem, HistoryPage } from "./history.ts";
import type { FollowersPage } from "./microblog.ts";

/**
 * Creates the items of a history.
 *
 * @param changes The changes of each bucket, from `computeCountChanges()`.
 *
 * @example
 * const bucket = { start: 0, observedAt: 5, counts: [7, null, null] };
 * createHistoryItems("user", [bucket], [[2, null, null]])[0].followers_count; // 7
 */
export function createHistoryItems<Kind extends EntityKind>(
  kind: Kind,
  buckets: readonly HistoryBucket[],
  changes: readonly (readonly (number | null)[])[],
): HistoryItem<EntityCounts<Kind>>[] {
  return buckets.map(({ start, observedAt, counts }, index) => ({
    timestamp: formatInstant(start),
    observedAt: formatInstant(observedAt),
    ...nameCounts(kind, counts),
    change: nameCounts(kind, changes[index] ?? []),
  }));
}

/** Creates an object of counts by name. */
function nameCounts<Kind extends EntityKind>(kind: Kind, counts: readonly (number | null)[]) {
  const entries = ENTITY_FIELDS[kind].counts.map((name, index) => [name, counts[index] ?? null]);
  // `Object.fromEntries()` does not know the names.
  return Object.fromEntries(entries) as EntityCounts<Kind>;
}

/**
 * Creates a page of a history. The changes of its first bucket compare with what was known before
 * it, also before `from`.
 *
 * @param points All points of the entity, in any order, as for `groupIntoBuckets()`.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const request = { from: 0, to: 9, interval: "raw", limit: 5 };
 * const points = [{ at: 5, counts: [7, null, null] }];
 * createHistoryPage("user", points, request).history[0].followers_count; // 7
 */
export function createHistoryPage<Kind extends EntityKind>(
  kind: Kind,
  points: Iterable<HistoryPoint>,
  request: HistoryRequest,
): HistoryPage<EntityCounts<Kind>> {
  const { interval, limit } = request;
  const { earlier, selected } = splitBuckets(groupIntoBuckets(points, interval), request);
  const { items, hasMore, nextCursor } = cutPage(selected, limit, ({ start }) =>
    encodeHistoryCursor(start, interval),
  );
  const changes = computeCountChanges(items, findLastKnownCounts(earlier));
  const history = createHistoryItems(kind, items, changes);
  return { interval, history, pagination: { hasMore, nextCursor } };
}

/** Splits off the buckets before a page, and those of the page and all pages after it. */
function splitBuckets(buckets: readonly HistoryBucket[], request: HistoryRequest) {
  const range = findBucketRange(request);
  return {
    earlier: buckets.filter(({ start }) => start < range.start),
    selected: buckets.filter(({ start }) => start >= range.start && start < range.end),
  };
}

/**
 * Creates a page of a comparison of one count.
 *
 * @param histories The points of each entity, in any order, as for `groupIntoBuckets()`; none for
 * one that is not found.
 * @param countIndex Which count.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const request = { from: 0, to: 9, interval: "raw", limit: 5 };
 * createComparisonTable([[{ at: 5, counts: [7] }], []], 0, request).rows;
 * // [{ timestamp: "1970-01-01T00:00:00.005Z", values: [7, null] }]
 */
export function createComparisonTable(
  histories: readonly Iterable<HistoryPoint>[],
  countIndex: number,
  request: HistoryRequest,
): ComparisonTable {
  const { interval, limit } = request;
  const buckets = histories.map(
    (points) => splitBuckets(groupIntoBuckets(points, interval), request).selected,
  );
  const page = cutPage(alignBuckets(buckets, countIndex), limit, ({ start }) =>
    encodeHistoryCursor(start, interval),
  );
  const { items, hasMore, nextCursor } = page;
  return { interval, rows: createComparisonRows(items), pagination: { hasMore, nextCursor } };
}

/**
 * Creates the rows of a comparison.
 *
 * @param rows From `alignBuckets()`.
 *
 * @example
 * createComparisonRows([{ start: 0, counts: [7] }]);
 * // [{ timestamp: "1970-01-01T00:00:00.000Z", values: [7] }]
 */
export function createComparisonRows(rows: readonly ComparisonRow[]): ComparisonTable["rows"] {
  return rows.map(({ start, counts }) => ({
    timestamp: formatInstant(start),
    values: [...counts],
  }));
}

/**
 * Creates a page of follower counts, newest first. The change of the oldest one compares with the
 * known count before the days that the request selects.
 *
 * @param username As the page shows it.
 * @param points All points of the user, in any order, as for `groupIntoBuckets()`.
 * @param now Milliseconds since 1970 UTC.
 * @throws {DomainError} `Page Out of Range`.
 *
 * @example
 * const points = [{ at: 5, counts: [7] }, { at: 6, counts: [9] }];
 * const page = createFollowersPage("nasa", points, { days: 3, page: 0, limit: 5 }, 7);
 * page.followers.USER.metrics.map(({ change }) => change); // [2, 0]
 */
export function createFollowersPage(
  username: string,
  points: Iterable<HistoryPoint>,
  { days, page, limit }: PageRequest,
  now: number,
): FollowersPage {
  const known = sortPoints(points).flatMap(({ at, counts: [followers] }): FollowerPoint[] =>
    typeof followers === "number" ? [{ at, followers }] : [],
  );
  const total = filterDays(known, ({ at }) => at, days, now).length;
  const pagination = paginate(page, limit, total);
  const start = page * limit;
  const size = Math.min(limit, total - start);
  const changes = computeFollowerChanges(known.toReversed().slice(start), size);
  const metrics = changes.map(({ at, followers, change }) => ({
    followers,
    change,
    timestamp: formatInstant(at),
  }));
  return { username, followers: { USER: { metrics } }, filter_days: days, pagination };
}
