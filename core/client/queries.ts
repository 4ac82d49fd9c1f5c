/** The queries of the client's methods. They follow from the requests that the service parses. */
import type { ShortsRequest } from "../shorts.ts";
import type { HistoryRequest } from "../history-request.ts";
import type { SortName, ListRequest } from "../lists.ts";
import type { PageRequest } from "../pagination.ts";

/**
 * A query: any parameter of a request can be left out. Some are text: instants in ISO 8601, and `after`, which
 * is a cursor.
 */
export type RequestQuery<Request> = {
  readonly [Field in keyof Request as Field extends "after" ? "cursor" : Field]?:
    | (Field extends "after" | "before" | "from" | "to" ? string : Request[Field])
    | undefined;
};

/**
 * The query of a history. Without `from`, it begins 30 days before `to` or now; without `interval`, it
 * is by day. `limit` is buckets a page, 1 to 1,000.
 */
export type HistoryQuery = RequestQuery<HistoryRequest>;

/** The query of a list of channels. `limit` is channels a page, 1 to 1,000. */
export type ChannelListQuery = RequestQuery<Omit<ListRequest<SortName<"channel">>, "kind">>;

/** The query of any list of owners. `limit` is owners a page, 1 to 1,000. */
export type ListQuery<Sort extends string> = RequestQuery<
  Omit<ListRequest<Sort>, "kind" | "country">
>;

/** The query of a page of shorts. `limit` is shorts a page, 1 to 100. */
export type ShortsQuery = RequestQuery<ShortsRequest>;

/** The query of pages by number: `days` back from now, 1 to 14; `limit` is items a page, 1 to 100. */
export type PageQuery = RequestQuery<PageRequest>;
