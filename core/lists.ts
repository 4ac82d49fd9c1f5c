/** The lists of channels and users: their queries, their orders and the cursors of their pages. */
import { decodePosition, encodePosition, type CursorValue } from "./cursor-text.ts";
import { KINDS, type OwnerKind } from "./kinds.ts";
import type { ErrorCode } from "./error-statuses.ts";
import { createInvalidRequestError, quoteValue } from "./errors.ts";
import { GAIN_DEFINITIONS, type GainName } from "./growth.ts";
import { LIST_LIMIT_RANGE, SEARCH_MAX_CHARACTERS, type IntegerRange } from "./limits.ts";
import {
  parseChoiceParameter,
  parseIntegerParameter,
  readSingleValue,
  type QueryParameters,
} from "./parameters.ts";
import { compareText, foldAsciiCase, foldCase, isLongerThan, isStorable } from "./text.ts";

/** The figures that lists of a kind can be sorted by. */
export type SortName<Kind extends OwnerKind> =
  | (keyof (typeof KINDS)[Kind]["sorts"] & string)
  | GainName<Kind>;

/** The figure that a list of channels is sorted by. */
export type ChannelSort = SortName<"channel">;
/** The figure that a list of users is sorted by. */
export type UserSort = SortName<"user">;

/** The field of a channel that each sort compares. */
export const CHANNEL_SORT_FIELDS: Readonly<Record<ChannelSort, string>> =
  createSortFields("channel");

/** The field of a user that each sort compares. */
export const USER_SORT_FIELDS: Readonly<Record<UserSort, string>> = createSortFields("user");

function createSortFields<Kind extends OwnerKind>(kind: Kind): Record<SortName<Kind>, string> {
  const gains = Object.keys(GAIN_DEFINITIONS[kind]).map((name) => [name, name]);
  // `Object.fromEntries()` does not know the names.
  return { ...KINDS[kind].sorts, ...Object.fromEntries(gains) } as Record<SortName<Kind>, string>;
}

/** The figures that lists of channels can be sorted by; the first is the default. */
export const CHANNEL_SORTS: readonly [ChannelSort, ...ChannelSort[]] =
  listSorts(CHANNEL_SORT_FIELDS);

/** The figures that lists of users can be sorted by; the first is the default. */
export const USER_SORTS: readonly [UserSort, ...UserSort[]] = listSorts(USER_SORT_FIELDS);

function listSorts<Sort extends string>(fields: Readonly<Record<Sort, string>>) {
  // `Object.keys()` knows neither the names nor that there is one.
  return Object.keys(fields) as [Sort, ...Sort[]];
}

/** `desc` lists the greatest first; unknown figures come last in both, and identifiers ascend. */
export const LIST_ORDERS = ["desc", "asc"] as const;

/** An order of a list. */
export type ListOrder = (typeof LIST_ORDERS)[number];

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
  /** Whether the greatest come first. */
  readonly order: ListOrder;
  /** The most entities of a page. */
  readonly limit: number;
  /** Only entities whose username or display name contains this text, in lower case. */
  readonly search?: string;
  /** Only channels of this country, regardless of case; lists of users have no such filter. */
  readonly country?: string;
  /** Only entities after this position. */
  readonly after?: ListPosition;
}

/** A search for so many characters finds them anywhere; a shorter one at the start of usernames. */
export const SEARCH_SUBSTRING_MIN_CHARACTERS = 3;

/** The figures that the list of each kind can be sorted by; the first is the default. */
const SORTS: { readonly [Kind in OwnerKind]: readonly [SortName<Kind>, ...SortName<Kind>[]] } = {
  channel: CHANNEL_SORTS,
  user: USER_SORTS,
};

/**
 * Parses `limit`, `cursor`, `sort`, `order`, `search` and, of kinds that have one, `country`.
 *
 * @param limitError The code of the error for `limit`: the interfaces name it differently.
 * @param limitRange The sizes of a page; of this service by default.
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
  const hasCountry = "country" in KINDS[kind].attributes;
  const limit = parseIntegerParameter("limit", query, limitRange, limitError);
  const sort = parseChoiceParameter("sort", query, sorts, sorts[0]);
  const order = parseChoiceParameter("order", query, LIST_ORDERS, LIST_ORDERS[0]);
  const country = hasCountry ? parseFilter("country", query, foldAsciiCase) : undefined;
  const search = parseFilter("search", query, foldCase);
  const cursor = readSingleValue("cursor", query);
  const list = {
    kind,
    sort,
    order,
    ...(country === undefined ? {} : { country }),
    ...(search === undefined ? {} : { search }),
  };
  const after = cursor === undefined ? {} : { after: decodeListCursor(cursor, list) };
  return { ...list, limit, ...after };
}

function parseFilter(
  name: string,
  query: QueryParameters,
  fold: (text: string) => string,
): string | undefined {
  const text = readSingleValue(name, query);
  if (text === undefined) return undefined;
  if (text === "" || isLongerThan(text, SEARCH_MAX_CHARACTERS) || !isStorable(text)) {
    throw createInvalidRequestError(
      `${name} must have 1 to ${SEARCH_MAX_CHARACTERS} characters, got ${quoteValue(text)}`,
    );
  }
  return fold(text);
}

/**
 * Compares two positions of a list: by the figure, unknown ones last, then by the identifier, which
 * ascends in both orders.
 *
 * @example
 * compareListPositions({ figure: 2, id: "a" }, { figure: 1, id: "b" }, "desc"); // -1
 */
export function compareListPositions(a: ListPosition, b: ListPosition, order: ListOrder): number {
  if (a.figure === null && b.figure !== null) return 1;
  if (a.figure !== null && b.figure === null) return -1;
  const ascending = (a.figure ?? 0) - (b.figure ?? 0);
  return (order === "asc" ? ascending : -ascending) || compareText(a.id, b.id);
}

/** The list that a cursor belongs to: a position means nothing in another one. */
export type CursorList = Pick<ListRequest, "kind" | "sort" | "order" | "country" | "search">;

const listCursorValues = ({ kind, sort, order, country, search }: CursorList): CursorValue[] => [
  kind,
  sort,
  order,
  country ?? null,
  search ?? null,
];

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
export function encodeListCursor({ figure, id }: ListPosition, list: CursorList): string {
  return encodePosition(listCursorValues(list), { number: figure, id });
}

/**
 * Decodes a cursor of {@link encodeListCursor}.
 *
 * @throws {DomainError} `Invalid Request` for any other text, and for the cursor of another list.
 *
 * @example
 * const request = { kind: "channel", sort: "views", order: "desc" };
 * const cursor = encodeListCursor({ figure: 36, id: "a" }, request);
 * decodeListCursor(cursor, request); // { figure: 36, id: "a" }
 */
export function decodeListCursor(cursor: string, list: CursorList): ListPosition {
  const position = decodePosition(listCursorValues(list), cursor);
  if (position === undefined) {
    throw createInvalidRequestError(
      "cursor must be the nextCursor of a page with the same sort, order and filters, " +
        `got ${quoteValue(cursor)}`,
    );
  }
  return { figure: position.number, id: position.id };
}
