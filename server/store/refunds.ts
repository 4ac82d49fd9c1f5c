/** Debits that are given back. */
import type { InValue } from "@libsql/client";
import type { Charge } from "../../core/credits.ts";
import type { Database } from "./database.ts";
import { OUTCOMES, PAYMENTS } from "./debit-statements.ts";
import { decide, HOUR_MS, REMEMBERED_MS, runsOf, type Debit } from "./debits.ts";

/** Gives a debit back, once; its idempotency key can pay again. */
export async function refundDebit(
  database: Database,
  { uid: debit, account, place, cost, key, endpoint, hour, name }: Debit,
  uid: string,
  reason: string,
  now: number,
): Promise<void> {
  const used: InValue[] = [account, hour, key, endpoint];
  await database.write(
    [
      {
        sql:
          "INSERT INTO journal (uid, account, kind, amount, at, debit, place, reason) " +
          "SELECT ?, account, 'refund', ?, ?, uid, ?, ? FROM journal " +
          "WHERE uid = ? AND account = ? AND kind = 'debit' ON CONFLICT DO NOTHING",
        args: [uid, cost, now, place, reason, debit, account],
      },
      {
        sql:
          "UPDATE accounts SET refunded = refunded + ?, balance = balance + ? " +
          "WHERE id = ? AND changes() = 1",
        args: [cost, cost, account],
      },
      {
        sql:
          "UPDATE usage SET refunded = refunded + ? " +
          "WHERE account = ? AND hour = ? AND key = ? AND endpoint = ? AND changes() = 1",
        args: [cost, ...used],
      },
      {
        sql: "DELETE FROM payments WHERE account = ? AND name = ? AND debit = ? AND changes() = 1",
        args: [account, name ?? null, debit],
      },
    ],
    { isRelaxed: true, isRepeatable: true },
  );
}

/**
 * Sees to it that a group whose commit failed without an answer takes nothing: from here on it
 * cannot be committed, and what was is given back.
 */
export async function withdrawDebits(
  database: Database,
  waiting: readonly Charge[],
  uid: string,
  now: number,
): Promise<void> {
  const runs = JSON.stringify(runsOf(waiting));
  const [, , outcomes, entry, payments] = await database.write(
    [
      {
        sql: "INSERT INTO withdrawals (uid, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        args: [uid, now],
      },
      { sql: "DELETE FROM withdrawals WHERE at <= ?", args: [now - REMEMBERED_MS] },
      { sql: OUTCOMES, args: [runs, uid] },
      { sql: "SELECT at FROM journal WHERE uid = ? LIMIT 1", args: [uid] },
      { sql: PAYMENTS, args: [runs, 0] },
    ],
    { isRelaxed: true, isRepeatable: true },
  );
  const hour = Math.floor(Number(entry?.rows[0]?.["at"] ?? 0) / HOUR_MS);
  for (const outcome of decide(
    waiting,
    { uid, hour },
    outcomes?.rows ?? [],
    payments?.rows ?? [],
  )) {
    if (outcome.kind !== "charged") continue;
    const refund = `${uid}/${outcome.debit.account}/${outcome.debit.place}`;
    await refundDebit(database, outcome.debit, refund, "Its commit was not answered", now);
  }
}
