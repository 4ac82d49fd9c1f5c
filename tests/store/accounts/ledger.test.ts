import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { applyEntry, computeBalance, EMPTY_LEDGER, type Ledger } from "../../../core/ledger.ts";
import { DAY_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { resultOrError, withDatabase } from "../../support/store/database.ts";
import { commitDebitGroup } from "../../support/store/debits.ts";

const NOW = 1_790_000_000_000;

async function withAccounts<Result>(
  work: (database: Database, ids: number[]) => Promise<Result>,
): Promise<Result> {
  return withDatabase(async (database) => {
    const ledger = createLedgerStore(database);
    const first = await ledger.createAccount("first", NOW);
    const second = await ledger.createAccount("second", NOW);
    return work(database, [first.id, second.id]);
  });
}

const ledgerOperation = fc.oneof(
  fc.record({
    kind: fc.constant("grant" as const),
    amount: fc.integer({ min: 1, max: 4 }),
    reference: fc.constantFrom(undefined, "r1", "r2"),
  }),
  fc.record({ kind: fc.constant("debit" as const), requests: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("refund" as const), which: fc.nat(9) }),
);

describe("createLedgerStore()", () => {
  test("createAccount() grants its credits with it, once, or creates nothing", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      const creations = Array.from({ length: 8 }, () => ledger.createAccount("new", NOW, 5));
      const results = await Promise.all(creations.map(resultOrError));
      const created = results.filter((result) => !Array.isArray(result));
      expect(created).toMatchObject([{ name: "new", granted: 5, balance: 5 }]);
      const amount = "An amount must be a whole number from 1 to 9007199254740991, got 1.5";
      expect(await resultOrError(ledger.createAccount("bad", NOW, 1.5))).toContain(amount);
      await database.write([
        {
          sql: `CREATE TRIGGER no_grants BEFORE INSERT ON journal
            BEGIN SELECT raise(ABORT, 'no grants'); END`,
          args: [],
        },
      ]);
      await ledger.createAccount("late", NOW, 5).catch((error: unknown) => {
        expect(String(error)).toContain("no grants");
      });
      for (const name of ["bad", "late"]) {
        expect(await resultOrError(ledger.account(name))).toContain(`There is no account ${name}`);
      }
      const { lines } = await ledger.statement("new", { since: 0, until: NOW }, 9);
      expect(lines).toMatchObject([{ kind: "grant", amount: 5, balance: 5 }]);
      expect(await verifyLedger(database)).toMatchObject({ faults: [] });
    });
  });

  test("keeps grants - debits + refunds = balance, as applyEntry() of core does", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ledgerOperation, { maxLength: 12 }), async (operations) => {
        await withAccounts(async (database, [id = 0]) => {
          const ledger = createLedgerStore(database);
          let model: Ledger = EMPTY_LEDGER;
          const debits: Debit[] = [];
          let uid = 0;
          for (const next of operations) {
            uid++;
            if (next.kind === "grant") {
              const { amount, reference } = next;
              const entry = { kind: "grant" as const, amount, ...(reference && { reference }) };
              const apply = () => applyEntry(model, entry);
              const stored = ledger.grant(
                { id: `${uid}`, account: "first", amount, reference },
                NOW,
              );
              const before = reference === undefined ? undefined : model.references.get(reference);
              if (before !== undefined && before !== amount) {
                expect(await resultOrError(stored)).toContain("Conflict");
                expect(apply).toThrow();
              } else {
                expect((await stored).isNew).toBe(before === undefined);
                model = apply();
              }
            } else if (next.kind === "debit") {
              const group = Array.from({ length: next.requests }, () => ({ account: id, cost: 1 }));
              const outcomes = await commitDebitGroup(ledger, group, `${uid}`, NOW);
              const accepted = Math.min(computeBalance(model), next.requests);
              expect(outcomes.map(({ isAccepted }) => isAccepted)).toEqual(
                group.map((_, index) => index < accepted),
              );
              for (const outcome of outcomes) {
                if (!outcome.isAccepted) continue;
                const debit = `${outcome.debit.uid}/${outcome.debit.index}`;
                model = applyEntry(model, { kind: "debit", id: debit, amount: 1 });
                expect(outcome.balance).toBe(computeBalance(model));
                debits.push(outcome.debit);
              }
            } else {
              const debit = debits[next.which % Math.max(debits.length, 1)];
              if (debit === undefined) continue;
              await ledger.refund(debit, `${uid}`, "test", NOW);
              model = applyEntry(model, { kind: "refund", debit: `${debit.uid}/${debit.index}` });
            }
            expect(await ledger.account("first")).toMatchObject({
              granted: model.granted,
              debited: model.debited,
              refunded: model.refunded,
              balance: computeBalance(model),
            });
          }
          const day = Math.floor(NOW / DAY_MS);
          const used = model.debited - model.refunded;
          expect(await ledger.accounts({ first: day, last: day })).toMatchObject([
            { name: "first", used },
            { name: "second", used: 0 },
          ]);
          expect(await ledger.accounts({ first: day - 2, last: day - 1 }, "first")).toMatchObject([
            { name: "first", used: 0 },
          ]);
          expect((await verifyLedger(database)).faults).toEqual([]);
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test("decides a batch of several accounts in the order of each account", async () => {
    await withAccounts(async (database, [first = 0, second = 0]) => {
      const ledger = createLedgerStore(database);
      await ledger.grant({ id: "g1", account: "first", amount: 3 }, NOW);
      await ledger.grant({ id: "g2", account: "second", amount: 1 }, NOW);
      const group = [first, second, first, first, 99, first, second, first].map((account) => ({
        account,
        cost: 1,
      }));
      const outcomes = await commitDebitGroup(ledger, group, "d", NOW);
      expect(outcomes.map(({ isAccepted, balance }) => [isAccepted, balance])).toEqual([
        [true, 2],
        [true, 0],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
        [false, 0],
        [false, 0],
      ]);
    });
  });

  test("applies a write once that is retried", async () => {
    await withAccounts(async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      for (let attempt = 0; attempt < 2; attempt++) {
        await ledger.grant({ id: "g", account: "first", amount: 9 }, NOW);
        const [outcome] = await commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", NOW);
        expect(outcome).toMatchObject({ isAccepted: true, balance: 8 });
      }
      expect(await ledger.account("first")).toMatchObject({ granted: 9, debited: 1, balance: 8 });
    });
  });

  test("grant() returns isNew when the first response was lost", async () => {
    await withAccounts(async (database) => {
      const ledger = createLedgerStore({
        ...database,
        async write(...given) {
          await database.write(...given);
          return database.write(...given);
        },
      });
      const grant = { account: "first", amount: 9, reference: "r" };
      expect(await ledger.grant({ ...grant, id: "a" }, NOW)).toEqual({ isNew: true, balance: 9 });
      expect(await ledger.grant({ ...grant, id: "b" }, NOW)).toEqual({ isNew: false, balance: 9 });
    });
  });

  test("grant() says whether its identifier or its reference granted another amount", async () => {
    await withAccounts(async (database) => {
      const ledger = createLedgerStore(database);
      await ledger.grant({ id: "a", account: "first", amount: 10 }, NOW);
      await ledger.grant({ id: "b", account: "first", amount: 3, reference: "r" }, NOW);
      for (const [grant, message] of [
        [{ id: "a" }, "Grant a was of 10, it cannot be of 7"],
        [{ id: "b", reference: "r" }, "Grant b was of 3, it cannot be of 7"],
        [{ id: "c", reference: "r" }, "Reference r granted 3 before, it cannot grant 7"],
      ] as const) {
        const granted = ledger.grant({ account: "first", amount: 7, ...grant }, NOW);
        const error: unknown = await granted.catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "Conflict", message });
      }
    });
  });
});

