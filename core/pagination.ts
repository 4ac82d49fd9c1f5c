/** Pages by number: `/tweets` and `/followers`. */
import { DomainError } from "./errors.ts";
import { DAYS_FILTER, PAGE_NUMBER, PAGE_LIMIT } from "./limits.ts";
import { parseIntegerParameter, type GetQueryValues } from "./parameters.ts";
import type { Pagination } from "./schema/microblog.ts";

/** What a client asked of a listing: how far back, which page, how many items on it. */
export interface PageRequest {
  readonly days: number;
  readonly page: number;
  readonly limit: number;
}

/**
 * Reads `days`, `page` and `limit`.
 *
 * @throws {DomainError} `Invalid Pagination Parameters`, with the parameter and its value.
 *
 * @example
 * parsePageRequest((name) => (name === "page" ? ["2"] : [])); // { days: 3, page: 2, limit: 50 }
 */
export function parsePageRequest(getValues: GetQueryValues): PageRequest {
  const code = "Invalid Pagination Parameters";
  return {
    days: parseIntegerParameter("days", getValues("days"), DAYS_FILTER, code),
    page: parseIntegerParameter("page", getValues("page"), PAGE_NUMBER, code),
    limit: parseIntegerParameter("limit", getValues("limit"), PAGE_LIMIT, code),
  };
}

/**
 * Places a page in a listing.
 *
 * @param page The page's number, from 0.
 * @param limit Items a page holds.
 * @param total Items of the whole listing.
 * @returns The pagination object; the page's items begin at `page * limit`. Page 0 of an empty
 * listing is an empty page.
 * @throws {DomainError} `Page Out of Range` for any other page at or past `page_count`.
 *
 * @example
 * paginate(1, 50, 60); // { page: 1, limit: 50, total: 60, page_count: 2, has_more: false }
 */
export function paginate(page: number, limit: number, total: number): Pagination {
  const pageCount = Math.ceil(total / limit);
  if (page > 0 && page >= pageCount) {
    const [items, verb] = total === 1 ? ["1 item", "makes"] : [`${total} items`, "make"];
    const pages = pageCount === 1 ? "1 page" : `${pageCount} pages`;
    throw new DomainError(
      "Page Out of Range",
      `Page ${page} is out of range: ${items} at ${limit} a page ${verb} ${pages}, from 0`,
    );
  }
  return { page, limit, total, page_count: pageCount, has_more: page + 1 < pageCount };
}
