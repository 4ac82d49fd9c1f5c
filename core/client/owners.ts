/** The reads that both parts of the client have. An owner is a channel or a user. */
import type { CursorPagination } from "../resources/generated/types.ts";
import type { Listing } from "./listing.ts";
import type { RequestOptions } from "./options.ts";
import type { HistoryQuery } from "./queries.ts";
import type { Requests } from "./requests.ts";
import type { Result } from "./result.ts";

/** The fields that every history has. */
export interface OwnerHistory {
  /** The buckets. */
  readonly history: readonly unknown[];
  /** How far the listing goes. */
  readonly pagination: CursorPagination;
}

/** The fields that every comparison has. */
export interface OwnerComparison {
  /** The count that is compared. */
  readonly count: string;
  /** The rows, one for each bucket. */
  readonly rows: readonly unknown[];
  /** How far the listing goes. */
  readonly pagination: CursorPagination;
}

/** Reads owners over time, and several at once. */
export interface OwnerClient<
  History extends OwnerHistory,
  Batch,
  Comparison extends OwnerComparison,
> {
  /** The counts of an owner over time, oldest first. */
  history(
    name: string,
    query?: HistoryQuery,
    options?: RequestOptions,
  ): Listing<History["history"][number], History>;
  /** The details of 1 to 100 owners; a credit a name. */
  details(names: readonly string[], options?: RequestOptions): Promise<Result<Batch>>;
  /** A count of 1 to 10 owners over time; a credit a name and page. */
  compare(
    names: readonly string[],
    query?: HistoryQuery & { readonly count?: Comparison["count"] | undefined },
    options?: RequestOptions,
  ): Listing<Comparison["rows"][number], Comparison>;
}

/**
 * Creates the reads of owners.
 *
 * @param name The name of an owner in paths and, as a plural, in bodies.
 */
export function createOwnerClient<
  History extends OwnerHistory,
  Batch extends { readonly results: readonly unknown[] },
  Comparison extends OwnerComparison,
>(
  { list, postDetails }: Requests,
  name: "channel" | "username",
): OwnerClient<History, Batch, Comparison> {
  const names = `${name}s`;
  return {
    history: (owner, query, options) =>
      list([{ [name]: owner }, "history"], query, (page) => page.history, options),
    details: (owners, options) => postDetails({ [names]: owners }, options),
    compare: (owners, query, options) =>
      list(["compare"], query, (page) => page.rows, options, { defaults: { [names]: owners } }),
  };
}
