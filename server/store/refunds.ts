/** Debits that are given back. */
import type { InValue } from "@libsql/client";
import type { Charge } from "../../core/credits.ts";
import { HOUR_MS } from "../../core/time.ts";
import type { Statement } from "./connection.ts";
import type { Database } from "./database.ts";
import { OUTCOMES, PAYMENTS } from "./debit-statements.ts";
import { decide, REMEMBERED_MS, runsOf, type Debit } from "./debits.ts";

/**
 * Gives a debit back, once; its idempotency key can pay again. A request of that key that another
 * process answered meanwhile, because it was paid, stays without a debit.
 */
export async function refundDebit(
  database: Database,
  debit: Debit,
  uid: string,
  reason: string,
  now: number,
): Promise<void> {
  await database.write(refundOf(debit, uid, reason, now), { isRelaxed: true, isRepeatable: true });
}

function refundOf(
  { uid: debit, account, place, cost, key, endpoint, hour, name }: Debit,
  uid: string,
  reason: string,
  now: number,
): Statement[] {
  const used: InValue[] = [account, hour, key, endpoint];
  return [
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
  ];
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
  const decided = decide(waiting, { uid, hour }, outcomes?.rows ?? [], payments?.rows ?? []);
  // All at once: after a part of it an idempotency key could pay again, and the places shift.
  const refunds = decided.flatMap((outcome) => {
    if (outcome.kind !== "charged") return [];
    const refund = `${uid}/${outcome.debit.account}/${outcome.debit.place}`;
    return refundOf(outcome.debit, refund, "Its commit was not answered", now);
  });
  if (refunds.length > 0) await database.write(refunds, { isRelaxed: true, isRepeatable: true });
}
