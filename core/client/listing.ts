/** Lists that come in pages: item by item, or page by page. */
import type { CursorPagination, Pagination } from "../resources/generated/types.ts";
import { assertObject, type PathSegment } from "./arguments.ts";
import { ConnectionError, MetricsError } from "./errors.ts";
import { createIdempotencyKey, type RequestOptions } from "./options.ts";
import type { Send } from "./request.ts";
import type { Result } from "./result.ts";

/** A list that is read page by page while it is iterated. Each page is a request, and charged. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /**
   * The pages, each with its cost. After an error, `next()` reads the same page again, with the same
   * idempotency key: a page whose response was lost is not paid for again.
   */
  pages(): AsyncIterableIterator<Result<Page>, undefined>;
}

/** The body of a page; without `pagination`, it is the whole list. */
export interface PageBody {
  readonly pagination?: CursorPagination | Pagination;
}

/** Where a page begins: its cursor, or its number. */
type PageStart = string | number;

/**
 * Creates a list whose pages continue at a cursor or, if `startName` is `page`, are numbered. Nothing
 * is requested before it is iterated.
 *
 * @param defaults Parameters of the query, unless the caller sets them.
 */
export function list<Item, Page extends PageBody>(
  send: Send,
  path: readonly PathSegment[],
  query: { readonly cursor?: string | undefined; readonly page?: number | undefined } = {},
  getItems: (page: Page) => readonly Item[],
  options?: RequestOptions,
  {
    startName = "cursor",
    defaults = {},
  }: { readonly startName?: "cursor" | "page"; readonly defaults?: object } = {},
): Listing<Item, Page> {
  const readPage = async (start: PageStart | undefined, pageOptions: RequestOptions) => {
    assertObject("query", query);
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const pageQuery = { ...defaults, ...Object.fromEntries(given), [startName]: start };
    const probe = (page: Page) => (Array.isArray(getItems(page)) ? findNextStart(page) : undefined);
    return send({ method: "GET", path, query: pageQuery, probe }, pageOptions);
  };
  const pages = () => createPages(readPage, query?.[startName], options);
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { body } of pages()) yield* getItems(body);
    },
  };
}

function createPages<Page extends PageBody>(
  readPage: (start: PageStart | undefined, options: RequestOptions) => Promise<Result<Page>>,
  firstStart: PageStart | undefined,
  options: RequestOptions = {},
): AsyncIterableIterator<Result<Page>, undefined> {
  let start = firstStart;
  /** Where the pages that were read begin. */
  const starts = new Set<PageStart | undefined>();
  let isDone = false;
  /** The key of the page that is read next, from its first request until it was read. */
  let idempotencyKey: string | undefined;

  async function readNext(): Promise<IteratorResult<Result<Page>, undefined>> {
    if (isDone) return { done: true, value: undefined };
    if (starts.has(start)) throw new ConnectionError(`The list returns to its page at ${start}`);
    assertObject("options", options);
    const isFirst = starts.size === 0;
    idempotencyKey ??= (isFirst ? options.idempotencyKey : undefined) ?? createIdempotencyKey();
    try {
      const value = await readPage(start, { ...options, idempotencyKey });
      starts.add(start);
      start = findNextStart(value.body) ?? undefined;
      isDone = start === undefined;
      idempotencyKey = undefined;
      return { done: false, value };
    } catch (error) {
      const isOutOfRange = error instanceof MetricsError && error.code === "Page Out of Range";
      if (isFirst || !isOutOfRange) throw error;
      // Items have left the list since the page before was read.
      isDone = true;
      return { done: true, value: undefined };
    }
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    // A generator would end with the first error. One page is read at a time.
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
    return nextCursor === null || typeof nextCursor === "string" ? nextCursor : undefined;
  }
  if (pagination.has_more === false) return null;
  const nextPage = pagination.page + 1;
  return Number.isSafeInteger(nextPage) ? nextPage : undefined;
}
