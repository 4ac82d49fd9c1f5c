/** Charges and debits of one key at one endpoint. */
import type { Debit } from "../../../server/ports/ledger.ts";
import type { LedgerStore } from "../../../server/store/accounts/ledger.ts";

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

/** Commits a group of debits. */
export async function commitDebitGroup(
  ledger: LedgerStore,
  requests: readonly { readonly account: number; readonly cost: number }[],
  uid: string,
  now: number,
): Promise<DebitResult[]> {
  const charges = requests.map(({ account, cost }) => makeCharge(account, cost));
  const { outcomes } = await ledger.debit(charges, { uid, now });
  return outcomes.map((outcome) => {
    if (outcome.kind === "charged") return Object.assign({ isAccepted: true as const }, outcome);
    if (outcome.kind === "refused") return Object.assign({ isAccepted: false as const }, outcome);
    throw new Error(`A request without an idempotency key was ${outcome.kind}`);
  });
}
