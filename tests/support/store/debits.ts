/** Charges and debits of one key at one endpoint. */
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { withDatabase } from "./database.ts";

/** The names of the accounts of `withAccounts()`. */
export const ACCOUNT_NAMES = ["first", "second", "third"];

/** Opens a database with an account for each amount of granted credits. */
export async function withAccounts(
  granted: readonly number[],
  work: (database: Database, ids: readonly number[]) => Promise<void>,
): Promise<void> {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const ids: number[] = [];
    for (const [index, amount] of granted.entries()) {
      const account = ACCOUNT_NAMES[index] ?? "";
      ids.push((await ledger.createAccount(account, 0)).id);
      if (amount > 0) await ledger.grant({ id: `g${index}`, account, amount }, 0);
    }
    await work(database, ids);
  });
}

/** The result of a charge. */
export type DebitResult =
  | { readonly isAccepted: true; readonly debit: Debit; readonly balance: number }
  | { readonly isAccepted: false; readonly balance: number };

/** A charge of an account. */
export const makeCharge = (account: number, cost = 1) => ({
  account,
  cost,
  key: 1,
  endpoint: "/api/test",
});

/** Commits a group of debits, and refunds with them. */
export async function commitDebitGroup(
  ledger: LedgerStore,
  requests: readonly { readonly account: number; readonly cost: number }[],
  uid: string,
  now: number,
  refunds?: Parameters<LedgerStore["refundAll"]>[0],
): Promise<DebitResult[]> {
  const charges = requests.map(({ account, cost }) => makeCharge(account, cost));
  const { outcomes } = await ledger.debit(charges, { id: uid, now, ...(refunds && { refunds }) });
  return outcomes.map((outcome) => {
    if (outcome.kind === "charged") return Object.assign({ isAccepted: true as const }, outcome);
    if (outcome.kind === "refused") return Object.assign({ isAccepted: false as const }, outcome);
    throw new Error(`A request without an idempotency key was ${outcome.kind}`);
  });
}
