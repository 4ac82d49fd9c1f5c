/**
 * The interfaces of stores, which stores of your own implement: observations, reads, the monitoring
 * list and credits. A service on them answers like this project's. The entry `testing` has a
 * conformance suite for each interface. All instants are milliseconds since 1970 UTC.
 *
 * @module
 */
import type { ComparisonRequest } from "./batch.ts";
import type { RequestCharge } from "./charges.ts";
import type { Creator } from "./creators.ts";
import type { ShortsRequest } from "./shorts.ts";
import type { OutcomeCounts } from "./entities.ts";
import type { DomainError } from "./errors.ts";
import type { HistoryRequest } from "./histories.ts";
import type { AgeTable, ItemComparisonRequest } from "./item-comparison.ts";
import type { CreditSums } from "./ledger.ts";
import type { ListRequest, TableRequest } from "./lists.ts";
import type { SortName } from "./list-sorts.ts";
import type { PageRequest } from "./pagination.ts";
import type * as resources from "./resources/generated/types.ts";

/** The lines that an import rejected. */
export interface RejectionReport {
  /** The first 1,000 lines: the number of the line, from 1, and the reason, for people. */
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
  /** How many lines were rejected for each cause: the reason without the rejected value. */
  readonly causes: readonly { readonly cause: string; readonly lines: number }[];
}

/** The outcome of the lines of an import; blank lines are not counted. */
export interface ImportResult extends OutcomeCounts, RejectionReport {
  /** Lines that are not blank. */
  readonly read: number;
}

/** Imports whole lines of observations (NDJSON). It takes the bytes over: don't use them again. */
export type ImportObservations = (lines: Uint8Array) => Promise<ImportResult>;

/** Stores observations. */
export interface ObservationStore {
  /** Imports lines. */
  readonly importObservations: ImportObservations;
}

/** The result of a read: a body. A store may add other fields. */
export type StoreRead<Body> = Promise<{ readonly body: Body }>;

/** A count of several entities by bucket. */
export interface Comparison extends Pick<resources.ChannelComparison, "rows" | "pagination"> {
  /** The name of each entity, or its error if it is not found, in the order of the request. */
  readonly entities: readonly (string | DomainError)[];
}

/** An item that was found by its identifier alone. */
export interface FoundItem<Details> {
  /** The name of its channel or user. */
  readonly owner: string;
  /** The resource of the item. */
  readonly details: Details;
}

/** An item of a comparison. */
export interface ComparedItem {
  /** The name of its channel or user. */
  readonly owner: string;
  /** The title of a short, or the text of a tweet. */
  readonly title: string | null;
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt: number;
}

/** A count of several items, by date or by hours since the publication. */
export interface ItemComparison {
  /** Each item, or its error if it is not found, in the order of the request. */
  readonly items: readonly (ComparedItem | DomainError)[];
  /** The rows of the page. */
  readonly table:
    | ({ readonly by: "date" } & Pick<resources.ChannelComparison, "rows" | "pagination">)
    | ({ readonly by: "age" } & AgeTable);
}

/** Reads channels and shorts. A read rejects with `Channel Not Found` or `Short Not Found`. */
export interface VideoStore {
  /** Reads a page of channels. */
  channelPage(request: ListRequest<SortName<"channel">>): StoreRead<resources.ChannelList>;
  /** Reads a page of channels with chosen columns. */
  channelTable(request: TableRequest<SortName<"channel">>): StoreRead<resources.ChannelTable>;
  /** All channels: most subscribers first, unknown counts last, then by identifier. */
  channels(): StoreRead<resources.ChannelList>;
  /** Reads a channel, by identifier or username. */
  channel(name: string): StoreRead<resources.ChannelDetails>;
  /** Reads channels by name, in the order of the names; for a channel not found, the error. */
  channelBatch(
    names: readonly string[],
  ): Promise<readonly (resources.ChannelDetails | DomainError)[]>;
  /** Compares a count of several channels; for a channel not found, the error. */
  channelComparison(request: ComparisonRequest<"channel">): StoreRead<Comparison>;
  /** Reads a page of shorts, newest first. */
  shorts(name: string, request: ShortsRequest): StoreRead<resources.ShortsPage>;
  /** Reads a page of the shorts of all channels, or of those with some names. */
  shortTable(request: TableRequest<SortName<"short">>): StoreRead<resources.ShortTable>;
  /** Reads a short with its history. */
  short(name: string, id: string): StoreRead<resources.ShortDetails>;
  /** Reads shorts by identifier, in the order of the identifiers; for one not found, the error. */
  shortBatch(
    ids: readonly string[],
  ): StoreRead<readonly (FoundItem<resources.ShortDetails> | DomainError)[]>;
  /** Compares a count of several shorts; for a short not found, the error. */
  shortComparison(request: ItemComparisonRequest<"short">): StoreRead<ItemComparison>;
  /** Reads the history of a channel. */
  channelHistory(name: string, request: HistoryRequest): StoreRead<resources.ChannelHistory>;
  /** Reads the history of a short. */
  shortHistory(
    name: string,
    id: string,
    request: HistoryRequest,
  ): StoreRead<resources.ShortHistory>;
  /** Reads the metrics of a channel. */
  channelMetrics(name: string): StoreRead<resources.ChannelMetrics>;
  /** Reads the metrics of a short, compared with earlier shorts of its channel. */
  shortMetrics(name: string, id: string): StoreRead<resources.ShortMetrics>;
}

