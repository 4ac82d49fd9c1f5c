/**
 * The outbox of notices about low balances. A trigger fills it in the transaction of a debit, so a
 * notice exists exactly if its debit does. A claim is one statement, so that of many processes on a
 * server only one sends a notice.
 */
import type { Row } from "@libsql/client";
import { DomainError } from "../../../core/errors.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import { NOTICE_STATES, type NoticeState } from "../../stored-names.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";

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

export interface NoticeRecord extends Notice {
  readonly state: NoticeState;
  readonly deliveredAt: number | null;
  /** Why the last attempt failed. */
  readonly failure: string | null;
}

interface NoticeFilter {
  /** Only those about the account with this name. */
  readonly account?: string | undefined;
  readonly state?: NoticeState | undefined;
  /** Only those listed behind the notice with this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

interface NoticeClaim {
  readonly now: number;
  /** A notice due later than this is due now: the clock was ahead when it was put off. */
  readonly latestDueAt: number;
  /** When a claim ends whose process ended. */
  readonly until: number;
  readonly limit: number;
}

const SELECT_DUE = `
  SELECT id
  FROM notices
  WHERE delivered_at IS NULL AND (due_at <= ?1 OR due_at > ?2)
  ORDER BY due_at
  LIMIT ?3`;

const CLAIM = `
  UPDATE notices
  SET attempts = attempts + 1, attempted_at = ?1, due_at = ?4
  WHERE id IN (${SELECT_DUE})
  RETURNING
    id,
    (SELECT name FROM accounts WHERE accounts.id = notices.account) AS account,
    balance,
    threshold,
    granted,
    at,
    attempts,
    due_at`;

const MARK_DELIVERED = `
  UPDATE notices
  SET delivered_at = ?, due_at = NULL, failure = NULL
  WHERE id = ?`;

// Another claim, and MAKE_DUE, change the number of attempts and when the notice is due.
const RELEASE = `
  UPDATE notices
  SET due_at = ?, failure = ifnull(?, failure), attempts = attempts - ?
  WHERE id = ? AND attempts = ? AND due_at = ? AND delivered_at IS NULL`;

// An attempt that runs meanwhile may deliver the notice, too: receivers ignore an id they have seen.
const MAKE_DUE = `
  UPDATE notices
  SET due_at = ?, attempts = 0
  WHERE id = ? AND delivered_at IS NULL`;

// Counted from the last attempt: a notice may have waited longer for its first one.
const DELETE_ENDED = `
  DELETE FROM notices
  WHERE due_at IS NULL AND ifnull(attempted_at, at) < ?`;

const SELECT_RECORDS = `
  SELECT *
  FROM (
    SELECT
      notices.id,
      accounts.name AS account,
      notices.balance,
      threshold,
      notices.granted,
      at,
      attempts,
      due_at,
      delivered_at,
      failure,
      CASE
        WHEN delivered_at IS NOT NULL THEN 'delivered'
        WHEN due_at IS NULL THEN 'failed'
        ELSE 'pending'
      END AS state
    FROM notices
    JOIN accounts ON accounts.id = notices.account
  )`;

const SELECT_ONE = `${SELECT_RECORDS} WHERE id = ?`;

// If the notice ?3 is deleted meanwhile, so are those behind it, which are older.
const SELECT_PAGE = `
  ${SELECT_RECORDS}
  WHERE (?1 IS NULL OR account = ?1)
    AND (?2 IS NULL OR state = ?2)
    AND (?3 IS NULL OR (at, id) < (SELECT at, id FROM notices WHERE id = ?3))
  ORDER BY at DESC, id DESC
  LIMIT ?4`;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

