/**
 * The outbox of notices about low balances. A trigger fills it in the transaction of a debit, so a
 * notice exists exactly if its debit does. A claim is one statement, so that of many processes on a
 * server only one sends a notice.
 */
import type { Row } from "@libsql/client";
import { sql } from "drizzle-orm";
import type { Notice, NoticeRecord, NoticeStore } from "../../ports/notices.ts";
import type { Database } from "../database/database.ts";

const SELECT_DUE = `
  SELECT id
  FROM notices
  WHERE delivered_at IS NULL AND due_at <= ?
  ORDER BY due_at
  LIMIT ?`;

const CLAIM = `
  UPDATE notices
  SET attempts = attempts + 1, due_at = ?
  WHERE id IN (${SELECT_DUE})
  RETURNING
    id,
    (SELECT name FROM accounts WHERE accounts.id = notices.account) AS account,
    balance,
    threshold,
    at,
    attempts`;

const MARK_DELIVERED = `
  UPDATE notices
  SET delivered_at = ?, due_at = NULL, failure = NULL
  WHERE id = ?`;

// The number of the attempt says whether the claim is still the caller's.
const RELEASE = `
  UPDATE notices
  SET due_at = ?, failure = ifnull(?, failure), attempts = attempts - ?
  WHERE id = ? AND attempts = ? AND delivered_at IS NULL`;

/** Creates the outbox in a database. */
export function createNoticeStore(database: Database): NoticeStore {
  return {
    async claim({ now, until, limit }) {
      // Most of the time nothing is due: then it is not worth a write.
      const due = await database.queryRows({ sql: SELECT_DUE, args: [now, 1] });
      if (due.length === 0) return [];
      const [claimed] = await database.write([{ sql: CLAIM, args: [until, now, limit] }]);
      return claimed?.rows.map(toNotice) ?? [];
    },

    async markDelivered(id, now) {
      await database.write([{ sql: MARK_DELIVERED, args: [now, id] }], { idempotent: true });
    },

    async release({ id, attempts }, { dueAt, failure }) {
      const uncounted = failure === null ? 1 : 0;
      await database.write([{ sql: RELEASE, args: [dueAt, failure, uncounted, id, attempts] }]);
    },

    async deleteBefore(instant) {
      const statement = { sql: "DELETE FROM notices WHERE at < ?", args: [instant] };
      await database.write([statement], { idempotent: true });
    },

    list: (limit) =>
      database.query((drizzle) =>
        drizzle.all<NoticeRecord>(sql`
          SELECT
            notices.id,
            accounts.name AS account,
            notices.balance,
            threshold,
            at,
            attempts,
            due_at AS dueAt,
            delivered_at AS deliveredAt,
            failure
          FROM notices
          JOIN accounts ON accounts.id = notices.account
          ORDER BY delivered_at IS NOT NULL, at DESC, notices.id
          LIMIT ${limit}`),
      ),

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
    at: Number(row["at"]),
    attempts: Number(row["attempts"]),
  };
}