/** Reads users and tweets, or rejects: `User Not Found`, `Tweet Not Found`, `Page Out of Range`. */
export interface MicroblogStore {
  /** Reads a page of users. */
  userPage(request: ListRequest<SortName<"user">>): StoreRead<resources.UserList>;
  /** Reads a page of users with chosen columns. */
  userTable(request: TableRequest<SortName<"user">>): StoreRead<resources.UserTable>;
  /** Reads a user. */
  user(username: string): StoreRead<resources.UserDetails>;
  /** Reads users by name, in the order of the names; for a user not found, the error. */
  userBatch(
    usernames: readonly string[],
  ): Promise<readonly (resources.UserDetails | DomainError)[]>;
  /** Compares a count of several users; for a user not found, the error. */
  userComparison(request: ComparisonRequest<"user">): StoreRead<Comparison>;
  /** Reads a page of tweets, newest first. */
  tweets(username: string, request: PageRequest, now: number): StoreRead<resources.TweetsPage>;
  /** Reads a page of follower counts, newest first. */
  followers(
    username: string,
    request: PageRequest,
    now: number,
  ): StoreRead<resources.FollowersPage>;
  /** Reads a page of the tweets of all users, or of those with some names. */
  tweetTable(request: TableRequest<SortName<"tweet">>): StoreRead<resources.TweetTable>;
  /** Reads a tweet with its history. */
  tweet(username: string, id: string): StoreRead<resources.TweetDetails>;
  /** Reads tweets by identifier, in the order of the identifiers; for one not found, the error. */
  tweetBatch(
    ids: readonly string[],
  ): StoreRead<readonly (FoundItem<resources.TweetDetails> | DomainError)[]>;
  /** Compares a count of several tweets; for a tweet not found, the error. */
  tweetComparison(request: ItemComparisonRequest<"tweet">): StoreRead<ItemComparison>;
  /** Reads the history of a user. */
  userHistory(username: string, request: HistoryRequest): StoreRead<resources.UserHistory>;
  /** Reads the history of a tweet. */
  tweetHistory(
    username: string,
    id: string,
    request: HistoryRequest,
  ): StoreRead<resources.TweetHistory>;
  /** Reads the metrics of a user. */
  userMetrics(username: string): StoreRead<resources.UserMetrics>;
  /** Reads the metrics of a tweet, compared with earlier tweets of its user. */
  tweetMetrics(username: string, id: string): StoreRead<resources.TweetMetrics>;
}

/** Stores the monitoring list. A change returns the listed spelling, and the list's new size. */
export interface CreatorStore {
  /** Adds a creator. Throws `Creator Already Exists` or `Creator List Full`. */
  add(creator: Creator, now: number): Promise<{ readonly creator: string; readonly total: number }>;
  /** Removes a creator. Throws `Creator Not Found`. */
  remove(creator: Creator): Promise<{ readonly creator: string; readonly total: number }>;
  /** The list in pages, sorted by platform and by username in lower case. */
  pages(): AsyncIterable<readonly resources.ListedCreator[]>;
}

/** An account and its sums, in credits. */
export interface CreditAccount extends CreditSums {
  /** The name of the account. */
  readonly name: string;
  /** When it was created. */
  readonly createdAt: number;
  /** Credits that are left. */
  readonly balance: number;
}

/** The charge of one request. */
export interface CreditCharge extends RequestCharge {
  /** The name of the account. */
  readonly account: string;
}

/** The decision of a store on one charge. `Debit` has the fields that a refund needs. */
export type DebitOutcome<Debit> =
  | { readonly kind: "charged"; readonly debit: Debit; readonly balance: number }
  /** The idempotency key paid for this request, and has a free repeat: nothing is debited. */
  | { readonly kind: "repeated"; readonly balance: number }
  /** The balance is too low. */
  | { readonly kind: "refused"; readonly balance: number }
  /** The idempotency key paid for another request. */
  | { readonly kind: "misused" };

/** Stores accounts, grants, debits and refunds. */
export interface CreditStore<Debit = unknown> {
  /** Creates an account without credits. Throws `Conflict` when the name is taken. */
  createAccount(name: string, now: number): Promise<CreditAccount>;
  /** Reads an account. Throws `Not Found`. */
  account(name: string): Promise<CreditAccount>;
  /**
   * Grants whole credits, 1 or more, to an account by its name.
   *
   * @param grant The caller sets its `id`, so that a retried grant applies once. A `reference` of
   * the account, such as an invoice, grants once. The `reason` is for the statement.
   * @returns Whether credits were granted, and the credits that are left.
   * @throws {DomainError} `Not Found`, `Conflict`, `Invalid Request`.
   */
  grant(
    grant: {
      readonly id: string;
      readonly account: string;
      readonly amount: number;
      readonly reference?: string | undefined;
      readonly reason?: string | undefined;
    },
    now: number,
  ): Promise<{ readonly isNew: boolean; readonly balance: number }>;
  /**
   * Decides charges like `decideCharges()`, each account for itself, and commits all covered
   * charges or none. A charge of an account that does not exist is refused.
   *
   * @param charges At most one for each idempotency key of an account, except charges that waited.
   * @param batch Its `id` lets a retried commit apply once. `now` is when the requests came.
   */
  debit(
    charges: readonly CreditCharge[],
    batch: { readonly id: string; readonly now: number },
  ): Promise<{ readonly outcomes: readonly DebitOutcome<Debit>[] }>;
  /** Refunds a debit; a second refund changes nothing. Its idempotency key can pay again. */
  refund(debit: Debit, id: string, reason: string, now: number): Promise<void>;
}
