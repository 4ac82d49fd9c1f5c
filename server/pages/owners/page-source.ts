/** Lists of the service that are read page by page. */
import type { Listing } from "../../../core/client/mod.ts";

/** A page of a list. */
interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** How many items the list has, where the service says so. */
  readonly total?: number;
}

/** Reads the next page, for a credit; `undefined` after the last one. It can be called again after an error. */
export type PageSource<Item> = () => Promise<ListPage<Item> | undefined>;

export function createPageSource<Item, Page>(
  listing: Listing<unknown, Page>,
  readPage: (page: Page) => ListPage<Item>,
): PageSource<Item> {
  const pages = listing.pages();
  return async () => {
    const { done, value } = await pages.next();
    return done === true ? undefined : readPage(value.body);
  };
}
