import { describe, expect, test } from "bun:test";
import type { Receipt } from "../../core/credits.ts";
import { readObservation } from "../../core/observations.ts";
import type { Changes } from "../../core/reading.ts";
import { createDebits } from "../../server/metering/debits.ts";
import { ledgerStore, type LedgerStore } from "../../server/store/ledger.ts";
import { storeObservations } from "../../server/store/observe.ts";
import { userSubject } from "../../server/store/subjects.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { withDatabase } from "../support/database.ts";
import { charge } from "../support/ledger.ts";
import { holdCommits } from "../support/waiting.ts";

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

describe("what was observed", () => {
  test("is told as what changed since the commit before; before the first, all may", async () => {
    await withDatabase(async (database) => {
      const ledger = ledgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ uid: "g", account: "a", amount: 5 }, 0);
      const told: Changes[] = [];
      const debits = createDebits({
        ledger,
        now: () => NOW,
        onChanges: (changes) => told.push(changes),
      });
      const line = '{"kind":"user","observedAt":"2026-09-01","username":"Nasa"}';
      await debits.debit(charge(id));
      await debits.debit(charge(id));
      await storeObservations(database, [readObservation(line, NOW)]);
      await debits.debit(charge(id));
      expect(told).toEqual([
        { sequence: 0, subjects: undefined },
        { sequence: 0, subjects: [] },
        { sequence: 1, subjects: [userSubject("nasa")] },
      ]);
    });
  });
});