/** Creates the outbox in a database. Instants are milliseconds since 1970 UTC. */
export function createNoticeStore(database: Database) {
  return {
    /** Claims notices that are due. No other process gets them before the claim ends. */
    async claim({ now, latestDueAt, until, limit }: NoticeClaim) {
      // Most of the time nothing is due: then it is not worth a write.
      const due = await database.queryRows({ sql: SELECT_DUE, args: [now, latestDueAt, 1] });
      if (due.length === 0) return [];
      const [claimed] = await database.write([
        { sql: CLAIM, args: [now, latestDueAt, limit, until] },
      ]);
      return claimed?.rows.map(toNotice) ?? [];
    },

    async markDelivered(id: string, now: number) {
      await database.write([{ sql: MARK_DELIVERED, args: [now, id] }], { idempotent: true });
    },

    /**
     * Ends a claim whose notice was not delivered. It changes nothing if another claim began, or if
     * the notice was made due meanwhile.
     *
     * @param attempt The next one: a `dueAt` of `null` gives the notice up. Without a failure, the
     * attempt does not count.
     */
    async release(
      { id, attempts, dueAt: claimedUntil }: Notice,
      { dueAt, failure }: Pick<NoticeRecord, "dueAt" | "failure">,
    ) {
      const uncounted = failure === null ? 1 : 0;
      const args = [dueAt, failure, uncounted, id, attempts, claimedUntil];
      await database.write([{ sql: RELEASE, args }]);
    },

    /** Deletes the notices that were delivered or given up before an instant. */
    async deleteEndedBefore(instant: number) {
      await database.write([{ sql: DELETE_ENDED, args: [instant] }], { idempotent: true });
    },

    /** Lists notices, the newest first. */
    async list({ account, state, after, limit }: NoticeFilter) {
      const rows = await database.queryRows({
        sql: SELECT_PAGE,
        args: [account ?? null, state ?? null, after ?? null, limit],
      });
      return rows.map(toRecord);
    },

    /**
     * Makes a notice due now that was given up or waits for its next attempt. Its attempts are
     * counted from 0 again.
     *
     * @throws {DomainError} `Not Found`; `Conflict` if it was delivered.
     */
    async resend(id: string, now: number) {
      const { before, after } = await writeNamed(
        database,
        {
          before: { sql: SELECT_ONE, args: [id] },
          update: { sql: MAKE_DUE, args: [now, id] },
          after: { sql: SELECT_ONE, args: [id] },
        },
        { idempotent: true },
      );
      if (before[0] === undefined || after[0] === undefined) {
        throw new DomainError("Not Found", `There is no notice ${id}`);
      }
      const { state, deliveredAt } = toRecord(before[0]);
      if (state === "delivered") {
        const at = formatInstantOrNull(deliveredAt);
        throw new DomainError("Conflict", `The notice ${id} was delivered at ${at}`);
      }
      return toRecord(after[0]);
    },

    /** Counts the notices whose next attempt is to come, and those that were given up. */
    async countUndelivered() {
      const [row] = await database.queryRows(`
        SELECT count(due_at) AS pending, count(*) - count(due_at) AS failed
        FROM notices
        WHERE delivered_at IS NULL`);
      return { pending: Number(row?.["pending"]), failed: Number(row?.["failed"]) };
    },
  };
}

function toNotice(row: Row): Notice {
  return {
    id: String(row["id"]),
    account: String(row["account"]),
    balance: Number(row["balance"]),
    threshold: Number(row["threshold"]),
    granted: Number(row["granted"]),
    at: Number(row["at"]),
    attempts: Number(row["attempts"]),
    dueAt: toNumberOrNull(row["due_at"]),
  };
}

function toRecord(row: Row): NoticeRecord {
  const { delivered_at: deliveredAt, failure, state } = row;
  const found = NOTICE_STATES.find((name) => name === state);
  if (found === undefined) throw new Error(`There is no state ${state}`);
  return {
    ...toNotice(row),
    state: found,
    deliveredAt: toNumberOrNull(deliveredAt),
    failure: typeof failure === "string" ? failure : null,
  };
}

const toNumberOrNull = (value: unknown) => (typeof value === "number" ? value : null);
