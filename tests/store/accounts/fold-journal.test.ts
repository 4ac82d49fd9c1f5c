/** What folding the journal leaves as it is, and when. FOLD_RUNS=500 is the long form. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { foldJournal } from "../../../server/store/accounts/fold-journal.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { withDatabase } from "../../support/store/database.ts";
import { withAccounts } from "../../support/store/debits.ts";
import { answer, debitTwo, FOLD_DAYS, foldAll, LATER } from "../../support/store/folding.ts";
import { countLedgerRows, readLedgerState } from "../../support/store/ledger-state.ts";
import { explainQueryPlan, findScans, recordStatements } from "../../support/store/query-plans.ts";

const RUNS = Number(process.env["FOLD_RUNS"] ?? 8);

const operations = fc.array(
  fc.record({
    kind: fc.constantFrom("grant", "debit", "debit", "answer", "refund", "replay", "fold", "fold"),
    /** How long after the operation before. */
    hours: fc.constantFrom(0, 0, 0, 0.3, 1, 50),
    account: fc.nat(1),
    costs: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
    key: fc.integer({ min: 1, max: 2 }),
    idempotencyKey: fc.constantFrom(undefined, undefined, "a", "b"),
    index: fc.nat(20),
    reason: fc.constantFrom("late", "broken"),
    stepMaxEntries: fc.integer({ min: 1, max: 6 }),
    /** After so many steps the walk ends. */
    steps: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 20, maxLength: 70 },
);

type Operation = (typeof operations extends fc.Arbitrary<infer Value> ? Value : never)[number];

/** Applies operations to a ledger, which folds its journal or does not; returns what it answers. */
function createRunner(database: Database, isFolding: boolean) {
  const ledger = createLedgerStore(database);
  const pending: Debit[] = [];
  const refunded: Debit[] = [];

  async function apply({ index, ...step }: Operation, uid: string, now: number): Promise<unknown> {
    const account = step.account + 1;
    if (step.kind === "grant") {
      return ledger.grant({ id: uid, account: `account ${account}`, amount: 9 }, now);
    }
    if (step.kind === "debit") {
      const charges = step.costs.map((cost, position) => ({
        account: position === 3 ? 3 - account : account,
        key: step.key,
        endpoint: `/${position % 2}`,
        cost,
        ...(position === 0 &&
          step.idempotencyKey && {
            idempotencyKey: { value: step.idempotencyKey, fingerprint: "same" },
          }),
      }));
      const { outcomes } = await ledger.debit(charges, { id: uid, now });
      for (const outcome of outcomes) if (outcome.kind === "charged") pending.push(outcome.debit);
      return outcomes;
    }
    if (step.kind === "fold") {
      if (!isFolding) return;
      const steps = foldJournal(database, { ...step, now, days: FOLD_DAYS, pauseRatio: 0 });
      for (let taken = 0; taken < step.steps; taken++) await steps.next();
      return;
    }
    const debit =
      step.kind === "replay"
        ? refunded[index % Math.max(refunded.length, 1)]
        : pending.splice(index % Math.max(pending.length, 1), 1)[0];
    if (debit === undefined) return;
    if (step.kind === "answer") return answer(database, debit);
    if (step.kind === "refund") refunded.push(debit);
    return ledger.refund(debit, uid, step.reason, now);
  }

  return {
    async open() {
      for (const name of ["account 1", "account 2"]) await ledger.createAccount(name, 0, 50);
    },
    apply,
    /** Ends all requests that are not ended. */
    async answerPending() {
      for (const debit of pending) await answer(database, debit);
    },
  };
}

