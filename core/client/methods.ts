/**
 * The forms of the client's methods: reads, lists and their queries, which follow from the requests
 * that the service parses. Also how the methods send their requests.
 */
import type { ShortsRequest } from "../shorts.ts";
import type { HistoryRequest } from "../history-request.ts";
import type { ListRequest, SortName } from "../lists.ts";
import type { PageRequest } from "../pagination.ts";
import { assertAllowed, type PathSegment } from "./arguments.ts";
import { list, type Listing, type PageBody } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import type { Send } from "./request.ts";
import type { Result } from "./result.ts";

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

/** The reads that channels and users have: over time, and of several at once. */
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

/** Sends a read. @param probe Reads a field that every response has. */
export const read = <Body>(
  send: Send,
  path: readonly PathSegment[],
  probe: (body: Body) => unknown,
  options?: RequestOptions,
): Promise<Result<Body>> => send({ method: "GET", path, probe }, options);

/** Reads the items of a page of a history. */
export const readBuckets = <Bucket>(page: {
  readonly history: readonly Bucket[];
}): readonly Bucket[] => page.history;

/**
 * Creates the reads of owners.
 *
 * @param root The path of a part of the API.
 * @param name The name of an owner in paths and, as a plural, in bodies.
 */
export function createOwnerClient<
  History extends PageBody & { readonly history: readonly unknown[] },
  Batch extends { readonly results: readonly unknown[] },
  Comparison extends PageBody & { readonly count: string; readonly rows: readonly unknown[] },
>(send: Send, root: string, name: "channel" | "username"): OwnerClient<History, Batch, Comparison> {
  const plural = `${name}s`;
  return {
    history: (owner, query, options) =>
      list(send, [root, { [name]: owner }, "history"], query, (page) => page.history, options),
    async details(names, options) {
      const isNames = Array.isArray(names) && names.every((value) => typeof value === "string");
      assertAllowed(plural, names, isNames, "an array of names");
      const probe = ({ results }: Batch) => results.length;
      const body = { [plural]: names };
      return send({ method: "POST", path: [root, "details"], body, probe }, options);
    },
    compare: (names, query, options) =>
      list(send, [root, "compare"], query, (page) => page.rows, options, { [plural]: names }),
  };
}
