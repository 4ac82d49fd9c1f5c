/** Parses the query of histories, and creates pages of histories and comparisons from points. */
import {
  computeCountChanges,
  findBucketEnd,
  findBucketStart,
  findLastKnownCounts,
  groupIntoBuckets,
  HISTORY_INTERVALS,
  type HistoryBucket,
  type HistoryInterval,
  type HistoryPoint,
} from "./buckets.ts";
import { cutPage } from "./cursor.ts";
import { createInvalidRequestError, quoteValue, type ErrorCode } from "./errors.ts";
import { decodeHistoryCursor, encodeHistoryCursor } from "./history-cursors.ts";
import type { EntityCounts, EntityKind } from "./kinds.ts";
import { HISTORY_LIMIT_RANGE, type IntegerRange } from "./limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import type {
  ChannelComparison,
  ChannelHistory,
  CursorPagination,
} from "./resources/generated/types.ts";
import { nameCounts } from "./responses/entity-fields.ts";
import {
  DAY_MS,
  FIRST_INSTANT,
  formatInstant,
  LAST_INSTANT,
  parseInstantParameter,
} from "./time.ts";
import { parseZoneParameter } from "./zones.ts";

/** How many days a history goes back without `from`. */
export const HISTORY_DEFAULT_DAYS = 30;

/** The query of a history. All instants are milliseconds since 1970 UTC. */
export interface HistoryRequest {
  /** The first instant. Its whole bucket is included. */
  readonly from: number;
  /** The excluded end. The whole bucket of the instant before it is included. */
  readonly to: number;
  /** How the points are grouped. */
  readonly interval: HistoryInterval;
  /** The time zone of the buckets, by its IANA name; UTC without it. */
  readonly zone?: string;
  /** The most buckets of a page. */
  readonly limit: number;
  /** The start of the last bucket of the previous page. */
  readonly after?: number;
}

/**
 * Parses `from`, `to`, `interval`, `zone`, `limit` and `cursor`. Without `to`, the history goes to
 * its newest point; without `from`, it starts 30 days before `to` or `now`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param limitError The code of the error for an invalid `limit`, which each API names differently.
 * @param limitRange The allowed `limit`, in buckets; by default the range of this service.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const query = new URLSearchParams("from=2026-01-01&interval=week");
 * const request = parseHistoryRequest(query, Date.UTC(2026, 10, 20));
 * request.interval; // "week"
 */
export function parseHistoryRequest(
  query: QueryParameters,
  now: number,
  limitError?: ErrorCode,
  limitRange: IntegerRange = HISTORY_LIMIT_RANGE,
): HistoryRequest {
  const limit = parseIntegerParameter("limit", query, limitRange, limitError);
  const fromText = readSingleValue("from", query);
  const toText = readSingleValue("to", query);
  const to = toText === undefined ? undefined : parseInstantParameter("to", toText);
  const from =
    fromText === undefined
      ? Math.max(FIRST_INSTANT, (to ?? now) - HISTORY_DEFAULT_DAYS * DAY_MS)
      : parseInstantParameter("from", fromText);
  const end = to ?? LAST_INSTANT + 1;
  if (from >= end) {
    throw createInvalidRequestError(
      `from must be before to, got from ${quoteValue(fromText ?? "")} and to ${quoteValue(toText)}`,
    );
  }
  const interval = parseChoiceParameter("interval", query, HISTORY_INTERVALS, "day");
  const zone = parseZoneParameter(query);
  const cursor = readSingleValue("cursor", query);
  const after = cursor === undefined ? {} : { after: decodeHistoryCursor(cursor, interval, zone) };
  return { from, to: end, ...createGroupingFields({ interval, zone }), limit, ...after };
}

/**
 * Finds the range of the buckets of a page and all later pages: `from` to `to`, and past `after`.
 *
 * @returns The start of the first bucket, and the excluded end of the last, in milliseconds since
 * 1970.
 *
 * @example
 * const request = { from: 5, to: 6, interval: "day", limit: 5 };
 * findBucketRange(request); // { start: 0, end: 86_400_000 }
 */
export function findBucketRange({ from, to, after, interval, zone }: HistoryRequest): {
  readonly start: number;
  readonly end: number;
} {
  const findStart = (at: number) => findBucketStart(at, interval, zone);
  const findEnd = (at: number) => findBucketEnd(findStart(at), interval, zone);
  const first = findStart(Math.max(from, FIRST_INSTANT));
  return {
    start: after === undefined ? first : Math.max(first, findEnd(after)),
    // If `to` is not after `from`, the range is empty.
    end: from < to ? findEnd(Math.min(to - 1, LAST_INSTANT)) : first,
  };
}

