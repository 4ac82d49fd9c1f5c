/** Reads a list in pages while it is iterated, anew each time. A retried page is charged once. */
import type { CursorPagination, Pagination } from "../resources/generated/types.ts";
import { ConnectionError, MetricsError } from "./errors.ts";
import { assertObject, createIdempotencyKey, type RequestOptions } from "./options.ts";
import type { PathSegment, Send } from "./request.ts";
import type { Result } from "./attempt.ts";

/** A list that is read page by page while it is iterated. Each page is a request, and charged. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** The pages, each with its cost. After an error, `next()` repeats that page, charged once. */
  pages(): AsyncIterableIterator<Result<Page>, undefined>;
}

/** The body of a page; without `pagination`, it is the whole list. */
interface PageBody {
  readonly pagination?: CursorPagination | Pagination;
}

/** The parameter of the query with which a page begins. */
type PageStart = { readonly cursor?: string | undefined; readonly page?: number | undefined };

/** Creates a list that is read when it is iterated. Its pages have cursors or numbers. */
export function list<Item, Page extends PageBody>(
  send: Send,
  path: readonly PathSegment[],
  query: PageStart | undefined = {},
  getItems: (page: Page) => readonly Item[],
  options?: RequestOptions,
  defaults: object = {},
): Listing<Item, Page> {
  const readPage = async (start: PageStart, pageOptions: RequestOptions) => {
    assertObject("query", query);
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const pageQuery = { ...defaults, ...Object.fromEntries(given), ...start };
    const probe = (page: Page) => (Array.isArray(getItems(page)) ? findNextStart(page) : undefined);
    return send({ method: "GET", path, query: pageQuery, probe }, pageOptions);
  };
  const firstStart = { cursor: query?.cursor, page: query?.page };
  const pages = () => createPages(readPage, firstStart, options);
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { body } of pages()) yield* getItems(body);
    },
  };
}

function createPages<Page extends PageBody>(
  readPage: (start: PageStart, options: RequestOptions) => Promise<Result<Page>>,
  firstStart: PageStart,
  options: RequestOptions = {},
): AsyncIterableIterator<Result<Page>, undefined> {
  let start: PageStart | null = firstStart;
  /** The cursors or numbers of the pages that were read. */
  const starts = new Set<PageStart[keyof PageStart]>();
  /** The key of the page that is read next, from its first request until it was read. */
  let idempotencyKey: string | undefined;

  async function readNext(): Promise<IteratorResult<Result<Page>, undefined>> {
    if (start === null) return { done: true, value: undefined };
    const { cursor, page = cursor } = start;
    if (starts.has(page)) throw new ConnectionError(`The list returns to its page at ${page}`);
    assertObject("options", options);
    const isFirst = starts.size === 0;
    idempotencyKey ??= (isFirst ? options.idempotencyKey : undefined) ?? createIdempotencyKey();
    try {
      const value = await readPage(start, { ...options, idempotencyKey });
      starts.add(page);
      start = findNextStart(value.body) ?? null;
      idempotencyKey = undefined;
      return { done: false, value };
    } catch (error) {
      const isOutOfRange = error instanceof MetricsError && error.code === "Page Out of Range";
      if (isFirst || !isOutOfRange) throw error;
      // Items have left the list since the page before was read.
      start = null;
      return { done: true, value: undefined };
    }
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    // No generator, which would end with the first error. One page is read at a time.
    next() {
      const result = last.then(readNext, readNext);
      last = result;
      return result;
    },
  };
}

/** Finds the start of the next page: `null` if there is none, `undefined` if it is unknown. */
function findNextStart({ pagination }: PageBody): PageStart | null | undefined {
  if (pagination === undefined) return null;
  if ("nextCursor" in pagination) {
    const { nextCursor } = pagination;
    if (nextCursor === null) return null;
    return typeof nextCursor === "string" ? { cursor: nextCursor } : undefined;
  }
  if (pagination.has_more === false) return null;
  const page = pagination.page + 1;
  return Number.isSafeInteger(page) ? { page } : undefined;
}
