/** Refunds debits, and cancels batches of debits whose commit got no response. */
import { PAYMENT_TTL_MS } from "../../../core/charges.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { AccountCharge } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { groupIntoRuns, serializeRuns } from "./charge-runs.ts";
import { SELECT_OUTCOMES, SELECT_PAYMENTS } from "./debit-sql.ts";
import { assignOutcomes } from "./debits.ts";
import { createRefundStatements, type DebitRefund } from "./refund-sql.ts";

const WRITE_OPTIONS = { durability: "configured", idempotent: true } as const;

/**
 * Refunds debits as one transaction, each once. Afterwards their idempotency keys can pay again. A
 * request that another process answered meanwhile, because the key counted as paid, stays free.
 */
export async function refundDebits(
  database: Database,
  refunds: readonly DebitRefund[],
  now: number,
): Promise<void> {
  if (refunds.length === 0) return;
  const statements = createRefundStatements(refunds, now);
  await writeNamed(database, statements, { ...WRITE_OPTIONS, inline: true });
}

/**
 * Makes sure that a batch whose commit got no response debits nothing: it can't be committed from
 * here on, and what it had committed is refunded.
 */
export async function cancelDebits(
  database: Database,
  charges: readonly AccountCharge[],
  uid: string,
  now: number,
): Promise<void> {
  const runs = serializeRuns(groupIntoRuns(charges));
  const { outcomes, payments, commit } = await writeNamed(
    database,
    {
      insertCancellation: {
        sql: "INSERT INTO cancellations (uid, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        args: [uid, now],
      },
      deleteExpired: {
        sql: "DELETE FROM cancellations WHERE at <= ?",
        // Its charges could pay again from then on.
        args: [now - PAYMENT_TTL_MS],
      },
      outcomes: { sql: SELECT_OUTCOMES, args: [runs, uid] },
      payments: { sql: SELECT_PAYMENTS, args: [runs, 0] },
      commit: { sql: "SELECT at FROM journal WHERE uid = ? LIMIT 1", args: [uid] },
    },
    WRITE_OPTIONS,
  );
  const hour = Math.floor(Number(commit[0]?.["at"] ?? 0) / HOUR_MS);
  // A key with another payment did not pay in this batch, however many repeats it has had since.
  const waited = charges.map((charge) => Object.assign({}, charge, { hasWaited: true }));
  const decided = assignOutcomes(waited, { uid, hour }, outcomes, payments);
  const refunds = decided.flatMap((outcome) => {
    if (outcome.kind !== "charged") return [];
    const refundUid = `${uid}/${outcome.debit.account}/${outcome.debit.index}`;
    return [{ uid: refundUid, debit: outcome.debit, reason: "Its commit was not answered" }];
  });
  // In one transaction: after some of them an idempotency key could pay again, and then the indexes
  // of the other debits would shift.
  await refundDebits(database, refunds, now);
}
