/**
 * Debits in the database: requests that wait together are decided and committed as one transaction.
 *
 * Requests of one account, key, endpoint and price that follow each other are a run. A run is
 * covered as far as the balance reaches after the runs before it, so each request is decided as if
 * it came alone, in the order they came. What was paid with an idempotency key costs nothing again.
 */
import type { Row } from "@libsql/client";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import type { DebitBatch, DebitBatchResult, DebitOutcome, Charge } from "../../ports/ledger.ts";
import type { Database } from "../database/database.ts";
import { parseChanges } from "../history/change-log.ts";
import { createCommitStatements, type ChargeRun } from "./debit-sql.ts";

/** How long an idempotency key is good for, and a withdrawn group remembered. */
export const IDEMPOTENCY_TTL_MS = DAY_MS;

/**
 * Decides waiting debits, in their order, and commits those that the balances cover.
 *
 * @param charges Each idempotency key of an account that is not paid with yet is among them once at
 * most.
 */
export async function commitDebits(
  database: Database,
  charges: readonly Charge[],
  { uid, now, since }: DebitBatch,
): Promise<DebitBatchResult> {
  const hour = Math.floor(now / HOUR_MS);
  const commit = { uid, now, hour, since, expiredUntil: now - IDEMPOTENCY_TTL_MS };
  const results = await database.write(createCommitStatements(groupIntoRuns(charges), commit), {
    durability: "configured",
    idempotent: true,
    inline: true,
  });
  const [, , , outcomes, changed, , , paid] = results.map(({ rows }) => rows);
  return {
    outcomes: assignOutcomes(charges, { uid, hour }, outcomes ?? [], paid ?? []),
    changes: parseChanges(changed?.[0], since),
  };
}

/** Runs, in the order of each account's requests. */
export function groupIntoRuns(charges: readonly Charge[]): ChargeRun[] {
  const runs: ChargeRun[] = [];
  const lastRuns = new Map<number, ChargeRun>();
  for (const { account, cost, key, endpoint, idempotencyKey: payment } of charges) {
    const run = lastRuns.get(account);
    const isSameRun =
      run !== undefined &&
      run[1] === cost &&
      run[2] === key &&
      run[3] === endpoint &&
      run[5] === null &&
      payment === undefined;
    if (isSameRun) run[4]++;
    else {
      const newRun: ChargeRun = [account, cost, key, endpoint, 1, null, null];
      if (payment !== undefined) [newRun[5], newRun[6]] = [payment.value, payment.fingerprint];
      lastRuns.set(account, newRun);
      runs.push(newRun);
    }
  }
  return runs;
}

interface AccountCoverage {
  readonly balance: number;
  /** Credits that the account was debited for the group. */
  readonly amount: number;
  upto: number;
  place: number;
}

/** Tells each request what became of it, as the statements decided. */
export function assignOutcomes(
  charges: readonly Charge[],
  { uid, hour }: { readonly uid: string; readonly hour: number },
  balances: readonly Row[],
  payments: readonly Row[],
): DebitOutcome[] {
  const accounts = new Map<number, AccountCoverage>(
    balances.map(({ account, balance, amount }) => [
      Number(account),
      { balance: Number(balance), amount: Number(amount), upto: 0, place: 0 },
    ]),
  );
  const paymentsByKey = new Map(
    payments.map((row) => [`${row["account"]} ${row["idempotency_key"]}`, row]),
  );
  return charges.map(({ account, cost, key, endpoint, idempotencyKey: payment }) => {
    const coverage = accounts.get(account);
    if (coverage === undefined) return { kind: "refused", balance: 0 };
    const name = payment?.value;
    const previousPayment =
      name === undefined ? undefined : paymentsByKey.get(`${account} ${name}`);
    if (previousPayment !== undefined && previousPayment["debit"] !== uid) {
      if (previousPayment["request_hash"] !== payment?.fingerprint) return { kind: "misused" };
      return {
        kind: "repeated",
        balance: coverage.balance + Math.max(0, coverage.amount - coverage.upto),
      };
    }
    if (coverage.upto + cost > coverage.amount) {
      coverage.upto += cost;
      return { kind: "refused", balance: coverage.balance };
    }
    coverage.upto += cost;
    const debit = { uid, account, place: coverage.place++, cost, key, endpoint, hour, name };
    return { kind: "charged", debit, balance: coverage.balance + coverage.amount - coverage.upto };
  });
}
