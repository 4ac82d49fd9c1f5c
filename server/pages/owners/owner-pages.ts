/** The types, the page size and the reading of counts that pages of channels and users share. */
import type { Client, HistoryQuery } from "../../../core/client/mod.ts";
import type { GainDefinition } from "../../../core/growth.ts";
import type { ItemKind, OwnerKind } from "../../../core/kinds.ts";
import type { ComparisonTable, HistoryItem } from "../../../core/histories.ts";
import type { DailyValue } from "../../../core/resources/generated/types.ts";
import type { PageSource } from "../hooks.ts";
import type { Pictured } from "../pictures.ts";
import type { PlatformLink } from "../platform-links.ts";

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
  readonly picture: Pictured;
}

/** A row of a list, with the requested fields in `counts`. */
export interface OwnerRow extends ListedOwner {
  readonly observedAt: string | null;
  readonly trend: readonly DailyValue[];
}

/** The query of a list of owners. */
export interface OwnerListQuery {
  readonly sort?: string | undefined;
  readonly order?: "asc" | "desc";
  readonly limit: number;
  readonly search?: string | undefined;
  readonly country?: string | undefined;
  readonly list?: string | undefined;
  /** The least of the main count. */
  readonly min?: number | undefined;
  /** The columns beside those of the name and the picture. */
  readonly fields?: readonly string[];
}

/** Gains of the main count; `null` for one that is not known. */
export type Gains = Readonly<Record<GainDefinition["period"], number | null>>;

export interface OwnerProfile extends ListedOwner {
  readonly username: string;
  readonly since: string | null;
  readonly observedAt: string | null;
  readonly description: string | null;
  readonly note: string | null;
  /** Those of a channel; those of a user are a part of its metrics, which cost a credit. */
  readonly gains?: Gains;
}

/** A short or tweet on its own page. */
interface ItemProfile extends Readonly<Record<"title" | "ownerLabel", string>> {
  readonly id: string;
  readonly text: string | null;
  readonly publishedAt: string;
  readonly observedAt: string | null;
  readonly counts: object;
  /** Its own picture, or that of its owner. */
  readonly picture: Pictured;
  /** Where it is on its platform, if that is known. */
  readonly link?: PlatformLink | undefined;
}

/** The names by which requests find what has a history. */
export type HistoryIds = readonly [owner: string, item?: string];

/** Requests and fields of the pages of one kind of owner (channel, user) and its items. */
export interface OwnerPages {
  readonly kind: OwnerKind;
  readonly path: string;
  readonly itemKind: ItemKind;
  /** The part of the addresses before the identifier of an item. */
  readonly itemPath: string;
  /** The counts with a column in the list; from the second on, only where there is room. */
  readonly listedCounts: readonly string[];
  readonly roundedCount?: string;
  readonly hasCountry: boolean;
  /** What to do when no owner was observed, and where. */
  readonly emptyHint: string;
  readonly emptyLink: Readonly<Record<"href" | "label", string>>;
  readonly items: {
    readonly emptyText: string;
    readonly publishedLabel: string;
    /** Whether items have titles; if not, their text comes before everything else. */
    readonly hasTitles: boolean;
  };
  openList(client: Client, query: OwnerListQuery): PageSource<OwnerRow>;
  /** Where an owner is on its platform, if its identifier or one of its items tells. */
  findLink(
    id: string,
    items: readonly Readonly<{ link?: PlatformLink | undefined }>[],
  ): PlatformLink | undefined;
  openHistory(
    client: Client,
    ids: HistoryIds,
    query: HistoryQuery,
  ): PageSource<HistoryItem<object>>;
  read(client: Client, name: string): Promise<OwnerProfile>;
  readItem(client: Client, owner: string, id: string): Promise<ItemProfile>;
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

/** The rows of a page of a list of owners, which costs a credit. */
export const PAGE_ROWS = 100;

/** The items of a page of the items of an owner, which costs a credit. */
export const PAGE_ITEMS = 50;
