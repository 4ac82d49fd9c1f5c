/** The lists of channels and users: their queries, filters, orders and cursors. */
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { createInvalidRequestError, quoteValue, type ErrorCode } from "./errors.ts";
import { GAIN_DEFINITIONS, type GainName } from "./growth.ts";
import { KINDS, type OwnerKind } from "./kinds.ts";
import { LIST_LIMIT_RANGE, SEARCH_MAX_CHARACTERS, type IntegerRange } from "./limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import { compareText, foldCase, isLongerThan, isStorable } from "./text.ts";

/** The figures that lists of a kind can be sorted by. */
export type SortName<Kind extends OwnerKind> = {
  [Name in Kind]: (keyof (typeof KINDS)[Name]["sorts"] & string) | GainName<Name>;
}[Kind];

/** The field of an entity that each sort of its kind compares. */
export const SORT_FIELDS: {
  readonly [Kind in OwnerKind]: Readonly<Record<SortName<Kind>, string>>;
} = { channel: createSortFields("channel"), user: createSortFields("user") };

function createSortFields<Kind extends OwnerKind>(kind: Kind): Record<SortName<Kind>, string> {
  const gains = Object.keys(GAIN_DEFINITIONS[kind]).map((name) => [name, name]);
  // `Object.fromEntries()` does not know the names.
  return { ...KINDS[kind].sorts, ...Object.fromEntries(gains) } as Record<SortName<Kind>, string>;
}

/** The figures that the list of each kind can be sorted by; the first is the default. */
export const SORTS: {
  readonly [Kind in OwnerKind]: readonly [SortName<Kind>, ...SortName<Kind>[]];
} = { channel: listSorts("channel"), user: listSorts("user") };

function listSorts<Kind extends OwnerKind>(kind: Kind) {
  // `Object.keys()` knows neither the names nor that there is one.
  return Object.keys(SORT_FIELDS[kind]) as [SortName<Kind>, ...SortName<Kind>[]];
}

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
export interface ListRequest<Sort extends string = string> {
  /** The kind of the listed owners. */
  readonly kind: OwnerKind;
  /** The figure that the list is sorted by. */
  readonly sort: Sort;
  /** Whether the greatest figures come first. */
  readonly order: (typeof LIST_ORDERS)[number];
  /** The most entities of a page. */
  readonly limit: number;
  /** Only entities whose username or display name contains this text, in lower case. */
  readonly search?: string;
  /** Only channels of this country, regardless of case; lists of users have no such filter. */
  readonly country?: string;
  /** Only entities after this position. */
  readonly after?: ListPosition;
}

/** The fields of a request that are filters. */
export type ListFilters = Omit<ListRequest, "kind" | "sort" | "order" | "limit" | "after">;

/**
 * Parses `limit`, `cursor`, `sort`, `order`, `search` and, for a kind with countries, `country`.
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
export function parseListRequest<Kind extends OwnerKind>(
  kind: Kind,
  query: QueryParameters,
  limitError?: ErrorCode,
  limitRange: IntegerRange = LIST_LIMIT_RANGE,
): ListRequest<SortName<Kind>> {
  const sorts = SORTS[kind];
  const limit = parseIntegerParameter("limit", query, limitRange, limitError);
  const sort = parseChoiceParameter("sort", query, sorts, sorts[0]);
  const order = parseChoiceParameter("order", query, LIST_ORDERS, LIST_ORDERS[0]);
  const list = { kind, sort, order, ...parseFilters(query, kind) };
  const cursor = readSingleValue("cursor", query);
  const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, list) };
  return { ...list, limit, ...after };
}

/** Folds the letters A to Z alone, as the database does for countries. */
function foldAsciiCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function parseFilter(name: string, query: QueryParameters, fold: (text: string) => string) {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  if (text === "" || isLongerThan(text, SEARCH_MAX_CHARACTERS) || !isStorable(text)) {
    throw createInvalidRequestError(
      `${name} must have 1 to ${SEARCH_MAX_CHARACTERS} characters, got ${quoteValue(text)}`,
    );
  }
  return fold(text);
}

/** A search text of this length is found anywhere; a shorter text, at the start of usernames. */
export const SEARCH_SUBSTRING_MIN_CHARACTERS = 3;

/** The fields that the filters of a list compare; `null` is unknown. */
interface FilteredFields {
  readonly username: string | null;
  readonly displayName: string | null;
  readonly country?: string | null;
}

/** How each filter is parsed and applied; types require both. Cursors use this filter order. */
const FILTERS: {
  readonly [Name in keyof ListFilters]-?: {
    /** Returns `undefined` for a query or a kind without the filter. */
    readonly parse: (query: QueryParameters, kind: OwnerKind) => ListFilters[Name] | undefined;
    readonly matches: (fields: FilteredFields, filters: ListFilters) => boolean;
  };
} = {
  country: {
    parse: (query, kind) =>
      "country" in KINDS[kind].attributes
        ? parseFilter("country", query, foldAsciiCase)
        : undefined,
    matches: (fields, { country }) =>
      country === undefined || foldAsciiCase(fields.country ?? "") === country,
  },

  search: {
    parse: (query) => parseFilter("search", query, foldCase),
    matches(fields, { search }) {
      if (search === undefined) return true;
      const username = foldCase(fields.username ?? "");
      return Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS
        ? username.startsWith(search)
        : username.includes(search) || foldCase(fields.displayName ?? "").includes(search);
    },
  },
};

// `Object.keys()` and `Object.fromEntries()` do not know the names.

const FILTER_NAMES = Object.keys(FILTERS) as (keyof ListFilters)[];

function parseFilters(query: QueryParameters, kind: OwnerKind): ListFilters {
  const filters = FILTER_NAMES.map((name) => [name, FILTERS[name].parse(query, kind)] as const);
  return Object.fromEntries(filters.filter(([, value]) => value !== undefined)) as ListFilters;
}

/** Whether the filters of a list show an entity with these fields. */
export function matchesListFilters(fields: FilteredFields, filters: ListFilters): boolean {
  return FILTER_NAMES.every((name) => FILTERS[name].matches(fields, filters));
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
 * @throws {RangeError} For a figure that is no whole number, and for a text that is no identifier.
 *
 * @example
 * const request = { kind: "channel", sort: "views", order: "desc" };
 * const cursor = encodeListCursor({ figure: 36, id: "a" }, request);
 * cursor; // "WyJjaGFubmVsIiwidmlld3MiLCJkZXNjIixudWxsLG51bGwsMzYsImEiXQ"
 */
export function encodeListCursor(
  { figure, id }: ListPosition,
  list: Omit<ListRequest, "limit" | "after">,
): string {
  return encodeCursor(listCursorValues(list), figure, id);
}

type CursorList = Parameters<typeof encodeListCursor>[1];

const listCursorValues = ({ kind, sort, order, ...filters }: CursorList) => [
  kind,
  sort,
  order,
  ...FILTER_NAMES.map((name) => filters[name] ?? null),
];

function decodeListCursor(cursor: string, list: CursorList): ListPosition {
  const page = "a page with the same sort, order and filters";
  const [figure, id] = decodeCursor(cursor, listCursorValues(list), isListPosition, page);
  return { figure, id };
}

function isListPosition(
  values: readonly (string | number | null)[],
): values is readonly [number | null, string] {
  const [figure, id] = values;
  return typeof figure !== "string" && typeof id === "string" && values.length === 2;
}
