/** Requests before the ledger, as tests of the queue of debits want them. */
import { expect } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { ledgerStore, type LedgerStore } from "../../server/store/ledger.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { withDatabase } from "./database.ts";
import { charge } from "./ledger.ts";

/** What is told where the ledger takes too long. */
export const UNAVAILABLE = "The database does not answer right now";

/** A ledger whose commits wait to be let go, one by one, and may fail. */
export function holdCommits(ledger: LedgerStore) {
  const groups: number[][] = [];
  const holds: PromiseWithResolvers<Error | undefined>[] = [];
  const holdOf = (index: number) => (holds[index] ??= Promise.withResolvers<Error | undefined>());
  const held: LedgerStore = {
    ...ledger,
    async debit(waiting, group) {
      const index = groups.push(waiting.map(({ account }) => account)) - 1;
      const error = await holdOf(index).promise;
      if (error !== undefined) throw error;
      return ledger.debit(waiting, group);
    },
  };
  return { held, groups, letGo: (index: number, error?: Error) => holdOf(index).resolve(error) };
}

/** A ledger of an account `a` with 5 credits, which a test works on. */
export async function withLedger(work: (ledger: LedgerStore, account: number) => Promise<void>) {
  await withDatabase(async (database) => {
    const ledger = ledgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
    await work(ledger, id);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

/** A request that is paid for with an idempotency key. */
export const keyed = (account: number, request = "a URL") => ({
  ...charge(account),
  payment: { name: "one", request },
});

/** What a promise came to; `waits` where it came to nothing while others had their turns. */
export async function stateOf(promise: Promise<Receipt>): Promise<number | string> {
  const waits = (async () => {
    for (let turn = 0; turn < 20; turn++) await Bun.sleep(0);
    return "waits";
  })();
  return Promise.race([
    promise.then(
      ({ cost }) => cost,
      ({ message }) => String(message),
    ),
    waits,
  ]);
}
