/**
 * Interfaces of the credit ledger: debits and refunds, accounts, grants, statements, API keys.
 *
 * All instants (`now`, `at`, `createdAt`) are milliseconds since 1970 UTC; amounts are credits.
 */
import type {
  CreditAccount,
  AccountCharge,
  ChargeBatch,
  CreditStore,
  DebitOutcome,
} from "../../core/stores.ts";
import type { DayRange, UsageGrouping } from "../../core/usage.ts";
import type { ChangeSet } from "./caching.ts";

/** The reason of a refund of a read whose client left before its response. */
export const CLOSED_CONNECTION_REASON = "The connection closed before the answer";

/** Proof of a committed charge. */
export interface Receipt {
  /** 0 if an earlier request paid with the same idempotency key. */
  readonly cost: number;
  /** The account's balance after the charge. */
  readonly balance: number;
  /** The number of the last change when the charge was committed. */
  readonly changeSequence: number;
}

/** A committed debit, as a refund names it. */
export interface Debit {
  /** Identifies the batch that committed it. */
  readonly uid: string;
  readonly account: number;
  /** Its index among the debits of its batch and account. */
  readonly index: number;
  readonly cost: number;
  readonly key: number;
  readonly endpoint: string;
  /** Counted from 1970 UTC. */
  readonly hour: number;
  /** The idempotency key that it paid for. */
  readonly idempotencyKey?: string | undefined;
}

/** A refund of a debit. Applying it again changes nothing. */
export interface DebitRefund {
  /** Made before the refund. */
  readonly uid: string;
  readonly debit: Debit;
  /** Why, for the statement. */
  readonly reason: string;
}

/** What the charges of one commit have in common, and the refunds that it takes along. */
export interface DebitBatch extends ChargeBatch {
  /** Committed with the charges, or not at all. The charges are decided without them. */
  readonly refunds?: readonly DebitRefund[];
  /** The last change that the caller knows of; without it, no changes are listed. */
  readonly since?: number | undefined;
}

/** The outcomes of a batch, in the order of its charges, and what changed before it. */
export interface DebitBatchResult {
  readonly outcomes: readonly DebitOutcome<Debit>[];
  readonly changes: ChangeSet;
}

/** Decides and commits debits. */
export interface DebitLedger {
  debit(charges: readonly AccountCharge[], batch: DebitBatch): Promise<DebitBatchResult>;
  /** Gives debits back, all or none. */
  refundAll(refunds: readonly DebitRefund[], now: number): Promise<void>;
  /** Whether a commit that failed with this error debited nothing for certain. */
  isRolledBack(error: unknown): boolean;
  /** Makes sure that a batch whose commit failed debits nothing, now or later. */
  cancel(charges: readonly AccountCharge[], uid: string, now: number): Promise<void>;
}

/** Charges requests. Each receipt is either completed or refunded. */
export interface DebitQueue {
  /**
   * Charges a request; resolves once its debit is committed.
   *
   * @param signal Aborts when the client leaves. A debit that is not committed by then is dropped.
   * @throws {DomainError} `Insufficient Credits`; `Invalid Request` for an idempotency key that paid
   * for another request; `Service Unavailable` when the debit cannot be committed in time. Nothing
   * stays debited then. For a dropped debit, it rejects with the reason of the signal.
   */
  debit(charge: AccountCharge, signal?: AbortSignal): Promise<Receipt>;
  /** Keeps the debit: the request was answered with a status. */
  complete(receipt: Receipt, status: number): void;
  /** Gives the debit back: the request could not be answered. */
  refund(receipt: Receipt, reason: string): Promise<void>;
}

/** What became of a file of refunds that an earlier process left; counts are of requests. */
export interface RecoveredFile {
  readonly file: string;
  /** Refunded, or never debited. */
  readonly settled: number;
  /** Still to be refunded. */
  readonly left: number;
  /** Why some are left, and what else the file holds. */
  readonly problems: readonly string[];
}

/**
 * A line of an account's statement: a grant, or of an hour the refunds with one reason, or the debits
 * of one key and endpoint.
 */
