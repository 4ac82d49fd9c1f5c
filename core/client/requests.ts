/** Creates the requests that the parts of the client share. */
import type { CursorPagination, Pagination } from "../resources/generated/types.ts";
import { assertAllowed, assertObject } from "./arguments.ts";
import { createListing, type Listing, type PageStart } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import type { Send } from "./request.ts";
import type { Result } from "./result.ts";
import type { PathSegment } from "./url.ts";

/** The query of a list, with the beginning of its first page. */
type PagedQuery = {
  readonly cursor?: string | undefined;
  readonly page?: number | undefined;
};

/** Requests to the paths below one path. */
export interface Requests {
  /** @param probe Reads a field that every response has. */
  get<Body>(
    path: readonly PathSegment[],
    probe: (body: Body) => unknown,
    options?: RequestOptions,
  ): Promise<Result<Body>>;
  /** Sends names in the body of a request for their details. */
  postDetails<Body extends { readonly results: readonly unknown[] }>(
    names: Readonly<Record<string, readonly string[]>>,
    options?: RequestOptions,
  ): Promise<Result<Body>>;
  /** A list whose pages continue at a cursor or, if `startName` is `page`, are numbered. */
  list<Item, Page extends { readonly pagination?: CursorPagination | Pagination }>(
    path: readonly PathSegment[],
    query: PagedQuery | undefined,
    getItems: (page: Page) => readonly Item[],
    options?: RequestOptions,
    details?: {
      readonly startName?: "cursor" | "page";
      /** Parameters of the query, unless the caller sets them. */
      readonly defaults?: Readonly<Record<string, number | readonly string[]>>;
    },
  ): Listing<Item, Page>;
}

/** Creates the requests below the path of a part of the API. */
export function createRequests(send: Send, part: string): Requests {
  const root = ["api", part];
  return {
    get: (path, probe, options) =>
      send({ method: "GET", path: [...root, ...path], probe }, options),
    async postDetails(body, options) {
      for (const [name, names] of Object.entries(body)) {
        const isNames = Array.isArray(names) && names.every((value) => typeof value === "string");
        assertAllowed(name, names, isNames, "an array of names");
      }
      const path = [...root, "details"];
      return send({ method: "POST", path, body, probe: ({ results }) => results.length }, options);
    },
    list: (path, query = {}, getItems, options, { startName = "cursor", defaults = {} } = {}) =>
      createListing(
        {
          firstStart: query?.[startName],
          async readPage(start, pageOptions) {
            assertObject("query", query);
            const given = Object.entries(query).filter(([, value]) => value !== undefined);
            const pageQuery = { ...defaults, ...Object.fromEntries(given), [startName]: start };
            return send(
              {
                method: "GET",
                path: [...root, ...path],
                query: pageQuery,
                probe: (page) =>
                  Array.isArray(getItems(page)) ? findNextStart(page.pagination) : undefined,
              },
              pageOptions,
            );
          },
          getItems,
          getNextStart: ({ pagination }) => findNextStart(pagination) ?? null,
        },
        options,
      ),
  };
}

/** Finds the start of the next page: `null` if there is none, `undefined` if it is unknown. */
function findNextStart(
  pagination: CursorPagination | Pagination | undefined,
): PageStart | null | undefined {
  if (pagination === undefined) return null;
  if ("nextCursor" in pagination) {
    const { nextCursor } = pagination;
    return nextCursor === null || typeof nextCursor === "string" ? nextCursor : undefined;
  }
  if (pagination.has_more === false) return null;
  const nextPage = pagination.page + 1;
  return Number.isSafeInteger(nextPage) ? nextPage : undefined;
}
