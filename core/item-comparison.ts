/**
 * Compares one count of several shorts or tweets: by date, as channels are compared, or by the hours
 * since each was published.
 */
import { parseNames } from "./batch.ts";
import type { HistoryPoint } from "./buckets.ts";
import { cutPage, decodeCursor, encodeCursor } from "./cursor.ts";
import { createInvalidRequestError, quoteValue, type ErrorCode } from "./errors.ts";
import { parseHistoryRequest, type HistoryRequest } from "./histories.ts";
import { ENTITY_FIELDS, MAIN_COUNT_INDEXES, type CountName, type ItemKind } from "./kinds.ts";
import { COMPARISON_MAX_NAMES, HISTORY_LIMIT_RANGE } from "./limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import type { CursorPagination } from "./resources/generated/types.ts";
import { HOUR_MS } from "./time.ts";

/** What the rows of a comparison of items are. */
export const COMPARISON_ROWS = ["date", "age"] as const;

/** The hours of a row of a comparison by age. */
export const AGE_STEPS = ["1", "6", "24"] as const;

/** The items and the count of a comparison. */
export interface ComparedItems<Kind extends ItemKind> {
  /** The identifiers in the order of the request; one can be repeated. */
  readonly ids: readonly string[];
  /** The count that is compared. */
  readonly count: CountName<Kind>;
  /** The index of `count` among the counts of the kind. */
  readonly countIndex: number;
}

/** The query of a comparison by date: that of a history, with items and a count. */
export interface DateComparisonRequest<Kind extends ItemKind = ItemKind>
  extends HistoryRequest, ComparedItems<Kind> {
  /** That rows are dates. */
  readonly by: "date";
}

/** The rows of a comparison by age. */
export interface AgeRange {
  /** The hours of a row. */
  readonly step: number;
  /** The most rows of a page. */
  readonly limit: number;
  /** The hours of the last row of the previous page. */
  readonly after?: number;
}

/** The query of a comparison by hours since the publication. */
export interface AgeComparisonRequest<Kind extends ItemKind = ItemKind>
  extends AgeRange, ComparedItems<Kind> {
  /** That rows are hours since the publication. */
  readonly by: "age";
}

/** The query of a comparison of items. */
export type ItemComparisonRequest<Kind extends ItemKind = ItemKind> =
  | DateComparisonRequest<Kind>
  | AgeComparisonRequest<Kind>;

/** The parameters that only one kind of rows has. */
const OWN_PARAMETERS = { date: ["from", "to", "interval", "zone"], age: ["step"] } as const;

/**
 * Parses the query of a comparison of items: `ids` (1 to 10, separated by commas), `count`, `by`,
 * `limit` and `cursor`; by date also `from`, `to`, `interval` and `zone`, by age `step`.
 *
 * @param now Milliseconds since 1970 UTC.
 * @param limitError The code of the error for an invalid `limit`, which each API names differently.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const query = new URLSearchParams("ids=a,b&by=age&step=6");
 * const { ids, count, by } = parseItemComparisonRequest("short", query, 0);
 * [ids, count, by]; // [["a", "b"], "views", "age"]
 */
export function parseItemComparisonRequest<Kind extends ItemKind>(
  kind: Kind,
  query: QueryParameters,
  now: number,
  limitError?: ErrorCode,
): ItemComparisonRequest<Kind> {
  const ids = parseNames(kind, query, COMPARISON_MAX_NAMES);
  if (ids === undefined) {
    throw createInvalidRequestError(
      `ids must be 1 to ${COMPARISON_MAX_NAMES} names, separated by commas, got none`,
    );
  }
  const counts: readonly CountName<Kind>[] = ENTITY_FIELDS[kind].counts;
  const mainIndex: number = MAIN_COUNT_INDEXES[kind];
  const count = parseChoiceParameter(
    "count",
    query,
    counts,
    counts[mainIndex] ?? ENTITY_FIELDS[kind].counts[0],
  );
  const by = parseChoiceParameter("by", query, COMPARISON_ROWS, "date");
  const compared = { ids, count, countIndex: counts.indexOf(count) };
  const other = by === "date" ? "age" : "date";
  const wrong = OWN_PARAMETERS[other].find((name) => query.getAll(name).length > 0);
  if (wrong !== undefined) {
    throw createInvalidRequestError(
      `${wrong} must be used with by=${other}, got ${quoteValue(query.getAll(wrong)[0])}`,
    );
  }
  return by === "date"
    ? { ...parseHistoryRequest(query, now, limitError), ...compared, by }
    : { ...parseAgeRange(query, limitError), ...compared, by };
}

