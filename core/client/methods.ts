/** The types of the client's methods and queries. Queries derive from core's request types. */
import type { ShortsRequest } from "../shorts.ts";
import type { HistoryRequest } from "../histories.ts";
import type { ListRequest, SortName } from "../lists.ts";
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

/** The query of a list of channels. `limit` is channels a page, 1 to 1,000. */
export type ChannelListQuery = RequestQuery<Omit<ListRequest<SortName<"channel">>, "kind">>;

/** The query of any list of owners. `limit` is owners a page, 1 to 1,000. */
export type ListQuery<Sort extends string> = RequestQuery<
  Pick<ListRequest<Sort>, "sort" | "order" | "limit" | "search" | "after">
>;

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

/** The reads that channels and users share: histories, batches and comparisons. */
export interface OwnerClient<
  History extends { readonly history: readonly unknown[] },
  Batch,
  Comparison extends { readonly count: string; readonly rows: readonly unknown[] },
> {
  /** The counts of an owner over time, oldest first. */
  history: HistoryMethod<[name: string], History>;
  /** The details of 1 to 100 owners; a credit a name. */
  details: ReadMethod<[names: readonly string[]], Batch>;
  /** A count of 1 to 10 owners over time; a credit a name and page. */
  compare: ListMethod<
    [names: readonly string[]],
    HistoryQuery & { readonly count?: Comparison["count"] | undefined },
    Comparison["rows"][number],
    Comparison
  >;
}