describe("foldJournal()", () => {
  test(
    "changes no statement, usage, balance, outcome or verification, at any moment and in steps of any size",
    async () => {
      let foldedInAll = 0;
      await fc.assert(
        fc.asyncProperty(operations, (steps) =>
          withDatabase((plain) =>
            withDatabase(async (folding) => {
              const runners = [createRunner(plain, false), createRunner(folding, true)];
              for (const { open } of runners) await open();
              let now = 0;
              for (const [index, step] of steps.entries()) {
                now += Math.round(step.hours * HOUR_MS);
                const [expected, actual] = await Promise.all(
                  runners.map(({ apply }) => apply(step, `u${index}`, now)),
                );
                expect(actual).toEqual(expected);
              }
              const state = await readLedgerState(plain);
              expect(state.verification.faults).toEqual([]);
              expect(await readLedgerState(folding)).toEqual(state);
              for (const { answerPending } of runners) await answerPending();
              await foldAll(folding, { now: now + LATER });
              expect(await readLedgerState(folding)).toEqual(await readLedgerState(plain));
              const { debits, refunds, folded } = await countLedgerRows(folding);
              // The newest commit stays, with an entry for each account.
              expect(Number(debits)).toBeLessThanOrEqual(2);
              foldedInAll += Number(folded);
              if (debits === 0) expect(refunds).toBe(0);
            }),
          ),
        ),
        { numRuns: RUNS },
      );
      expect(foldedInAll).toBeGreaterThan(0);
    },
    RUNS * 8000,
  );

  test("folds debits of the given age into a row an hour, and keeps grants and newer debits", async () => {
    await withAccounts([99], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      for (const [index, hour] of [0, 0.5, 3, 24.9, 25].entries()) {
        const now = Math.round(hour * HOUR_MS);
        const { first, second } = await debitTwo(database, account, `d${index}`, now);
        await ledger.refund(first, `r${index}`, "late", now);
        await answer(database, second);
      }
      const now = 25 * HOUR_MS + FOLD_DAYS * DAY_MS;
      expect(await foldAll(database, { now: now - 1 })).toBe(6);
      expect(await foldAll(database, { now })).toBe(2);
      expect(await foldAll(database, { now })).toBe(0);
      const rows = { grants: 1, debits: 1, refunds: 1, folded: 6 };
      expect(await countLedgerRows(database)).toEqual(rows);
    });
  });

  test("keeps a debit whose refund can still come: it is refunded after 40 days, once", async () => {
    await withAccounts([99], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      const { first: answered, second: lost } = await debitTwo(database, account, "a", 0);
      const { first, second } = await debitTwo(database, account, "b", HOUR_MS);
      for (const debit of [answered, first, second]) await answer(database, debit);
      await debitTwo(database, account, "newer", LATER);
      expect(await foldAll(database)).toBe(1);
      const refundLost = async () => {
        for (const uid of ["r1", "r1", "r2"]) await ledger.refund(lost, uid, "late", LATER);
        expect(await ledger.account("first")).toMatchObject({ refunded: 2 });
      };
      await refundLost();
      await debitTwo(database, account, "newest", LATER);
      expect(await foldAll(database)).toBe(2);
      await refundLost();
      // This one was answered: a refund of it is a mistake, and finds nothing.
      await ledger.refund(first, "r3", "late", LATER);
      expect(await ledger.account("first")).toMatchObject({ debited: 16, refunded: 2 });
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("keeps a batch whose commit got no response, until cancel() settles it", async () => {
    await withAccounts([99], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      const charges = [1, 2].map((cost) => ({ account, key: 1, endpoint: "/a", cost }));
      await ledger.debit(charges, { id: "lost", now: 0 });
      await debitTwo(database, account, "newer", LATER);
      expect(await foldAll(database)).toBe(0);
      // A debit of each run; and a refund of each.
      for (const [attempt, folded] of [4, 0].entries()) {
        await ledger.cancel(charges, "lost", LATER);
        expect(await ledger.account("first")).toMatchObject({ refunded: 3 });
        await debitTwo(database, account, `newest ${attempt}`, LATER);
        expect(await foldAll(database)).toBe(folded);
      }
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("folds each entry once while others fold, debit and refund", async () => {
    await withAccounts([9999], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      for (let index = 0; index < 60; index++) {
        const now = index * HOUR_MS;
        const { first, second } = await debitTwo(database, account, `d${index + 100}`, now);
        await answer(database, first);
        await ledger.refund(second, `r${index}`, "late", now);
      }
      const writeMeanwhile = async () => {
        for (let index = 60; index < 90; index++) {
          const { first } = await debitTwo(database, account, `d${index + 100}`, LATER);
          await ledger.refund(first, `r${index}`, "late", LATER);
        }
      };
      const folds = [1, 3, 7].map((stepMaxEntries) => foldAll(database, { stepMaxEntries }));
      const [counts] = await Promise.all([Promise.all(folds), writeMeanwhile()]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(120);
      const sums = { debited: 360, refunded: 180, balance: 9999 - 180 };
      expect(await ledger.account("first")).toMatchObject(sums);
      expect(await verifyLedger(database)).toEqual({ accounts: 1, entries: 181, faults: [] });
    });
  });

  test("searches the journal by its keys, and the usage by the hour", async () => {
    await withAccounts([99], async (database, [account = 0]) => {
      const debits = await debitTwo(database, account, "a", 0);
      for (const debit of Object.values(debits)) await answer(database, debit);
      await debitTwo(database, account, "b", LATER);
      const { recording, statements } = recordStatements(database);
      expect(await foldAll(recording)).toBe(1);
      const plans = await Promise.all(
        statements.map((statement) => explainQueryPlan(database, statement)),
      );
      const scans = plans
        .flatMap(findScans)
        .filter((line) => /\b(?:debit_batches|journal|refund|usage|accounts)\b/.test(line));
      expect(scans).toEqual([]);
      expect(new Set(plans.flat().filter((line) => /^SEARCH [^(]/.test(line)))).toEqual(
        new Set([
          "SEARCH debit_batches USING PRIMARY KEY (uid>?)",
          "SEARCH debit_batches USING PRIMARY KEY (uid>? AND uid<?)",
          "SEARCH debit_batches USING PRIMARY KEY (uid=?)",
          "SEARCH journal USING PRIMARY KEY (uid>? AND uid<?)",
          "SEARCH usage USING PRIMARY KEY (account=? AND hour=?)",
          "SEARCH accounts USING INTEGER PRIMARY KEY (rowid=?)",
        ]),
      );
    });
  });
});
