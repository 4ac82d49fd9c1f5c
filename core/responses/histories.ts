/** Creates pages of histories and comparisons from points. */
import {
  alignBuckets,
  groupIntoBuckets,
  computeCountChanges,
  findLastKnownCounts,
  type HistoryBucket,
  type HistoryPoint,
} from "../buckets.ts";
import { cutPage } from "../cursor.ts";
import type { EntityCounts, EntityKind } from "../kinds.ts";
import { encodeHistoryCursor, findBucketRange, type HistoryRequest } from "../history-request.ts";
import { formatInstant } from "../time.ts";
import { nameCounts } from "./entity-fields.ts";
import type { ChannelComparison, ChannelHistory } from "../resources/generated/types.ts";

/** A bucket of a history, with the newest known value of each count. */
export type HistoryItem<Counts> = Counts &
  Pick<ChannelHistory["history"][number], "timestamp" | "observedAt"> & {
    /** Differences from the last known counts before the bucket; `null` if either is unknown. */
    change: Counts;
  };

/** A page of a history, oldest first. A bucket without an observation is not listed. */
export interface HistoryPage<Counts> extends Pick<ChannelHistory, "interval" | "pagination"> {
  /** The buckets. */
  history: HistoryItem<Counts>[];
}

/** The rows of a comparison, oldest first. A bucket without any observation is not listed. */
export type ComparisonTable = Pick<ChannelComparison, "interval" | "rows" | "pagination">;

/** Creates the items of a history from its buckets, and their changes by `computeCountChanges()`. */
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

/**
 * Creates a page of a history. The first changes compare with values before it, also before `from`.
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
 * @param histories The points of each entity, in any order; none for one that is not found.
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

/** Creates the rows of a comparison from aligned buckets. */
export function createComparisonRows(
  rows: Readonly<ReturnType<typeof alignBuckets>>,
): ComparisonTable["rows"] {
  return rows.map(({ start, counts }) => ({
    timestamp: formatInstant(start),
    values: [...counts],
  }));
}