describe("verifyLedger()", () => {
  test.each([
    ["an account's sums", "UPDATE accounts SET granted = granted + 1, balance = balance + 1"],
    ["a lost entry", "DELETE FROM debit_batches"],
    ["a larger entry", "UPDATE journal SET amount = amount + 1 WHERE kind = 'grant'"],
    [
      "a refund of more than its debit",
      "INSERT INTO journal (uid, account, refund, kind, amount, at) " +
        "VALUES ('d', 1, 1, 'refund', 3, 0)",
    ],
  ])("finds %s", async (_, tampering) => {
    await withAccounts(async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      await ledger.grant({ id: "g", account: "first", amount: 5 }, NOW);
      await commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", NOW);
      expect((await verifyLedger(database)).faults).toEqual([]);
      await database.write([{ sql: tampering, args: [] }]);
      expect((await verifyLedger(database)).faults.length).toBeGreaterThan(0);
    });
  });

  const INTO_JOURNAL = "INSERT INTO journal (uid, account, refund, kind, amount, at) VALUES ";
  /** The trigger of an entry counts a refund in the account, but knows no usage without a key. */
  const usageRefunded = (amount: number) =>
    "INSERT INTO usage (account, hour, key, endpoint, requests, credits, refunded) " +
    `VALUES (1, 0, 1, '', 0, 0, ${amount})`;
  const BEYOND = "is refunded beyond its amount, or is not there";

  test.each([
    [
      "usage that the journal does not tell",
      ["UPDATE accounts SET recent_credits = recent_credits + 1"],
      "first: the usage sums to 2 - 0, the account says 1 - 0",
    ],
    [
      "refunds of usage that the journal does not tell",
      [usageRefunded(1)],
      "first: the usage sums to 1 - 1, the account says 1 - 0",
    ],
    [
      "usage of an account that is not there",
      ["INSERT INTO usage (account, hour, key, endpoint, requests, credits) VALUES (9,0,1,'',1,1)"],
      "no account 9: the usage sums to 1 - 0, the account says null - null",
    ],
    [
      "a journal of an account that is not there",
      [`${INTO_JOURNAL} ('x', 99, 0, 'grant', 1, 0)`],
      "no account 99: the journal sums to 1 - 0 + 0, the account says null - null + null = null",
    ],
    [
      "a refund of no debit",
      [`${INTO_JOURNAL} ('none', 1, 1, 'refund', 1, 0)`, usageRefunded(1)],
      `first: debit none ${BEYOND}`,
    ],
    [
      "refunds of more than their debit",
      [
        `${INTO_JOURNAL} ('d', 1, 1, 'refund', 1, 0), ('d', 1, 2, 'refund', 1, 0)`,
        usageRefunded(2),
      ],
      `first: debit d ${BEYOND}`,
    ],
  ])("finds %s, alone", async (_, tampering, found) => {
    await withAccounts(async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      await ledger.grant({ id: "g", account: "first", amount: 5 }, NOW);
      await commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", NOW);
      await database.write(tampering.map((sql) => ({ sql, args: [] })));
      const { faults } = await verifyLedger(database);
      expect(faults.map(({ account, problem }) => `${account}: ${problem}`)).toEqual([found]);
    });
  });
});
