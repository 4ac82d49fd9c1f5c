/** Cuts a list of channels or users into pages: filters, sorts and cuts entities in memory. */
import { cutPage, type CursorPage } from "./cursor.ts";
import {
  compareListPositions,
  encodeListCursor,
  SEARCH_SUBSTRING_MIN_CHARACTERS,
  type ListPosition,
  type ListRequest,
} from "./lists.ts";
import { foldAsciiCase, foldCase } from "./text.ts";

/** The fields that the filters of a list compare; `null` is unknown. */
export interface ListFilterFields {
  /** Username without the @ symbol. */
  readonly username: string | null;
  /** Name for people. */
  readonly displayName: string | null;
  /** A country code. */
  readonly country?: string | null;
}

/**
 * Whether a list shows an entity: its country is the requested one, and its username or display name
 * contains the search. A search for less than 3 characters finds the beginnings of usernames.
 *
 * @example
 * const names = { username: "nasa_moon", displayName: null };
 * matchesListFilters(names, { search: "moon" }); // true
 */
export function matchesListFilters(
  { username, displayName, country }: ListFilterFields,
  request: Pick<ListRequest, "country" | "search">,
): boolean {
  const isOfCountry = typeof country === "string" && foldAsciiCase(country) === request.country;
  if (request.country !== undefined && !isOfCountry) return false;
  const { search } = request;
  if (search === undefined) return true;
  const folded = foldCase(username ?? "");
  return Array.from(search).length < SEARCH_SUBSTRING_MIN_CHARACTERS
    ? folded.startsWith(search)
    : folded.includes(search) || foldCase(displayName ?? "").includes(search);
}

/**
 * Cuts the page that a request selects.
 *
 * @param items All entities that {@link matchesListFilters}, in any order.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const request = parseListRequest("channel", new URLSearchParams());
 * const items = [{ id: "a", figure: 1 }, { id: "b", figure: 2 }];
 * cutListPage(items, request).items.map(({ id }) => id); // ["b", "a"]
 */
export function cutListPage<Item extends ListPosition>(
  items: Iterable<Item>,
  request: ListRequest,
): CursorPage<Item> {
  const { order, limit, after } = request;
  const selected = Array.from(items)
    .filter((item) => after === undefined || compareListPositions(after, item, order) < 0)
    .toSorted((a, b) => compareListPositions(a, b, order));
  return cutPage(selected, limit, (last) => encodeListCursor(last, request));
}
