/**
 * Debits in the database: requests that wait together are decided and committed as one transaction.
 *
 * Requests of one account, key, endpoint and price that follow each other are a run. A run is
 * covered as far as the balance reaches after the runs before it, so each request is decided as if
 * it came alone, in the order they came. What was paid with an idempotency key costs nothing again.
 */
import type { Row } from "@libsql/client";
import type { Charge } from "../../core/credits.ts";
import type { Changes } from "../../core/reading.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { commitRuns, type Run } from "./debit-statements.ts";

/** What the requests of one commit have in common. */
export interface DebitGroup {
  /** Made before the commit: one that is tried again is applied once. */
  readonly uid: string;
  /** In milliseconds since 1970 UTC. */
  readonly now: number;
  /** The last change that the caller knows of; without it, none are told. */
  readonly since?: number | undefined;
}

/** A committed debit, as a refund names it. */
export interface Debit {
  readonly uid: string;
  readonly account: number;
  /** Its place among the debits of its commit and account, from 0. */
  readonly place: number;
  readonly cost: number;
  readonly key: number;
  readonly endpoint: string;
  readonly hour: number;
  /** The idempotency key that it paid for. */
  readonly name?: string | undefined;
}

/** What became of a request. */
export type DebitOutcome =
  | { readonly kind: "charged"; readonly debit: Debit; readonly balance: number }
  /** Paid before, with the same idempotency key. */
  | { readonly kind: "repeated"; readonly balance: number }
  | { readonly kind: "refused"; readonly balance: number }
  /** Its idempotency key paid for something else. */
  | { readonly kind: "misused" };

/** What became of a group. */
export interface DecidedGroup {
  readonly outcomes: DebitOutcome[];
  readonly changes: Changes;
}

/** How long an idempotency key is good for, and a withdrawn group remembered. */
export const REMEMBERED_MS = DAY_MS;

/**
 * Decides waiting debits, in their order, and commits those that the balances cover.
 *
 * @param waiting Each idempotency key of an account that is not paid with yet is among them once at
 * most.
 */
export async function commitDebits(
  database: Database,
  waiting: readonly Charge[],
  { uid, now, since }: DebitGroup,
): Promise<DecidedGroup> {
  const hour = Math.floor(now / HOUR_MS);
  const commit = { uid, now, hour, since, forgotten: now - REMEMBERED_MS };
  const results = await database.write(commitRuns(runsOf(waiting), commit), {
    isRelaxed: true,
    isRepeatable: true,
    isQuick: true,
  });
  const [, , , outcomes, changed, , , paid] = results.map(({ rows }) => rows);
  return {
    outcomes: decide(waiting, { uid, hour }, outcomes ?? [], paid ?? []),
    changes: changesOf(changed?.[0], since),
  };
}

/** Runs, in the order of each account's requests. */
export function runsOf(waiting: readonly Charge[]): Run[] {
  const runs: Run[] = [];
  const last = new Map<number, Run>();
  for (const { account, cost, key, endpoint, payment } of waiting) {
    const run = last.get(account);
    const isSame =
      run !== undefined &&
      run[1] === cost &&
      run[2] === key &&
      run[3] === endpoint &&
      run[5] === null &&
      payment === undefined;
    if (isSame) run[4]++;
    else {
      const next: Run = [account, cost, key, endpoint, 1, null, null];
      if (payment !== undefined) [next[5], next[6]] = [payment.name, payment.request];
      last.set(account, next);
      runs.push(next);
    }
  }
  return runs;
}

interface Covered {
  readonly balance: number;
  /** Credits that the account was debited for the group. */
  readonly amount: number;
  upto: number;
  place: number;
}

/** Tells each request what became of it, as the statements decided. */
export function decide(
  waiting: readonly Charge[],
  { uid, hour }: { readonly uid: string; readonly hour: number },
  balances: readonly Row[],
  payments: readonly Row[],
): DebitOutcome[] {
  const accounts = new Map<number, Covered>(
    balances.map(({ account, balance, amount }) => [
      Number(account),
      { balance: Number(balance), amount: Number(amount), upto: 0, place: 0 },
    ]),
  );
  const paid = new Map(payments.map((row) => [`${row["account"]} ${row["name"]}`, row]));
  return waiting.map(({ account, cost, key, endpoint, payment }) => {
    const of = accounts.get(account);
    if (of === undefined) return { kind: "refused", balance: 0 };
    const name = payment?.name;
    const before = name === undefined ? undefined : paid.get(`${account} ${name}`);
    if (before !== undefined && before["debit"] !== uid) {
      if (before["request"] !== payment?.request) return { kind: "misused" };
      return { kind: "repeated", balance: of.balance + Math.max(0, of.amount - of.upto) };
    }
    if (of.upto + cost > of.amount) {
      of.upto += cost;
      return { kind: "refused", balance: of.balance };
    }
    of.upto += cost;
    const debit = { uid, account, place: of.place++, cost, key, endpoint, hour, name };
    return { kind: "charged", debit, balance: of.balance + of.amount - of.upto };
  });
}

/** @param since The last change that the caller knows of. */
function changesOf(row: Row | undefined, since: number | undefined): Changes {
  const sequence = Number(row?.["sequence"]);
  if (sequence === since) return { sequence, subjects: [] };
  const listed: [number, string[] | null][] = JSON.parse(String(row?.["changes"]));
  const subjects = listed.flatMap(([, of]) => of ?? []);
  const isWhole =
    since !== undefined &&
    listed.length === sequence - since &&
    listed.every(([, of]) => of !== null);
  return { sequence, subjects: isWhole ? subjects : undefined };
}
