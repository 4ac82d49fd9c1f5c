/** The form of the requests and fields that the pages of each kind of owner declare. */
import type { Client, HistoryQuery, Listing, ListQuery } from "../../../core/client/mod.ts";
import type {
  ComparisonTable,
  HistoryItem,
  HistoryPage,
} from "../../../core/responses/histories.ts";
import type { GainDefinition } from "../../../core/growth.ts";
import type { PageSource } from "./page-source.ts";
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";

/** An object with counts among its fields. */
type Counts = object;

/** Reads a count; `null` is unknown. */
export function readCount(counts: Counts, name: string): number | null {
  const value: unknown = Reflect.get(counts, name);
  return typeof value === "number" ? value : null;
}

/** A channel or user in a list. */
export interface ListedOwner {
  /** The name by which requests find it. */
  readonly id: string;
  readonly name: string;
  readonly username: string | null;
  readonly counts: Counts;
}

/** A channel or user. */
export interface OwnerProfile extends ListedOwner {
  readonly username: string;
  /** The name by which comparisons find it: they separate names by commas. */
  readonly comparedName: string;
  /** When the account began. */
  readonly since: string | null;
  readonly description: string | null;
  /** Said beside the username. */
  readonly note: string | null;
  /** The gains of the first count. */
  readonly gains?: Readonly<Record<GainDefinition["period"], number | null>>;
}

/** A short or tweet in a list. */
export interface ListedItem {
  readonly id: string;
  readonly text: string | null;
  readonly publishedAt: string;
  readonly counts: Counts;
  /** The likes as far as they were observed. */
  readonly likes?: { readonly values: readonly (number | null)[]; readonly instants: number[] };
}

/** A short or tweet. */
interface Item {
  readonly id: string;
  readonly title: string;
  /** `null` for none. */
  readonly text: string | null;
  readonly publishedAt: string;
  readonly counts: Counts;
  /** The text of the link to the owner. */
  readonly ownerLabel: string;
}

/** Owners that are found, or not, and a count of each over time. */
interface Comparison extends Pick<ComparisonTable, "rows"> {
  readonly owners: readonly { readonly name: string; readonly label: string | null }[];
  /** When it was requested, in milliseconds since 1970 UTC. */
  readonly readAt: number;
}

type OwnerQuery = ListQuery<string> & { readonly country?: string };

/** The requests of the pages of a kind of owner and of its items, and the fields that they show. */
export interface OwnerPages {
  readonly kind: OwnerKind;
  /** The first part of the addresses. */
  readonly path: string;
  readonly itemKind: ItemKind;
  /** The part of the addresses before the identifier of an item. */
  readonly itemPath: string;
  /** The counts with a column in the list; from the third on, only where there is room. */
  readonly listedCounts: readonly string[];
  /** A count that sources round. */
  readonly roundedCount?: string;
  readonly hasCountry: boolean;
  /** A hint for an empty list. */
  readonly emptyHint: string;
  readonly items: {
    /** The counts with a column. */
    readonly counts: readonly string[];
    /** How far the list goes back; without it, the list is complete. */
    readonly days?: number;
    readonly emptyText: string;
    readonly publishedLabel: string;
    /** Whether items have titles. A text without one comes before everything else. */
    readonly hasTitles: boolean;
    /** Whether they tell their likes over time. */
    readonly hasLikes: boolean;
  };
  openList(client: Client, query: OwnerQuery): PageSource<ListedOwner>;
  openItems(client: Client, id: string): PageSource<ListedItem>;
  openHistory(client: Client, id: string, query: HistoryQuery): PageSource<HistoryItem<Counts>>;
  openItemHistory(
    client: Client,
    ids: readonly [owner: string, item: string],
    query: HistoryQuery,
  ): PageSource<HistoryItem<Counts>>;
  read(client: Client, name: string): Promise<OwnerProfile>;
  readItem(client: Client, owner: string, id: string): Promise<Item>;
  compare(
    client: Client,
    names: readonly string[],
    query?: HistoryQuery & { readonly count: string },
  ): Promise<Comparison>;
}

/** How many items a page of a list has. */
export const PAGE_ITEMS = 50;

/** Reads a page of a history. */
export const readHistoryPage = <Named extends object>(page: HistoryPage<Named>) => ({
  items: page.history,
  hasMore: page.pagination.hasMore,
});
/** Reads the first page of a comparison: no range of the pages has more. */
export async function readComparison<Page extends ComparisonTable>(
  listing: Listing<unknown, Page>,
  getOwners: (page: Page) => Comparison["owners"],
): Promise<Comparison> {
  const readAt = Date.now();
  for await (const { body } of listing.pages()) {
    return { owners: getOwners(body), rows: body.rows, readAt };
  }
  throw new Error("The comparison has no page");
}
