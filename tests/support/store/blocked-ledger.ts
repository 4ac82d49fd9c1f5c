/** Ledgers for tests of the debit queue. */
import { expect } from "bun:test";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { withDatabase } from "./database.ts";
import { makeCharge } from "./debits.ts";
import { letEventLoopRun } from "../wait.ts";
import type { Receipt } from "../../../server/metering/group-commit.ts";

/** The message if the ledger takes too long. */
export const DATABASE_UNRESPONSIVE = "The database does not answer right now";

/** A ledger whose commits wait for `unblock()`, which can also make them fail. */
export function blockCommits(ledger: LedgerStore) {
  const groups: number[][] = [];
  const blocks: PromiseWithResolvers<Error | undefined>[] = [];
  const blockAt = (index: number) => (blocks[index] ??= Promise.withResolvers<Error | undefined>());
  const blockedLedger: LedgerStore = {
    ...ledger,
    async debit(waiting, group) {
      const index = groups.push(waiting.map(({ account }) => account)) - 1;
      const error = await blockAt(index).promise;
      if (error !== undefined) throw error;
      return ledger.debit(waiting, group);
    },
  };
  const unblock = (index: number, error?: Error) => blockAt(index).resolve(error);
  return { blockedLedger, groups, unblock };
}

/** Runs a test with a ledger that has an account `a` with 5 credits, and verifies it afterwards. */
export async function withFundedLedger(
  work: (ledger: LedgerStore, account: number) => Promise<void>,
) {
  await withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    await ledger.grant({ id: "g", account: "a", amount: 5 }, 0);
    await work(ledger, id);
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

/** A charge with an idempotency key. */
export const makeKeyedCharge = (account: number, request = "a URL") => ({
  ...makeCharge(account),
  idempotencyKey: { value: "one", fingerprint: request },
});

/** The cost or the error message of a debit; "waits" if it is still pending. */
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
