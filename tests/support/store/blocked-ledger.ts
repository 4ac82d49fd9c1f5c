/** Requests before the ledger, as tests of the queue of debits want them. */
import { expect } from "bun:test";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { withDatabase } from "./database.ts";
import { makeCharge } from "./debits.ts";
import { letEventLoopRun } from "../wait.ts";
import type { Receipt } from "../../../server/ports/ledger.ts";

/** What is told where the ledger takes too long. */
export const DATABASE_UNRESPONSIVE = "The database does not answer right now";

/** A ledger whose commits wait to be let go, one by one, and may fail. */
export function blockCommits(ledger: LedgerStore) {
  const groups: number[][] = [];
  const blocks: PromiseWithResolvers<Error | undefined>[] = [];
  const blockAt = (index: number) => (blocks[index] ??= Promise.withResolvers<Error | undefined>());
  const held: LedgerStore = {
    ...ledger,
    async debit(waiting, group) {
      const index = groups.push(waiting.map(({ account }) => account)) - 1;
      const error = await blockAt(index).promise;
      if (error !== undefined) throw error;
      return ledger.debit(waiting, group);
    },
  };
  return { held, groups, letGo: (index: number, error?: Error) => blockAt(index).resolve(error) };
}

/** A ledger of an account `a` with 5 credits, which a test works on. */
export async function withFundedLedger(
  work: (ledger: LedgerStore, account: number) => Promise<void>,
) {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
    await work(ledger, id);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

/** A request that is paid for with an idempotency key. */
export const makeKeyedCharge = (account: number, request = "a URL") => ({
  ...makeCharge(account),
  idempotencyKey: { value: "one", fingerprint: request },
});

/** What a promise came to; `waits` where it came to nothing while others had their turns. */
export async function outcomeOrWaiting(promise: Promise<Receipt>): Promise<number | string> {
  const waiting = (async () => {
    await letEventLoopRun();
    return "waits";
  })();
  return Promise.race([
    promise.then(
      ({ cost }) => cost,
      ({ message }) => String(message),
    ),
    waiting,
  ]);
}
