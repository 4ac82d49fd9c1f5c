/** Lists that come in pages: item by item, or page by page. */
import type { RequestOptions, Result } from "./request.ts";

/** A list that is read page by page, as far as it is iterated. Each page costs what a request costs. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** The pages, each with its cost. After an error, `next()` reads the same page again. */
  pages(): AsyncIterableIterator<Result<Page>, undefined>;
}

/** How a list is read. */
export interface ListingSource<Item, Page> {
  /** @param cursor Of the page; `undefined` for the first. */
  readPage(cursor: string | undefined, options?: RequestOptions): Promise<Result<Page>>;
  getItems(page: Page): readonly Item[];
  /** The cursor of the next page; `null` if there is none. */
  getNextCursor(page: Page): string | null;
}

/** Creates a list. Nothing is requested before it is iterated. */
export function createListing<Item, Page>(
  { readPage, getItems, getNextCursor }: ListingSource<Item, Page>,
  options?: RequestOptions,
): Listing<Item, Page> {
  function pages(): AsyncIterableIterator<Result<Page>, undefined> {
    let cursor: string | null | undefined;
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      // A generator would end with the first error.
      async next() {
        if (cursor === null) return { done: true, value: undefined };
        const value = await readPage(cursor, options);
        cursor = getNextCursor(value.body);
        return { done: false, value };
      },
    };
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { body } of pages()) yield* getItems(body);
    },
  };
}
