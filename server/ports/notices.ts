/**
 * Interfaces of the notices about low balances: the outbox that holds them until a receiver has them.
 *
 * Instants are milliseconds since 1970 UTC; balances and thresholds are credits.
 */

/** A notice: a debit took the balance of an account below its threshold. */
export interface Notice {
  /** The same in every attempt to deliver it. */
  readonly id: string;
  /** The name of the account. */
  readonly account: string;
  /** After that debit. */
  readonly balance: number;
  readonly threshold: number;
  /** All credits granted to the account until that debit. */
  readonly granted: number;
  /** When the debit was committed. */
  readonly at: number;
  /** The attempts since the notice was last sent again by hand, the running one included. */
  readonly attempts: number;
  /** The next attempt; `null` if there is none. During one, when its claim ends. */
  readonly dueAt: number | null;
}

/** The id of a notice, as the trigger in low-balance.sql makes it. */
export const NOTICE_ID_PATTERN = /^msg_[0-9a-f]{32}$/;

/** What becomes of a notice: it is still tried, it was delivered, or it was given up. */
export const NOTICE_STATES = ["pending", "delivered", "failed"] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** A notice, and what became of it. */
export interface NoticeRecord extends Notice {
  readonly state: NoticeState;
  readonly deliveredAt: number | null;
  /** Why the last attempt failed. */
  readonly failure: string | null;
}

/** How many notices are not delivered. */
export interface NoticeCounts {
  /** Those whose next attempt is to come. */
  readonly pending: number;
  /** Those that were given up. */
  readonly failed: number;
}

/** Which notices a page has. */
export interface NoticeFilter {
  /** Only those about the account with this name. */
  readonly account?: string | undefined;
  readonly state?: NoticeState | undefined;
  /** Only those listed behind the notice with this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Lists notices, and lets them be sent again. */
export interface NoticeAdministration {
  /** The newest first. */
  list(filter: NoticeFilter): Promise<NoticeRecord[]>;
  countUndelivered(): Promise<NoticeCounts>;
  /**
   * Makes a notice due now that was given up or waits for its next attempt. Its attempts are
   * counted from 0 again.
   *
   * @throws {DomainError} `Not Found`; `Conflict` if it was delivered.
   */
  resend(id: string, now: number): Promise<NoticeRecord>;
}

/** Which notices to claim. */
export interface NoticeClaim {
  readonly now: number;
  /** A notice due later than this is due now: the clock was ahead when it was put off. */
  readonly latestDueAt: number;
  /** When a claim ends whose process ended. */
  readonly until: number;
  readonly limit: number;
}

/** The outbox of notices. */
export interface NoticeStore extends NoticeAdministration {
  /** Claims notices that are due. No other process gets them before the claim ends. */
  claim(claim: NoticeClaim): Promise<Notice[]>;
  markDelivered(id: string, now: number): Promise<void>;
  /**
   * Ends a claim whose notice was not delivered.
   *
   * @param attempt The next one: `null` gives the notice up. Without a failure, the attempt does not
   * count. It changes nothing if another claim began, or if the notice was made due meanwhile.
   */
  release(notice: Notice, attempt: Pick<NoticeRecord, "dueAt" | "failure">): Promise<void>;
  /** Deletes the notices that were delivered or given up before an instant. */
  deleteEndedBefore(instant: number): Promise<void>;
}
