/** Numbered pages of `/tweets` and `/followers`: their query, and the filter for recent days. */
import { assertWholeNumber, DomainError } from "./errors.ts";
import type { TimeRange } from "./growth.ts";
import {
  DAYS_FILTER_RANGE,
  PAGE_LIMIT_RANGE,
  PAGE_NUMBER_RANGE,
  type IntegerRange,
} from "./limits.ts";
import { parseIntegerParameter, type QueryParameters } from "./parameters.ts";
import type { Pagination } from "./resources/generated/types.ts";
import { DAY_MS } from "./time.ts";

/** The query of a numbered page. */
export interface PageRequest {
  /** How many days back. */
  readonly days: number;
  /** The number of the page, from 0. */
  readonly page: number;
  /** The most items of a page. */
  readonly limit: number;
}

/**
 * Parses `days`, `page` and `limit`.
 *
 * @param daysRange The allowed `days`; by default the range of this service.
 * @param limitRange The allowed `limit`; by default the range of this service.
 * @throws {DomainError} `Invalid Pagination Parameters`, with the parameter and its value.
 *
 * @example
 * const query = new URLSearchParams("page=2");
 * parsePageRequest(query); // { days: 3, page: 2, limit: 50 }
 * parsePageRequest(query, { min: 1, max: 90, default: 30 }).days; // 30
 */
export function parsePageRequest(
  query: QueryParameters,
  daysRange: IntegerRange = DAYS_FILTER_RANGE,
  limitRange: IntegerRange = PAGE_LIMIT_RANGE,
): PageRequest {
  const code = "Invalid Pagination Parameters";
  return {
    days: parseIntegerParameter("days", query, daysRange, code),
    page: parseIntegerParameter("page", query, PAGE_NUMBER_RANGE, code),
    limit: parseIntegerParameter("limit", query, limitRange, code),
  };
}

/**
 * Creates the pagination object of a page. Its items begin at index `page * limit`.
 *
 * @param page From 0. Page 0 of an empty listing is an empty page.
 * @param limit The most items of a page.
 * @param total Items of the whole listing.
 * @throws {DomainError} `Page Out of Range` for any other page at or after `page_count`.
 * @throws {RangeError} Unless all are whole numbers: `page` and `total` from 0, `limit` from 1.
 *
 * @example
 * paginate(1, 50, 60); // { page: 1, limit: 50, total: 60, page_count: 2, has_more: false }
 */
export function paginate(page: number, limit: number, total: number): Pagination {
  assertWholeNumber("page", page, 0);
  assertWholeNumber("limit", limit, 1);
  assertWholeNumber("total", total, 0);
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

/** The first instant of the last `days` days. The filter has no upper bound. */
export function computeDaysFilterStart(days: number, now: number): number {
  return now - days * DAY_MS;
}

/**
 * Keeps the items of the last days, in their order.
 *
 * @param instantOf Returns the instant of an item, in milliseconds since 1970 UTC.
 * @param days How many days back.
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * filterDays([Date.UTC(2026, 10, 19), 0], (at) => at, 3, Date.UTC(2026, 10, 20)).length; // 1
 */
export function filterDays<Item>(
  items: readonly Item[],
  instantOf: (item: Item) => number,
  days: number,
  now: number,
): Item[] {
  const start = computeDaysFilterStart(days, now);
  return items.filter((item) => instantOf(item) >= start);
}

/** How long the filter selects the same items: until the oldest item, if any, is too old. */
export function computeDaysFilterValidity(
  oldest: number | null,
  days: number,
  now: number,
): TimeRange {
  return { from: now, to: oldest === null ? Infinity : oldest + days * DAY_MS };
}
