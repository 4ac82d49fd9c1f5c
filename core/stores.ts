/**
 * The interfaces of a store of your own: a service on it answers like this project's. The entry
 * `testing` has a conformance suite for each. All instants are milliseconds since 1970 UTC.
 *
 * @module
 */
import type { ComparisonRequest } from "./batch.ts";
import type { RequestCharge } from "./charges.ts";
import type { Creator } from "./creators.ts";
import type { ShortsRequest } from "./cursor.ts";
import type { OutcomeCounts } from "./entities.ts";
import type { DomainError } from "./errors.ts";
import type { HistoryRequest } from "./history-request.ts";
import type { CreditSums } from "./ledger.ts";
import type { ChannelSort, ListRequest, UserSort } from "./lists.ts";
import type { PageRequest } from "./pagination.ts";
import type * as resources from "./resources/generated/types.ts";

/** The lines of an import that say nothing valid. */
export interface RejectionReport {
  /** The first 1,000 of them: the number of each, from 1, and why, for people. */
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
  /** How many were rejected for each cause: the reason without the value that a line had. */
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

/** The value that was found, or the error of a read that finds nothing. */
export type FoundOrError<Value> = Value | DomainError;

/** The result of a read: a body, beside which a store may say more. */
export type StoreRead<Body> = Promise<{ readonly body: Body }>;

/** A count of several entities by bucket. */
export interface Comparison extends Pick<resources.ChannelComparison, "rows" | "pagination"> {
  /** How each entity is called, in the order of the request. */
  readonly entities: readonly FoundOrError<string>[];
}

/**
 * Reads channels and shorts. A read rejects with the `DomainError` `Channel Not Found` or
 * `Short Not Found`.
 */
export interface VideoStore {
  /** Reads a page of channels. */
  channelPage(request: ListRequest<ChannelSort>): StoreRead<resources.ChannelList>;
  /** All channels: most subscribers first, unknown counts last, then by identifier. */
  channels(): StoreRead<resources.ChannelList>;
  /** Reads a channel, by identifier or username. */
  channel(name: string): StoreRead<resources.ChannelDetails>;
  /** Reads the channels of many names, in their order; of one that is not found, the error. */
  channelBatch(
    names: readonly string[],
  ): Promise<readonly FoundOrError<resources.ChannelDetails>[]>;
  /** Compares a count of several channels; of one that is not found, the error. */
  channelComparison(request: ComparisonRequest<"channel">): StoreRead<Comparison>;
  /** Reads a page of shorts, newest first. */
  shorts(name: string, request: ShortsRequest): StoreRead<resources.ShortsPage>;
  /** Reads a short with its history. */
  short(name: string, id: string): StoreRead<resources.ShortDetails>;
  /** Reads the history of a channel. */
  channelHistory(name: string, request: HistoryRequest): StoreRead<resources.ChannelHistory>;
  /** Reads the history of a short. */
  shortHistory(
    name: string,
    id: string,
    request: HistoryRequest,
  ): StoreRead<resources.ShortHistory>;
}

/**
 * Reads users and tweets. A read rejects with the `DomainError` `User Not Found`,
 * `Tweet Not Found` or `Page Out of Range`.
 */
export interface MicroblogStore {
  /** Reads a page of users. */
  userPage(request: ListRequest<UserSort>): StoreRead<resources.UserList>;
  /** Reads a user. */
  user(username: string): StoreRead<resources.UserDetails>;
  /** Reads the users of many usernames, in their order; of one that is not found, the error. */
  userBatch(usernames: readonly string[]): Promise<readonly FoundOrError<resources.UserDetails>[]>;
  /** Compares a count of several users; of one that is not found, the error. */
  userComparison(request: ComparisonRequest<"user">): StoreRead<Comparison>;
  /** Reads a page of tweets, newest first. */
  tweets(username: string, request: PageRequest, now: number): StoreRead<resources.TweetsPage>;
  /** Reads a page of follower counts, newest first. */
  followers(
    username: string,
    request: PageRequest,
    now: number,
  ): StoreRead<resources.FollowersPage>;
  /** Reads a tweet with its history. */
  tweet(username: string, id: string): StoreRead<resources.TweetDetails>;
  /** Reads the history of a user. */
  userHistory(username: string, request: HistoryRequest): StoreRead<resources.UserHistory>;
  /** Reads the history of a tweet. */
  tweetHistory(
    username: string,
    id: string,
    request: HistoryRequest,
  ): StoreRead<resources.TweetHistory>;
}

/** The result of adding or removing a creator. */
export interface CreatorChange {
  /** The creator in the spelling of the list. */
  readonly creator: string;
  /** Size of the list after the operation. */
  readonly total: number;
}

/** Stores the monitoring list. */
export interface CreatorStore {
  /**
   * Adds a creator.
   *
   * @throws {DomainError} `Creator Already Exists`, `Creator List Full`.
   */
  add(creator: Creator, now: number): Promise<CreatorChange>;
  /**
   * Removes a creator.
   *
   * @throws {DomainError} `Creator Not Found`.
   */
  remove(creator: Creator): Promise<CreatorChange>;
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

/** A grant of credits to an account, by its name. */
export interface CreditGrant {
  /** An id that is made before the grant, so that a retried grant applies once. */
  readonly id: string;
  /** The name of the account. */
  readonly account: string;
  /** Whole credits, 1 or more. */
  readonly amount: number;
  /** A name that grants once, such as an invoice. */
  readonly reference?: string | undefined;
  /** Why, for the statement. */
  readonly reason?: string | undefined;
}

/** The effect of a grant: `isNew` is false when it or its reference granted before. */
export interface GrantResult {
  /** Whether credits were granted. */
  readonly isNew: boolean;
  /** Credits that are left. */
  readonly balance: number;
}

/** The charge of one request. */
export interface CreditCharge extends RequestCharge {
  /** The name of the account. */
  readonly account: string;
}

/** The fields that the charges of one commit share. */
export interface ChargeBatch {
  /** Made before the commit, so that a commit that is retried applies once. */
  readonly id: string;
  /** When the requests came. */
  readonly now: number;
}

/** The decision of a store on one charge. `Debit` has the fields that it needs for a refund. */
export type DebitOutcome<Debit> =
  | { readonly kind: "charged"; readonly debit: Debit; readonly balance: number }
  /** The idempotency key paid for the same request before, and has a free repeat: nothing is debited. */
  | { readonly kind: "repeated"; readonly balance: number }
  /** The balance is too low. */
  | { readonly kind: "refused"; readonly balance: number }
  /** The idempotency key paid for another request. */
  | { readonly kind: "misused" };

/** Stores accounts, grants and debits. */
export interface CreditStore<Debit = unknown> {
  /**
   * Creates an account without credits.
   *
   * @throws {DomainError} `Conflict` when the name is taken.
   */
  createAccount(name: string, now: number): Promise<CreditAccount>;
  /**
   * Reads an account.
   *
   * @throws {DomainError} `Not Found`.
   */
  account(name: string): Promise<CreditAccount>;
  /**
   * Grants credits. A reference of an account grants once.
   *
   * @throws {DomainError} `Not Found`, `Conflict`, `Invalid Request`.
   */
  grant(grant: CreditGrant, now: number): Promise<GrantResult>;
  /**
   * Decides charges like `decideCharges()`, each account for itself, and commits those that are
   * covered, all or none. A charge of an account that does not exist is refused.
   *
   * @param charges No two with one idempotency key of one account, but those that have waited for the
   * request that paid with it.
   */
  debit(
    charges: readonly CreditCharge[],
    batch: ChargeBatch,
  ): Promise<{ readonly outcomes: readonly DebitOutcome<Debit>[] }>;
  /**
   * Gives a debit back; a second refund of it changes nothing. Its idempotency key can pay again.
   */
  refund(debit: Debit, id: string, reason: string, now: number): Promise<void>;
}
