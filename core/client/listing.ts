/** Lists that come in pages: item by item, or page by page. */
import { ConnectionError, MetricsError } from "./errors.ts";
import { assertObject } from "./arguments.ts";
import { createIdempotencyKey, type RequestOptions } from "./options.ts";
import type { Result } from "./result.ts";

/** A list that is read page by page while it is iterated. Each page is a request, and charged. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /**
   * The pages, each with its cost. After an error, `next()` reads the same page again, with the same
   * idempotency key: a page whose response was lost is not paid for again.
   */
  pages(): AsyncIterableIterator<Result<Page>, undefined>;
}

/** Where a page begins: its cursor, or its number. */
export type PageStart = string | number;

/** How a list is read. */
export interface ListingSource<Item, Page> {
  /** Where the list begins; by default with its first page. */
  readonly firstStart: PageStart | undefined;
  readPage(start: PageStart | undefined, options: RequestOptions): Promise<Result<Page>>;
  getItems(page: Page): readonly Item[];
  /** Where the next page begins; `null` if there is none. */
  getNextStart(page: Page): PageStart | null;
}

/** Creates a list. Nothing is requested before it is iterated. */
export function createListing<Item, Page>(
  source: ListingSource<Item, Page>,
  options?: RequestOptions,
): Listing<Item, Page> {
  const pages = () => createPages(source, options);
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { body } of pages()) yield* source.getItems(body);
    },
  };
}

function createPages<Item, Page>(
  { firstStart, readPage, getNextStart }: ListingSource<Item, Page>,
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
      const nextStart = getNextStart(value.body);
      isDone = nextStart === null;
      start = nextStart ?? undefined;
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
