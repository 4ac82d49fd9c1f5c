/**
 * Commits debits: charges that wait together are decided and committed as one transaction.
 *
 * A run of equal charges is covered as far as the balance reaches after the runs before it, so each
 * charge is decided as if it came alone, in its order: one that costs too much leaves the balance to
 * those behind it. A charge whose idempotency key paid before costs nothing.
 */
import type { Row } from "@libsql/client";
import { decideCharge, type Payment } from "../../../core/charges.ts";
import { assertCreditAmount } from "../../../core/ledger.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { CreditStore, DebitOutcome } from "../../../core/stores.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { parseChanges } from "../history/change-log.ts";
import type { AccountCharge } from "./charge-runs.ts";
import { createCommitStatements } from "./debit-sql.ts";
import { createRefundStatements, type Debit, type DebitRefund } from "./refunds.ts";

type DebitBatch = Parameters<CreditStore["debit"]>[1] & {
  /** Committed with the charges, or not at all. The charges are decided without them. */
  readonly refunds?: readonly DebitRefund[];
  /** The last change that the caller knows of; without it, no changes are listed. */
  readonly since?: number | undefined;
};

/** The outcomes of a batch, in the order of its charges, and the changes before it. */
export type DebitBatchResult = Awaited<ReturnType<typeof commitDebits>>;

/**
 * Decides charges, in their order, and commits those that the balances cover.
 *
 * @param charges No two with one idempotency key of one account, but those that have waited.
 * @throws {DomainError} `Invalid Request` for a cost that is no whole number from 1.
 */
export async function commitDebits(
  database: Database,
  charges: readonly AccountCharge[],
  { id: uid, now, since, refunds = [] }: DebitBatch,
) {
  for (const { cost } of charges) assertCreditAmount(cost);
  const hour = Math.floor(now / HOUR_MS);
  const { outcomes, changes, payments } = await writeNamed(
    database,
    {
      ...createCommitStatements(charges, uid, now, since),
      // Last: no charge is decided on credits that it gives back.
      ...(refunds.length === 0 ? undefined : createRefundStatements(refunds, now)),
    },
    { durability: "configured", idempotent: true, inline: true },
  );
  return {
    outcomes: assignOutcomes(charges, { uid, hour }, outcomes, payments ?? []),
    changes: parseChanges(changes[0], since),
  };
}

/** A row of `SELECT_PAYMENTS` as it was before a batch, which may have counted a repeat. */
function toPayment(row: Row, uid: string): Payment {
  const repeats = Number(row["repeats"]) - (row["repeated_by"] === uid ? 1 : 0);
  return { fingerprint: String(row["request_hash"]), repeats };
}

/** Assigns each charge the outcome that the statements decided, from the rows that they selected. */
export function assignOutcomes(
  charges: readonly AccountCharge[],
  { uid, hour }: { readonly uid: string; readonly hour: number },
  outcomes: readonly Row[],
  paymentRows: readonly Row[],
): DebitOutcome<Debit>[] {
  const accounts = new Map(
    outcomes.map(({ account, balance, amount }) => [
      Number(account),
      // The balance after the whole batch, and the debited credits without a charge yet.
      { balance: Number(balance), left: Number(amount), debitCount: 0 },
    ]),
  );
  const payments = new Map(
    paymentRows
      .filter(({ debit }) => debit !== uid)
      .map((row) => [`${row["account"]} ${row["idempotency_key"]}`, toPayment(row, uid)]),
  );
  return charges.map((charge) => {
    const { account, cost, key, endpoint, idempotencyKey } = charge;
    const coverage = accounts.get(account);
    if (coverage === undefined) return { kind: "refused", balance: 0 };
    const payment = idempotencyKey && payments.get(`${account} ${idempotencyKey.value}`);
    const kind = decideCharge(coverage.left, charge, payment);
    if (kind === "misused") return { kind };
    if (kind !== "charged") return { kind, balance: coverage.balance + coverage.left };
    coverage.left -= cost;
    const debit = {
      uid,
      account,
      index: coverage.debitCount++,
      cost,
      key,
      endpoint,
      hour,
      idempotencyKey: idempotencyKey?.value,
    };
    return { kind, debit, balance: coverage.balance + coverage.left };
  });
}
