/**
 * The outbox of notices about low balances. A trigger fills it in the transaction of a debit, so a
 * notice exists exactly if its debit does. A claim is one statement, so that of many processes on a
 * server only one sends a notice. Instants are milliseconds since 1970 UTC.
 */
import { and, desc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { SqliteRemoteDatabase } from "drizzle-orm/sqlite-proxy";
import { DomainError } from "../../../core/errors.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { NoticeState } from "../../stored-names.ts";
import type { Database } from "../database/database.ts";
import { accounts, notices } from "../tables/account-tables.ts";

/** A notice, with the name of its account: a debit took the balance below the threshold. */
interface Notice extends Omit<typeof notices.$inferSelect, "account" | "attemptedAt"> {
  readonly account: string;
}

interface NoticeFilter {
  readonly account?: string | undefined;
  readonly state?: NoticeState | undefined;
  /** Only those listed behind the notice with this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

const STATE = sql<NoticeState>`
  CASE
    WHEN ${notices.deliveredAt} IS NOT NULL THEN 'delivered'
    WHEN ${notices.dueAt} IS NULL THEN 'failed'
    ELSE 'pending'
  END`;

const { attemptedAt: _, ...COLUMNS } = getTableColumns(notices);

const ACCOUNT_NAME = sql<string>`(SELECT name FROM accounts WHERE accounts.id = notices.account)`;

// Another claim, and MAKE_DUE, change the number of attempts and when the notice is due.
const RELEASE = `
  UPDATE notices
  SET due_at = ?, failure = ifnull(?, failure), attempts = attempts - ?
  WHERE id = ? AND attempts = ? AND due_at = ? AND delivered_at IS NULL`;

// An attempt that runs meanwhile may deliver the notice, too: receivers ignore an id they have
// seen.
const MAKE_DUE = `
  UPDATE notices
  SET due_at = ?, attempts = 0
  WHERE id = ? AND delivered_at IS NULL`;

export type NoticeStore = ReturnType<typeof createNoticeStore>;

export function createNoticeStore(database: Database) {
  const { query } = database;
  return {
    claim: claimNotices.bind(null, database),

    async markDelivered(id: string, now: number) {
      const update =
        "UPDATE notices SET delivered_at = ?, due_at = NULL, failure = NULL WHERE id = ?";
      await database.write([{ sql: update, args: [now, id] }], { idempotent: true });
    },

    /**
     * Ends a claim whose notice was not delivered. It changes nothing if another claim began, or if
     * the notice was made due meanwhile. It gives the notice up if no next attempt is due. Without
     * a failure, this attempt does not count.
     */
    async release(claimed: Notice, next: Pick<Notice, "dueAt" | "failure">) {
      const { id, attempts, dueAt: claimedUntil } = claimed;
      const uncounted = next.failure === null ? 1 : 0;
      const args = [next.dueAt, next.failure, uncounted, id, attempts, claimedUntil];
      await database.write([{ sql: RELEASE, args }]);
    },

    /** Deletes the notices that were delivered or given up before an instant. */
    async deleteEndedBefore(instant: number) {
      // Counted from the last attempt: a notice may have waited longer for its first one.
      const remove = "DELETE FROM notices WHERE due_at IS NULL AND ifnull(attempted_at, at) < ?";
      await database.write([{ sql: remove, args: [instant] }], { idempotent: true });
    },

    list: ({ account, state, after, limit }: NoticeFilter) =>
      query((drizzle) =>
        selectRecords(drizzle)
          .where(
            and(
              account === undefined ? undefined : eq(accounts.name, account),
              state === undefined ? undefined : eq(STATE, state),
              // If that notice is deleted meanwhile, so are those behind it, which are older.
              after === undefined
                ? undefined
                : sql`(${notices.at}, ${notices.id}) < (SELECT at, id FROM notices WHERE id = ${after})`,
            ),
          )
          .orderBy(desc(notices.at), desc(notices.id))
          .limit(limit),
      ),

    /** Makes a notice due now, with no attempts; throws `Conflict` if it was delivered. */
    async resend(id: string, now: number) {
      await database.write([{ sql: MAKE_DUE, args: [now, id] }], { idempotent: true });
      const [notice] = await query((drizzle) => selectRecords(drizzle).where(eq(notices.id, id)));
      if (notice === undefined) throw new DomainError("Not Found", `There is no notice ${id}`);
      if (notice.state !== "delivered") return notice;
      const at = formatInstantOrNull(notice.deliveredAt);
      throw new DomainError("Conflict", `The notice ${id} was delivered at ${at}`);
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

function selectRecords(drizzle: SqliteRemoteDatabase) {
  return drizzle
    .select({ ...COLUMNS, account: accounts.name, state: STATE })
    .from(notices)
    .innerJoin(accounts, eq(accounts.id, notices.account));
}

interface NoticeClaim {
  readonly now: number;
  /** A notice due later than this is due now: the clock was ahead when it was put off. */
  readonly latestDueAt: number;
  /** When a claim ends whose process ended. */
  readonly until: number;
  readonly limit: number;
}

/** Claims notices that are due. No other process gets them before the claim ends. */
async function claimNotices(
  { query }: Database,
  { now, latestDueAt, until, limit }: NoticeClaim,
): Promise<Notice[]> {
  const selectDue = (max: number) => sql`
    SELECT id
    FROM notices
    WHERE delivered_at IS NULL AND (due_at <= ${now} OR due_at > ${latestDueAt})
    ORDER BY due_at
    LIMIT ${max}`;
  // Most of the time nothing is due: then it is not worth a write.
  const due = await query((drizzle) => drizzle.all(selectDue(1)));
  if (due.length === 0) return [];
  return query((drizzle) =>
    drizzle
      .update(notices)
      .set({ attempts: sql`attempts + 1`, attemptedAt: now, dueAt: until })
      .where(inArray(notices.id, sql`(${selectDue(limit)})`))
      .returning({ ...COLUMNS, account: ACCOUNT_NAME }),
  );
}
