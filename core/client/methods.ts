/** The types of the client's methods and queries. Queries derive from core's request types. */
import type { ShortsRequest } from "../shorts.ts";
import type { HistoryRequest } from "../histories.ts";
import type { ItemComparisonRequest } from "../item-comparison.ts";
import type { CountName, EntityKind, ItemKind } from "../kinds.ts";
import type { ListRequest } from "../lists.ts";
import type { SortName } from "../list-sorts.ts";
import type { PageRequest } from "../pagination.ts";
import type { Listing } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import type { Result } from "./attempt.ts";

/** A query: each parameter is optional. Instants are text in ISO 8601; `after` is a cursor. */
export type RequestQuery<Request> = {
  readonly [Field in keyof Request as Field extends "after" ? "cursor" : Field]?:
    | (Field extends "after" | "before" | "from" | "to" ? string : Request[Field])
    | undefined;
};

/** The query of a history; by default, 30 days by day. `limit` is buckets a page, 1 to 1,000. */
export type HistoryQuery = RequestQuery<HistoryRequest>;

/** The query of a list with some filters. `limit` is entities a page: 1 to 1,000, and 1 to 100 of rows. */
export type ListQuery<Kind extends EntityKind, Filter extends keyof ListRequest> = RequestQuery<
  Pick<ListRequest<SortName<Kind>>, "sort" | "order" | "limit" | "list" | "after" | Filter>
>;

/** The query of a list of channels. */
export type ChannelListQuery = ListQuery<"channel", "search" | "country" | "minSubscribers">;

/** The query of a list of users. */
export type UserListQuery = ListQuery<"user", "search" | "minFollowers">;

/** The query of a list of items. `from` and `to` bound the publication, as ISO 8601. */
export type ItemListQuery<Kind extends ItemKind, Row> = ListQuery<Kind, "from" | "to"> & {
  /** The columns of a row; by default the usual ones and the figure of the sort. */
  readonly fields?: readonly FieldName<Row>[] | undefined;
} & {
  /** Only those of these channels or users: 1 to 100 names. */
  readonly [Name in { short: "channels"; tweet: "usernames" }[Kind]]?:
    | readonly string[]
    | undefined;
};

/** The query of a comparison of items, by date or by hours since the publication. */
export type ItemComparisonQuery<Kind extends ItemKind> = HistoryQuery & {
  /** The count that is compared; by default the views. */
  readonly count?: CountName<Kind> | undefined;
  /** Whether the rows are dates, the default, or hours since the publication. */
  readonly by?: ItemComparisonRequest["by"] | undefined;
  /** By age: the hours of a row, 1, 6 or 24. */
  readonly step?: number | undefined;
};

/** The columns that a row can have beside its identifier. */
export type FieldName<Row> = Exclude<keyof Row & string, "id">;

/** The query of a page of shorts. `limit` is shorts a page, 1 to 100. */
export type ShortsQuery = RequestQuery<ShortsRequest>;

/** The query of numbered pages: `days` back, 1 to 14; `limit` is items a page, 1 to 100. */
export type PageQuery = RequestQuery<PageRequest>;

/** A method that reads one response. */
export type ReadMethod<Names extends readonly unknown[], Body> = (
  ...names: [...Names, options?: RequestOptions]
) => Promise<Result<Body>>;

/** A method that reads a list page by page. */
export type ListMethod<Names extends readonly unknown[], Query, Item, Page> = (
  ...names: [...Names, query?: Query, options?: RequestOptions]
) => Listing<Item, Page>;

/** A method that reads the counts of an entity over time, oldest first. */
export type HistoryMethod<
  Names extends readonly unknown[],
  History extends { readonly history: readonly unknown[] },
> = ListMethod<Names, HistoryQuery, History["history"][number], History>;

/** Names of entities, or the name of a saved list of the account that has them. */
export type NamesOrList = readonly string[] | { readonly list: string };

/** The reads that channels and users share: histories, batches and comparisons. */
export interface OwnerClient<
  History extends { readonly history: readonly unknown[] },
  Batch,
  Comparison extends { readonly count: string; readonly rows: readonly unknown[] },
> {
  /** The counts of an owner over time, oldest first. */
  history: HistoryMethod<[name: string], History>;
  /** The details of 1 to 100 owners; a credit a name. */
  details: ReadMethod<[names: NamesOrList], Batch>;
  /** A count of 1 to 10 owners over time; a credit a name and page. */
  compare: ListMethod<
    [names: NamesOrList],
    HistoryQuery & { readonly count?: Comparison["count"] | undefined },
    Comparison["rows"][number],
    Comparison
  >;
}
