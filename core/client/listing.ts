/** Lists that come in pages: item by item, or page by page. */
import type { RequestOptions, Result } from "./request.ts";

/** A list that is read page by page, as far as it is iterated. Each page costs what a request costs. */
export interface Listing<Item, Page> extends AsyncIterable<Item> {
  /** The pages, each with its cost. */
  pages(): AsyncIterable<Result<Page>>;
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
  async function* pages(): AsyncGenerator<Result<Page>> {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const result = await readPage(cursor, options);
      yield result;
      cursor = getNextCursor(result.body);
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { body } of pages()) yield* getItems(body);
    },
  };
}