/**
 * Cuts a page off the beginning of a list of buckets or rows.
 *
 * @param buckets Oldest first; one more than `limit` is enough to see that there is a next page.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const buckets = [{ start: 0 }, { start: 86_400_000 }];
 * cutHistoryPage(buckets, { interval: "day", limit: 1 }).pagination.hasMore; // true
 */
export function cutHistoryPage<Bucket extends { readonly start: number }>(
  buckets: readonly Bucket[],
  { interval, zone, limit }: Pick<HistoryRequest, "interval" | "zone" | "limit">,
): { readonly items: readonly Bucket[]; readonly pagination: CursorPagination } {
  const { items, ...pagination } = cutPage(buckets, limit, ({ start }) =>
    encodeHistoryCursor(start, interval, zone),
  );
  return { items, pagination };
}

/** Creates the fields of a page that say how its points are grouped: `zone` only if it was given. */
export function createGroupingFields({
  interval,
  zone,
}: {
  readonly interval: HistoryInterval;
  readonly zone?: string | undefined;
}): Pick<HistoryRequest, "interval" | "zone"> {
  return zone === undefined ? { interval } : { interval, zone };
}

/** A bucket of a history, with the newest known value of each count. */
export type HistoryItem<Counts> = Counts &
  Pick<ChannelHistory["history"][number], "timestamp" | "observedAt"> & {
    /** Differences from the last known counts before the bucket; `null` if either is unknown. */
    change: Counts;
  };

/** A page of a history, oldest first. A bucket without an observation is not listed. */
export interface HistoryPage<Counts> extends Pick<
  ChannelHistory,
  "interval" | "zone" | "pagination"
> {
  /** The buckets. */
  history: HistoryItem<Counts>[];
}

/** The rows of a comparison, oldest first. A bucket without any observation is not listed. */
export type ComparisonTable = Pick<ChannelComparison, "interval" | "zone" | "rows" | "pagination">;

/** Creates the items of a history from its buckets and the result of `computeCountChanges()`. */
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
 * Creates a page of a history. Its first changes compare with earlier values, even before `from`.
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
  const { earlier, selected } = splitBuckets(points, request);
  const { items, pagination } = cutHistoryPage(selected, request);
  const changes = computeCountChanges(items, findLastKnownCounts(earlier));
  return {
    ...createGroupingFields(request),
    history: createHistoryItems(kind, items, changes),
    pagination,
  };
}

/** Groups points into buckets, and splits these: before a page, and of it and all later pages. */
function splitBuckets(points: Iterable<HistoryPoint>, request: HistoryRequest) {
  const { start: first, end } = findBucketRange(request);
  const buckets = groupIntoBuckets(points, request.interval, request.zone).filter(
    ({ start }) => start < end,
  );
  const earlier = buckets.filter(({ start }) => start < first);
  return { earlier, selected: buckets.slice(earlier.length) };
}

/**
 * Creates a page of a comparison of one count.
 *
 * @param histories The points of each entity, in any order; none for an entity that is not found.
 * @param countIndex The index of the count in the points.
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
  const buckets = histories.map((points) => splitBuckets(points, request).selected);
  const { rows, pagination } = createComparisonPage(buckets, countIndex, request);
  return { ...createGroupingFields(request), rows, pagination };
}

/** Creates a page of a comparison from the buckets of each entity; `first` is its first row. */
export function createComparisonPage(
  histories: readonly (readonly HistoryBucket[])[],
  countIndex: number,
  request: HistoryRequest,
): Omit<ComparisonTable, "interval" | "zone"> & {
  readonly first: { readonly start: number } | undefined;
} {
  const { items, pagination } = cutHistoryPage(alignBuckets(histories, countIndex), request);
  const rows = items.map(({ start, counts }) => {
    return { timestamp: formatInstant(start), values: [...counts] };
  });
  return { rows, pagination, first: items[0] };
}

/** Aligns one count of several histories: a row for each bucket that any has, oldest first. */
function alignBuckets(
  histories: readonly (readonly HistoryBucket[])[],
  countIndex: number,
): { readonly start: number; readonly counts: readonly (number | null)[] }[] {
  const rows = new Map<number, (number | null)[]>();
  for (const [entity, buckets] of histories.entries()) {
    for (const { start, counts } of buckets) {
      let row = rows.get(start);
      if (row === undefined) rows.set(start, (row = histories.map(() => null)));
      row[entity] = counts[countIndex] ?? null;
    }
  }
  return Array.from(rows, ([start, counts]) => ({ start, counts })).toSorted(
    (a, b) => a.start - b.start,
  );
}
