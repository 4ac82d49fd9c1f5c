import { describe, expect, test } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { createDebits } from "../../server/metering/debits.ts";
import { createKeyring, makeKey } from "../../server/metering/keys.ts";
import { keyStore } from "../../server/store/keys.ts";
import { ledgerStore, type LedgerStore } from "../../server/store/ledger.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { charge } from "../support/ledger.ts";
import { withDatabase } from "../support/database.ts";

/** A ledger whose commits wait to be let go, one by one, and may fail. */
function holdCommits(ledger: LedgerStore) {
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

const valuesOf = (outcomes: readonly PromiseSettledResult<Receipt>[]) =>
  outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value.balance : outcome.reason.message,
  );

describe("createDebits()", () => {
  test("what comes while a commit is under way is the next group, in its order", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const [a, b] = [await ledger.createAccount("a", 0), await ledger.createAccount("b", 0)];
      await ledger.grant({ uid: "ga", account: "a", amount: 3 }, 0);
      await ledger.grant({ uid: "gb", account: "b", amount: 1 }, 0);
      const { held, groups, letGo } = holdCommits(ledger);
      const debits = createDebits(held, () => 0);
      const first = debits.debit(charge(a.id));
      while (groups.length === 0) await Bun.sleep(0);
      const rest = [a, b, a, b, a].map(({ id }) => debits.debit(charge(id)));
      letGo(0);
      expect((await first).balance).toBe(2);
      letGo(1);
      const refused = "This request costs 1 credit, the balance is 0";
      expect(valuesOf(await Promise.allSettled(rest))).toEqual([1, 0, 0, refused, refused]);
      expect(groups).toEqual([[a.id], [a.id, b.id, a.id, b.id, a.id]]);
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("a commit that fails rejects its own group alone; those that wait are decided", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
      const { held, groups, letGo } = holdCommits(ledger);
      const debits = createDebits(held, () => 0);
      const failing = Promise.allSettled([debits.debit(charge(id)), debits.debit(charge(id))]);
      while (groups.length === 0) await Bun.sleep(0);
      const waiting = Promise.allSettled([debits.debit(charge(id)), debits.debit(charge(id))]);
      letGo(0, new Error("The disk is full"));
      letGo(1);
      letGo(2);
      expect(valuesOf(await failing)).toEqual(["The disk is full", "The disk is full"]);
      expect(valuesOf(await waiting)).toEqual([4, 3]);
      expect((await debits.debit(charge(id))).balance).toBe(2);
      expect(groups.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(await ledger.account("a")).toMatchObject({ debited: 3, balance: 2 });
    });
  });

  test("a refund gives a debit back once", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
      const debits = createDebits(ledger, () => 9);
      const receipts = await Promise.all([debits.debit(charge(id)), debits.debit(charge(id, 2))]);
      const [, second] = receipts;
      if (second === undefined) throw new Error("There is no second receipt");
      await Promise.all(["a", "b"].map((reason) => debits.refund(second, reason)));
      expect(await ledger.account("a")).toMatchObject({ debited: 3, refunded: 2, balance: 4 });
      const entries = await ledger.statement("a", 0, 10);
      expect(entries.map(({ kind, amount, at }) => [kind, amount, at])).toEqual([
        ["grant", 5, 0],
        ["debit", 3, 9],
        ["refund", 2, 9],
      ]);
    });
  });
});

describe("createKeyring()", () => {
  test("an unknown key is looked up each time: one that is made later is known at once", async () => {
    await withDatabase(async (database) => {
      const store = keyStore(database);
      const { key, hash, beginsWith } = makeKey();
      const keyring = createKeyring(store, () => 0);
      expect(await keyring.callerOf(key)).toBeUndefined();
      const id = await store.create({ account: 4, hash, beginsWith, label: null }, 0);
      expect(await keyring.callerOf(key)).toEqual({ key: id, account: 4 });
    });
  });

  test("a believed key is not looked up again; one that is forgotten or old is", async () => {
    const clock = { now: 0 };
    const looked: string[] = [];
    await withDatabase(async (database) => {
      const store = keyStore(database);
      const made = makeKey();
      const { hash, beginsWith } = made;
      await store.create({ account: 4, hash, beginsWith, label: null }, 0);
      const find = (given: string) => {
        looked.push(given);
        return store.find(given);
      };
      const keyring = createKeyring({ find }, () => clock.now);
      for (const now of [0, 1, 499]) {
        clock.now = now;
        await keyring.callerOf(made.key);
      }
      expect(looked).toEqual([hash]);
      clock.now = 500;
      await keyring.callerOf(made.key);
      expect(looked).toEqual([hash, hash]);
      keyring.forget(hash);
      await keyring.callerOf(made.key);
      expect(looked).toEqual([hash, hash, hash]);
    });
  });
});