export interface StatementLine {
  /** Counted from 1970 UTC. */
  readonly hour: number;
  readonly kind: "grant" | "refund" | "debit";
  /** The instant of a grant; of debits and refunds the start of their hour. */
  readonly at: number;
  /** Of debits: the key, its first characters and its label. */
  readonly key: number | null;
  readonly beginsWith: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
  /** Of debits and refunds: how many requests. */
  readonly requests: number | null;
  readonly amount: number;
  /** After this line. */
  readonly balance: number;
  /** Of a grant. */
  readonly reference: string | null;
  readonly reason: string | null;
}

/** The hours that a statement covers, counted from 1970 UTC; `until` is excluded. */
export interface StatementRange {
  readonly since: number;
  readonly until: number;
}

/** Some hours of a statement. */
export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** Where the next page starts; `undefined` if there is none. */
  readonly nextHour: number | undefined;
}

/** An account as administrators see it. */
export interface AdministeredAccount extends CreditAccount {
  /** A balance below it is worth a notice; `null` for no notices. */
  readonly lowBalance: number | null;
}

/** An account, and what it used in a range of days. */
export interface UsedAccount extends AdministeredAccount {
  /** The credits of its charged requests, without those that were refunded. */
  readonly used: number;
}

/** Administers accounts. */
export interface AccountLedger extends Pick<CreditStore<Debit>, "grant"> {
  /**
   * Creates an account, and grants its first credits with it.
   *
   * @throws {DomainError} `Conflict` when the name is taken.
   */
  createAccount(name: string, now: number, credits?: number): Promise<AdministeredAccount>;
  /**
   * All accounts, by name, or only the one with a name.
   *
   * @param days The days whose use is summed up.
   */
  accounts(days: DayRange, name?: string): Promise<UsedAccount[]>;
  /** @throws {DomainError} `Not Found`. */
  account(name: string): Promise<AdministeredAccount>;
  /**
   * Sets the threshold of notices about a low balance.
   *
   * @param threshold In credits; `null` for no notices: it deletes those that are pending.
   * @throws {DomainError} `Not Found`.
   */
  setLowBalance(name: string, threshold: number | null): Promise<void>;
  /**
   * The lines of the first hours of a range: about `limit` lines, of whole hours. Within an hour the
   * grants come first, then the refunds, then the debits.
   */
  statement(name: string, range: StatementRange, limit: number): Promise<StatementPage>;
}

/** How requests ended that were charged; a failed one was refunded. */
export interface StatusCounts {
  readonly ok: number;
  readonly notModified: number;
  readonly notFound: number;
  readonly failed: number;
}

/** How some requests of a debit's account, key, endpoint and hour ended. */
export interface StatusUpdate
  extends StatusCounts, Pick<Debit, "account" | "key" | "endpoint" | "hour"> {}

/** Records how charged requests ended. */
export interface StatusLedger {
  /** Adds to the usage. It is not retried: after an error, it may or may not have added. */
  addStatuses(updates: readonly StatusUpdate[]): Promise<void>;
}

/** The usage of a group. */
export interface UsageGroup extends StatusCounts {
  /** Days or hours since 1970 UTC; `null` if it is not grouped by them. */
  readonly period: number | null;
  readonly key: number | null;
  readonly beginsWith: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
  readonly requests: number;
  readonly credits: number;
  readonly refunded: number;
}

/** Reads the account of a caller. */
export interface AccountReads {
  accountOf(id: number): Promise<Pick<CreditAccount, "name" | "balance">>;
  /** The groups with use, in order, at most `limit`. */
  usage(
    account: number,
    days: DayRange,
    grouping: UsageGrouping,
    limit: number,
  ): Promise<readonly UsageGroup[]>;
}

/** An account whose journal and sums disagree, and how. */
export interface LedgerFault {
  readonly account: string;
  readonly problem: string;
}

/** Folds old entries of the journal step by step; yields how many each step folded. */
export type JournalFold = AsyncGenerator<number, number>;

/** The result of a check of all accounts. */
export interface LedgerVerification {
  readonly accounts: number;
  /** Folded ones too. */
  readonly entries: number;
  readonly faults: readonly LedgerFault[];
}
