/** The lists of entities: their queries, filters, orders and cursors. */
import { ITEM_DEFAULT_COLUMNS, parseFields } from "./columns.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { createInvalidRequestError, quoteValue, type ErrorCode } from "./errors.ts";
import type { EntityKind, ItemKind } from "./kinds.ts";
import { LIST_LIMIT_RANGE, TABLE_LIMIT_MAX, type IntegerRange } from "./limits.ts";
import { encodeFilters, parseFilters, type ListFilters } from "./list-filters.ts";
import { SORT_FIELDS, SORTS, type SortName } from "./list-sorts.ts";
import { METRICS } from "./metrics/catalog.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import { compareText } from "./text.ts";
import { formatInstant } from "./time.ts";

/** `desc` lists greatest first. In both orders, unknown figures are last, identifiers ascend. */
export const LIST_ORDERS = ["desc", "asc"] as const;

/** The position of an entity in a list. */
export interface ListPosition {
  /** The figure that the list is sorted by; `null` is unknown. */
  readonly figure: number | null;
  /** The identifier of the entity. */
  readonly id: string;
}

/** The query of a page of a list. */
export interface ListRequest<Sort extends string = string> extends ListFilters {
  /** The kind of the listed entities. */
  readonly kind: EntityKind;
  /** The figure that the list is sorted by. */
  readonly sort: Sort;
  /** Whether the greatest figures come first. */
  readonly order: (typeof LIST_ORDERS)[number];
  /** The most entities of a page. */
  readonly limit: number;
  /** The columns of a row, in its order; without them, a row is a summary. */
  readonly fields?: readonly string[];
  /** Only entities after this position. */
  readonly after?: ListPosition;
}

/** The query of a page of rows with chosen columns. */
export type TableRequest<Sort extends string = string> = ListRequest<Sort> & {
  readonly fields: readonly string[];
};

/**
 * Parses `limit`, `cursor`, `sort`, `order`, `fields` and the filters of the kind.
 *
 * @param limitError The code of the error for an invalid `limit`, which each API names differently.
 * @param limitRange The allowed `limit`; by default the range of this service.
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const query = new URLSearchParams("sort=followers&limit=10");
 * parseListRequest("user", query);
 * // { kind: "user", sort: "followers", order: "desc", limit: 10 }
 */
export function parseListRequest<Kind extends EntityKind>(
  kind: Kind,
  query: QueryParameters,
  limitError?: ErrorCode,
  limitRange: IntegerRange = LIST_LIMIT_RANGE,
): ListRequest<SortName<Kind>> {
  const sorts = SORTS[kind];
  const fields = parseFields(kind, query);
  const range = fields === undefined ? limitRange : capRange(limitRange, TABLE_LIMIT_MAX);
  const limit = parseIntegerParameter("limit", query, range, limitError);
  const sort = parseChoiceParameter("sort", query, sorts, sorts[0]);
  const order = parseChoiceParameter("order", query, LIST_ORDERS, LIST_ORDERS[0]);
  const list = { kind, sort, order, ...parseFilters(query, kind) };
  if (list.from !== undefined && list.to !== undefined && list.from >= list.to) {
    const [from, to] = [list.from, list.to].map(formatInstant);
    throw createInvalidRequestError(`from must be before to, got from ${from} and to ${to}`);
  }
  const cursor = readSingleValue("cursor", query);
  const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, list) };
  return { ...list, limit, ...(fields && { fields }), ...after };
}

const capRange = (range: IntegerRange, max: number): IntegerRange => ({
  ...range,
  max: Math.min(range.max, max),
  default: Math.min(range.default, max),
});

/**
 * Parses the query of a list of items, like {@link parseListRequest}. Without `fields`, a row has the
 * usual columns and the figure that the list is sorted by.
 *
 * @throws {DomainError} `Invalid Request`, with the parameter, its value and what is allowed.
 *
 * @example
 * const request = parseItemListRequest("short", new URLSearchParams("sort=ageMultiple&from=2026-01-01"));
 * request.fields.at(-1); // "ageMultiple"
 */
export function parseItemListRequest<Kind extends ItemKind>(
  kind: Kind,
  query: QueryParameters,
  limitError?: ErrorCode,
): TableRequest<SortName<Kind>> {
  const range = capRange(LIST_LIMIT_RANGE, TABLE_LIMIT_MAX);
  const request = parseListRequest(kind, query, limitError, range);
  const usual = [...ITEM_DEFAULT_COLUMNS[kind], SORT_FIELDS[kind][request.sort]];
  return { ...request, fields: request.fields ?? [...new Set(usual)] };
}

/**
 * Compares two positions of a list: by the figure, unknown ones last, then by ascending identifier.
 *
 * @example
 * compareListPositions({ figure: 2, id: "a" }, { figure: 1, id: "b" }, "desc"); // -1
 */
export function compareListPositions(
  a: ListPosition,
  b: ListPosition,
  order: ListRequest["order"],
): number {
  if (a.figure === null && b.figure !== null) return 1;
  if (a.figure !== null && b.figure === null) return -1;
  const ascending = (a.figure ?? 0) - (b.figure ?? 0);
  return (order === "asc" ? ascending : -ascending) || compareText(a.id, b.id);
}

/**
 * Encodes the position of the last entity of a page as a cursor: opaque to clients, safe in a URL.
 *
 * @throws {RangeError} For a figure that the sort cannot have, and for a text that is no identifier.
 *
 * @example
 * const request = { kind: "channel", sort: "views", order: "desc" };
 * const cursor = encodeListCursor({ figure: 36, id: "a" }, request);
 * cursor; // "WyJjaGFubmVsIiwidmlld3MiLCJkZXNjIixudWxsLG51bGwsbnVsbCxudWxsLDM2LCJhIl0"
 */
export function encodeListCursor(
  { figure, id }: ListPosition,
  list: Omit<ListRequest, "limit" | "fields" | "after">,
): string {
  if (!isFigure(figure, list)) {
    throw new RangeError(`A cursor needs a whole number, got ${quoteValue(figure)}`);
  }
  return encodeCursor(listCursorValues(list), figure, id);
}

/** Whether a list can be sorted by a figure: counts and gains are whole numbers. */
function isFigure(figure: unknown, { kind, sort }: Pick<ListRequest, "kind" | "sort">): boolean {
  const { unit = "count" } = METRICS[kind][sort] ?? {};
  return figure === null || (unit === "count" ? Number.isSafeInteger : Number.isFinite)(figure);
}

type CursorList = Parameters<typeof encodeListCursor>[1];

const listCursorValues = ({ kind, sort, order, ...filters }: CursorList) => [
  kind,
  sort,
  order,
  ...encodeFilters(kind, filters),
];

function decodeListCursor(cursor: string, list: CursorList): ListPosition {
  const page = "a page with the same sort, order and filters";
  const [figure, id] = decodeCursor(
    cursor,
    listCursorValues(list),
    (values): values is readonly [number | null, string] =>
      isFigure(values[0], list) && typeof values[1] === "string" && values.length === 2,
    page,
  );
  return { figure, id };
}
