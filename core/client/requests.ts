/** Creates the requests that the parts of the client share. */
import type { CursorPagination, Pagination } from "../resources/mod.ts";
import { createListing, type Listing } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import type { Result, Send } from "./request.ts";
import type { UrlQuery } from "./url.ts";

/** Requests to the paths below one path. A path is its segments, not encoded. */
export interface Requests {
  get<Body>(
    path: readonly string[],
    options?: RequestOptions,
    query?: UrlQuery,
  ): Promise<Result<Body>>;
  /** Sends names in the body of a request for their details. */
  postDetails<Body>(
    names: Readonly<Record<string, readonly string[]>>,
    options?: RequestOptions,
  ): Promise<Result<Body>>;
  /** A list whose pages continue at a cursor or, if `startName` is `page`, are numbered. */
  list<Item, Page extends { readonly pagination?: CursorPagination | Pagination }>(
    path: readonly string[],
    query: UrlQuery & { readonly cursor?: string | undefined; readonly page?: number | undefined },
    getItems: (page: Page) => readonly Item[],
    options?: RequestOptions,
    startName?: "cursor" | "page",
  ): Listing<Item, Page>;
}

/** Creates the requests below the path of a part of the API. */
export function createRequests(send: Send, part: string): Requests {
  const root = ["api", part];
  const get: Requests["get"] = (path, options, query = {}) =>
    send({ method: "GET", path: [...root, ...path], query }, options);
  return {
    get,
    postDetails: (body, options) =>
      send({ method: "POST", path: [...root, "details"], body }, options),
    list: (path, query, getItems, options, startName = "cursor") =>
      createListing(
        {
          firstStart: query[startName],
          readPage: (start, pageOptions) =>
            get(path, pageOptions, { ...query, [startName]: start }),
          getItems,
          getNextStart: ({ pagination = { nextCursor: null } }) =>
            "nextCursor" in pagination
              ? pagination.nextCursor
              : pagination.has_more
                ? pagination.page + 1
                : null,
        },
        options,
      ),
  };
}
