/** Debits as most tests want them: requests of one key at one endpoint, charged or not. */
import type { Debit } from "../../server/store/debits.ts";
import type { LedgerStore } from "../../server/store/ledger.ts";

/** What became of a request. */
export type Decided =
  | { readonly isAccepted: true; readonly debit: Debit; readonly balance: number }
  | { readonly isAccepted: false; readonly balance: number };

/** A request of an account that costs some credits. */
export const charge = (account: number, cost = 1) => ({
  account,
  cost,
  key: 1,
  endpoint: "/api/test",
});

/** Commits a group of debits. */
export async function debitGroup(
  ledger: LedgerStore,
  waiting: readonly { readonly account: number; readonly cost: number }[],
  uid: string,
  now: number,
): Promise<Decided[]> {
  const charges = waiting.map(({ account, cost }) => charge(account, cost));
  const { outcomes } = await ledger.debit(charges, { uid, now });
  return outcomes.map((outcome) => {
    if (outcome.kind === "charged") return Object.assign({ isAccepted: true as const }, outcome);
    if (outcome.kind === "refused") return Object.assign({ isAccepted: false as const }, outcome);
    throw new Error(`A request without an idempotency key was ${outcome.kind}`);
  });
}
