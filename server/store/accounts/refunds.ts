/** Debits that are given back. */
import type { InValue } from "@libsql/client";
import { HOUR_MS } from "../../../core/time.ts";
import type { Database, Statement } from "../database/database.ts";
import { SELECT_OUTCOMES, SELECT_PAYMENTS } from "./debit-sql.ts";
import type { Debit, Charge } from "../../ports/ledger.ts";
import { assignOutcomes, IDEMPOTENCY_TTL_MS, groupIntoRuns } from "./debits.ts";

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
  await database.write(createRefundStatements(debit, uid, reason, now), {
    durability: "configured",
    idempotent: true,
  });
}

function createRefundStatements(
  { uid: debit, account, place, cost, key, endpoint, hour, name }: Debit,
  uid: string,
  reason: string,
  now: number,
): Statement[] {
  const usageKey: InValue[] = [account, hour, key, endpoint];
  return [
    {
      sql:
        "INSERT INTO journal (uid, account, kind, amount, at, debit, debit_index, reason) " +
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
      args: [cost, ...usageKey],
    },
    {
      sql: "DELETE FROM payments WHERE account = ? AND idempotency_key = ? AND debit = ? AND changes() = 1",
      args: [account, name ?? null, debit],
    },
  ];
}

/**
 * Sees to it that a group whose commit failed without an answer takes nothing: from here on it
 * cannot be committed, and what was is given back.
 */
export async function cancelDebits(
  database: Database,
  charges: readonly Charge[],
  uid: string,
  now: number,
): Promise<void> {
  const runs = JSON.stringify(groupIntoRuns(charges));
  const [, , outcomes, entry, payments] = await database.write(
    [
      {
        sql: "INSERT INTO cancellations (uid, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        args: [uid, now],
      },
      { sql: "DELETE FROM cancellations WHERE at <= ?", args: [now - IDEMPOTENCY_TTL_MS] },
      { sql: SELECT_OUTCOMES, args: [runs, uid] },
      { sql: "SELECT at FROM journal WHERE uid = ? LIMIT 1", args: [uid] },
      { sql: SELECT_PAYMENTS, args: [runs, 0] },
    ],
    { durability: "configured", idempotent: true },
  );
  const hour = Math.floor(Number(entry?.rows[0]?.["at"] ?? 0) / HOUR_MS);
  const decided = assignOutcomes(
    charges,
    { uid, hour },
    outcomes?.rows ?? [],
    payments?.rows ?? [],
  );
  // All at once: after a part of it an idempotency key could pay again, and the places shift.
  const refunds = decided.flatMap((outcome) => {
    if (outcome.kind !== "charged") return [];
    const refund = `${uid}/${outcome.debit.account}/${outcome.debit.place}`;
    return createRefundStatements(outcome.debit, refund, "Its commit was not answered", now);
  });
  if (refunds.length > 0)
    await database.write(refunds, { durability: "configured", idempotent: true });
}
