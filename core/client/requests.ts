/** Creates the requests that the parts of the client share. */
import type { CursorPagination, Pagination } from "../resources/mod.ts";
import { createListing, type Listing } from "./listing.ts";
import type { ApiRequest, RequestOptions, Result, Send } from "./request.ts";

type Query = NonNullable<ApiRequest["query"]>;

/** Requests to the paths below one path. */
export interface Requests {
  get<Body>(path: string, options?: RequestOptions, query?: Query): Promise<Result<Body>>;
  /** A list whose pages continue at a cursor. */
  listByCursor<Item, Page extends { readonly pagination?: CursorPagination }>(
    path: string,
    query: Query,
    getItems: (page: Page) => readonly Item[],
    options?: RequestOptions,
  ): Listing<Item, Page>;
  /** A list of numbered pages. */
  listByNumber<Item, Page extends { readonly pagination: Pagination }>(
    path: string,
    query: Query,
    getItems: (page: Page) => readonly Item[],
    options?: RequestOptions,
  ): Listing<Item, Page>;
}

/** Creates the requests below a path. */
export function createRequests(send: Send, root: string): Requests {
  const get: Requests["get"] = (path, options, query = {}) =>
    send({ method: "GET", path: root + path, query }, options);
  return {
    get,
    listByCursor: (path, query, getItems, options) =>
      createListing(
        {
          readPage: (cursor, pageOptions) => get(path, pageOptions, { ...query, cursor }),
          getItems,
          getNextCursor: ({ pagination }) => pagination?.nextCursor ?? null,
        },
        options,
      ),
    listByNumber: (path, query, getItems, options) =>
      createListing(
        {
          readPage: (page, pageOptions) => get(path, pageOptions, { ...query, page }),
          getItems,
          getNextCursor: ({ pagination: { has_more, page } }) =>
            has_more ? String(page + 1) : null,
        },
        options,
      ),
  };
}