function parseAgeRange(query: QueryParameters, limitError?: ErrorCode): AgeRange {
  const limit = parseIntegerParameter("limit", query, HISTORY_LIMIT_RANGE, limitError);
  const step = Number(parseChoiceParameter("step", query, AGE_STEPS, AGE_STEPS[0]));
  const cursor = readSingleValue("cursor", query);
  return { limit, step, ...(cursor === undefined ? {} : { after: decodeAgeCursor(cursor, step) }) };
}

const createAgeList = (step: number) => ["age", step];

function decodeAgeCursor(cursor: string, step: number): number {
  const [hours] = decodeCursor(
    cursor,
    createAgeList(step),
    (values): values is readonly [number] =>
      typeof values[0] === "number" &&
      Number.isSafeInteger(values[0]) &&
      values[0] >= 0 &&
      values[0] % step === 0 &&
      values.length === 1,
    `a page of this comparison, with the same step (${step})`,
  );
  return hours;
}

/** The value of a count in a row of a comparison by age. */
export interface AgeValue {
  /** The hours since the publication at which the row begins. */
  readonly hours: number;
  /** The newest known value in the row. */
  readonly value: number;
}

/** The first hours of a page of rows. */
export const findFirstHours = ({ after, step }: AgeRange): number =>
  after === undefined ? 0 : after + step;

/**
 * Groups the known values of a count by hours since the publication. What was observed before the
 * publication, or before the page, is left out; nothing is interpolated.
 *
 * @param points Oldest first, no two at one instant.
 *
 * @example
 * const points = [{ at: 3_600_000, counts: [7] }, { at: 7_199_999, counts: [9] }];
 * listAgeValues(points, 0, 0, { step: 1, limit: 5 }); // [{ hours: 1, value: 9 }]
 */
export function listAgeValues(
  points: Iterable<HistoryPoint>,
  publishedAt: number,
  countIndex: number,
  range: AgeRange,
): AgeValue[] {
  const stepMs = range.step * HOUR_MS;
  const firstHours = findFirstHours(range);
  const values: AgeValue[] = [];
  for (const { at, counts } of points) {
    const value = counts[countIndex] ?? null;
    const hours = Math.floor((at - publishedAt) / stepMs) * range.step;
    if (value === null || hours < firstHours) continue;
    if (values.at(-1)?.hours === hours) values.pop();
    values.push({ hours, value });
  }
  return values;
}

/** A page of a comparison by age. */
export interface AgeTable {
  /** By ascending hours; a row without any value is not listed. */
  readonly rows: { hours: number; values: (number | null)[] }[];
  /** Whether there are more rows, and the cursor of the next page. */
  readonly pagination: CursorPagination;
}

/**
 * Creates a page of a comparison by hours since the publication.
 *
 * @param items The values of each item from `listAgeValues()`; none for one that is not found.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * createAgeTable([[{ hours: 1, value: 9 }], []], { step: 1, limit: 5 }).rows;
 * // [{ hours: 1, values: [9, null] }]
 */
export function createAgeTable(
  items: readonly (readonly AgeValue[])[],
  { step, limit }: AgeRange,
): AgeTable {
  const rows = new Map<number, (number | null)[]>();
  for (const [index, values] of items.entries()) {
    for (const { hours, value } of values) {
      let row = rows.get(hours);
      if (row === undefined) rows.set(hours, (row = items.map(() => null)));
      row[index] = value;
    }
  }
  const sorted = Array.from(rows, ([hours, values]) => ({ hours, values })).toSorted(
    (a, b) => a.hours - b.hours,
  );
  const { items: listed, ...pagination } = cutPage(sorted, limit, ({ hours }) =>
    encodeCursor(createAgeList(step), hours),
  );
  return { rows: [...listed], pagination };
}
