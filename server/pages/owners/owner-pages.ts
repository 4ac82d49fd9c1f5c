/** The types, the page size and the reading of counts that pages of channels and users share. */
import type { Client, HistoryQuery, ListQuery } from "../../../core/client/mod.ts";
import type { GainDefinition } from "../../../core/growth.ts";
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import type { ComparisonTable, HistoryItem } from "../../../core/histories.ts";
import type { PageSource } from "../hooks.ts";

export function readCount(counts: object, name: string): number | null {
  const value: unknown = Reflect.get(counts, name);
  return typeof value === "number" ? value : null;
}

export interface ListedOwner {
  /** The name by which requests find it. */
  readonly id: string;
  readonly name: string;
  readonly username: string | null;
  readonly counts: object;
}

interface OwnerProfile extends ListedOwner {
  readonly username: string;
  /** The name by which comparisons find it: without commas, which separate names. */
  readonly comparedName: string;
  readonly since: string | null;
  readonly description: string | null;
  readonly note: string | null;
  readonly gains?: Readonly<Record<GainDefinition["period"], number | null>>;
}

export interface ListedItem {
  readonly id: string;
  readonly text: string | null;
  readonly publishedAt: string;
  readonly counts: object;
  readonly likes?: { readonly values: readonly (number | null)[]; readonly instants: number[] };
}

/** Requests and fields of the pages of one kind of owner (channel, user) and its items. */
export interface OwnerPages {
  readonly kind: OwnerKind;
  readonly path: string;
  readonly itemKind: ItemKind;
  /** The part of the addresses before the identifier of an item. */
  readonly itemPath: string;
  /** The counts with a column in the list; from the third on, only where there is room. */
  readonly listedCounts: readonly string[];
  readonly roundedCount?: string;
  readonly hasCountry: boolean;
  readonly emptyHint: string;
  readonly items: {
    readonly counts: readonly string[];
    /** How many days the list goes back; without this, the list is complete. */
    readonly days?: number;
    readonly emptyText: string;
    readonly publishedLabel: string;
    /** Whether items have titles; if not, their text comes before everything else. */
    readonly hasTitles: boolean;
  };
  openList(
    client: Client,
    query: ListQuery<string> & { readonly country?: string | undefined },
  ): PageSource<ListedOwner>;
  openItems(client: Client, owner: string): PageSource<ListedItem>;
  openHistory(
    client: Client,
    ids: readonly [owner: string, item?: string],
    query: HistoryQuery,
  ): PageSource<HistoryItem<object>>;
  read(client: Client, name: string): Promise<OwnerProfile>;
  readItem(
    client: Client,
    owner: string,
    id: string,
  ): Promise<ListedItem & Readonly<Record<"title" | "ownerLabel", string>>>;
  /** `label` is `null` if an owner is not found; `readAt` is in milliseconds since 1970 UTC. */
  compare(
    client: Client,
    names: readonly string[],
    query?: HistoryQuery & { readonly count: string },
  ): Promise<{
    readonly owners: readonly { readonly name: string; readonly label: string | null }[];
    readonly rows: ComparisonTable["rows"];
    readonly readAt: number;
  }>;
}

export const PAGE_ITEMS = 50;
