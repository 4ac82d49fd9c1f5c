import { describe, expect, test } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { createDebits } from "../../server/metering/debits.ts";
import { ledgerStore, type LedgerStore } from "../../server/store/ledger.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { withDatabase } from "../support/database.ts";
import { charge } from "../support/ledger.ts";
import { holdCommits, keyed, stateOf, UNAVAILABLE, withLedger } from "../support/waiting.ts";

const NOW = 1_790_000_000_000;

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
      const debits = createDebits({ ledger: held, now: () => 0 });
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
      const debits = createDebits({ ledger: held, now: () => 0 });
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
      const debits = createDebits({ ledger, now: () => 9 });
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

  test("requests that wait for a commit share the next, in the order they came", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const account = await ledger.createAccount("a", NOW);
      await ledger.grant({ uid: "g", account: "a", amount: 60 }, NOW);
      const groups: number[] = [];
      const counting: LedgerStore = {
        ...ledger,
        debit: (waiting, group) => {
          groups.push(waiting.length);
          return ledger.debit(waiting, group);
        },
      };
      const debits = createDebits({ ledger: counting, now: () => NOW });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, () => debits.debit(charge(account.id))),
      );
      expect(groups).toEqual([100]);
      expect(
        outcomes.map((outcome) =>
          outcome.status === "fulfilled" ? outcome.value.balance : "refused",
        ),
      ).toEqual(Array.from({ length: 100 }, (_, index) => (index < 60 ? 59 - index : "refused")));
    });
  });
});

describe("what cannot be given back at once", () => {
  /** A ledger that fails to give back as often as there are errors. */
  const failing = (ledger: LedgerStore, errors: Error[]): LedgerStore => ({
    ...ledger,
    async refund(...given) {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return ledger.refund(...given);
    },
    async withdraw(...given) {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return ledger.withdraw(...given);
    },
  });

  test("is given back later, once; until then its idempotency key is refused", async () => {
    await withLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const errors = [new TypeError("The answer was cut")];
      const debits = createDebits({
        ledger: failing(ledger, errors),
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      const first = await debits.debit(keyed(id));
      const behind = debits.debit(keyed(id));
      await debits.refund(first, "It failed");
      expect([await stateOf(behind), await stateOf(debits.debit(keyed(id)))]).toEqual([
        UNAVAILABLE,
        UNAVAILABLE,
      ]);
      expect(failures.map(String)).toEqual([
        `Error: A refund of 1 to account ${id} is not done yet: TypeError: The answer was cut`,
      ]);
      while ((await ledger.account("a")).refunded === 0) await Bun.sleep(5);
      while ((await stateOf(debits.debit(keyed(id)))) !== 1) await Bun.sleep(5);
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1, balance: 4 });
    });
  });

  test("is tried once more when the service ends", async () => {
    await withLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const errors = [1, 2].map((nth) => new Error(`The disk is full ${nth}`));
      const debits = createDebits({
        ledger: failing(ledger, errors),
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      await debits.refund(await debits.debit(charge(id)), "It failed");
      await debits.refund(await debits.debit(charge(id)), "It failed");
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 0 });
      expect(failures.length).toBe(2);
      errors.push(new Error("The disk is full 3"));
      await debits.close();
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1, balance: 4 });
      expect(failures.length).toBe(3);
    });
  });

  test("is tried even after the service ended, for a request that outlived it", async () => {
    await withLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const debits = createDebits({
        ledger,
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      const receipt = await debits.debit(charge(id));
      await debits.close();
      await debits.refund(receipt, "It failed");
      expect([failures, await ledger.account("a")]).toMatchObject([[], { refunded: 1 }]);
    });
  });

  test("is waited for when the service ends, as is a commit under way", async () => {
    await withLedger(async (ledger, id) => {
      const { held, groups, letGo } = holdCommits(ledger);
      const debits = createDebits({ ledger: held, now: () => NOW });
      const late = debits.debit(charge(id)).catch(({ message }) => String(message));
      while (groups.length === 0) await Bun.sleep(0);
      let isClosed = false;
      const closing = debits.close().then(() => (isClosed = true));
      for (let turn = 0; turn < 20; turn++) await Bun.sleep(0);
      expect(isClosed).toBe(false);
      letGo(0, new Error("The disk is full"));
      expect(await late).toBe("The disk is full");
      await closing;
      expect(await ledger.account("a")).toMatchObject({ debited: 0, balance: 5 });
    });
  });

  test("is a commit too that takes longer than a client may wait", async () => {
    await withLedger(async (ledger, id) => {
      const { held, letGo } = holdCommits(ledger);
      const debits = createDebits({ ledger: held, now: () => NOW, timeoutMs: 300 });
      const late = debits.debit(charge(id));
      expect(await late.catch(({ message }) => message)).toBe(UNAVAILABLE);
      letGo(1);
      expect((await debits.debit(charge(id))).balance).toBe(4);
      letGo(0);
      await debits.close();
      const after = await debits.debit(charge(id)).catch(() => undefined);
      expect(after).toBeUndefined();
      expect(await ledger.account("a")).toMatchObject({ balance: 4 });
    });
  });
});
