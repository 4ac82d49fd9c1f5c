import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { applyEntry, computeBalance, EMPTY_LEDGER, type Ledger } from "../../../core/ledger.ts";
import { DomainError } from "../../../core/errors.ts";
import type { Debit } from "../../../server/store/accounts/refunds.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { queryRows } from "../../support/store/database.ts";
import {
  ACCOUNT_NAMES,
  commitDebitGroup,
  makeCharge,
  withAccounts,
} from "../../support/store/debits.ts";

/** Debits one charge after another, as core does. */
function debitInModel(
  models: Map<number, Ledger>,
  accounts: readonly number[],
  uid: string,
): boolean[] {
  return accounts.map((account, index) => {
    const model = models.get(account) ?? EMPTY_LEDGER;
    try {
      models.set(account, applyEntry(model, { kind: "debit", id: `${uid}/${index}`, amount: 1 }));
      return true;
    } catch (error) {
      if (error instanceof DomainError && error.code === "Insufficient Credits") return false;
      throw error;
    }
  });
}

const ledgerSteps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("debit" as const),
      accounts: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
    }),
    fc.record({ kind: fc.constant("retry" as const), which: fc.nat(9) }),
    fc.record({ kind: fc.constant("grant" as const), account: fc.nat(2), amount: fc.nat(3) }),
    fc.record({
      kind: fc.constant("refund" as const),
      group: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
      accounts: fc.array(fc.nat(3), { maxLength: 3 }),
    }),
  ),
  { maxLength: 14 },
);

describe("debit() and refund()", () => {
  test("batches, grants, refunds and retries leave each account as applyEntry() of core does", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { minLength: 3, maxLength: 3 }),
        ledgerSteps,
        (start, all) =>
          withAccounts(start, async (database, ids) => {
            const ledger = createLedgerStore(database);
            const models = new Map<number, Ledger>();
            ids.forEach((id, index) => {
              models.set(id, { ...EMPTY_LEDGER, granted: start[index] ?? 0 });
            });
            const decided: { uid: string; accounts: number[]; accepted: boolean[] }[] = [];
            const debits: { debit: Debit; model: string }[] = [];
            const send = async (
              uid: string,
              accounts: readonly number[],
              accepted: boolean[],
              refunds?: Parameters<typeof ledger.refundAll>[0],
            ) => {
              const waiting = accounts.map((account) => ({ account, cost: 1 }));
              const outcomes = await commitDebitGroup(ledger, waiting, uid, 0, refunds);
              expect(outcomes.map(({ isAccepted }) => isAccepted)).toEqual(accepted);
              return outcomes;
            };
            for (const [index, step] of all.entries()) {
              const uid = `step ${index}`;
              if (step.kind === "debit") {
                // The last of the four accounts does not exist.
                const accounts = step.accounts.map((account) => ids[account] ?? 99);
                const accepted = debitInModel(models, accounts, uid);
                decided.push({ uid, accounts, accepted });
                const outcomes = await send(uid, accounts, accepted);
                outcomes.forEach((outcome, place) => {
                  if (outcome.isAccepted)
                    debits.push({ debit: outcome.debit, model: `${uid}/${place}` });
                });
              } else if (step.kind === "retry") {
                const before = decided[step.which % Math.max(decided.length, 1)];
                // A batch of which nothing was committed is decided again.
                if (before === undefined || !before.accepted.includes(true)) continue;
                await send(before.uid, before.accounts, before.accepted);
              } else if (step.kind === "grant") {
                const [account = "", id = 0] = [ACCOUNT_NAMES[step.account], ids[step.account]];
                const amount = step.amount + 1;
                await ledger.grant({ id: uid, account, amount }, 0);
                const model = models.get(id) ?? EMPTY_LEDGER;
                models.set(id, applyEntry(model, { kind: "grant", amount }));
              } else {
                const chosen = step.group.flatMap(
                  (which) => debits[which % Math.max(debits.length, 1)] ?? [],
                );
                const refunds = chosen.map(({ debit }, nth) => {
                  return { uid: `${uid}/${nth}`, debit, reason: "test" };
                });
                // The debits that are committed with refunds are decided before these.
                const accounts = step.accounts.map((account) => ids[account] ?? 99);
                if (accounts.length === 0) await ledger.refundAll(refunds, 0);
                else await send(uid, accounts, debitInModel(models, accounts, uid), refunds);
                for (const { debit, model } of chosen) {
                  const before = models.get(debit.account) ?? EMPTY_LEDGER;
                  models.set(debit.account, applyEntry(before, { kind: "refund", debit: model }));
                }
              }
            }
            for (const { id, granted, debited, refunded, balance } of await ledger.accounts({
              first: 0,
              last: 0,
            })) {
              const model = models.get(id) ?? EMPTY_LEDGER;
              expect({ granted, debited, refunded, balance }).toEqual({
                granted: model.granted,
                debited: model.debited,
                refunded: model.refunded,
                balance: computeBalance(model),
              });
            }
            expect((await verifyLedger(database)).faults).toEqual([]);
          }),
      ),
      { numRuns: 80 },
    );
  }, 60_000);

  test("a batch that is retried debits no account twice, even if more could pay by now", async () => {
    await withAccounts([1, 0], async (database, [first = 0, second = 0]) => {
      const ledger = createLedgerStore(database);
      const group = [first, second].map((account) => ({ account, cost: 1 }));
      const before = await commitDebitGroup(ledger, group, "group", 0);
      expect(before.map(({ isAccepted }) => isAccepted)).toEqual([true, false]);
      await ledger.grant({ id: "later", account: "second", amount: 1 }, 0);
      await ledger.grant({ id: "more", account: "first", amount: 1 }, 0);
      const again = await commitDebitGroup(ledger, group, "group", 0);
      expect(again.map(({ isAccepted }) => isAccepted)).toEqual([true, false]);
      expect(await ledger.account("first")).toMatchObject({ debited: 1, balance: 1 });
      expect(await ledger.account("second")).toMatchObject({ debited: 0, balance: 1 });
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("of 5 charges, 3 credits cover the first 3", async () => {
    await withAccounts([3], async (database, [id = 0]) => {
      const waiting = Array.from({ length: 5 }, () => ({ account: id, cost: 1 }));
      const outcomes = await commitDebitGroup(createLedgerStore(database), waiting, "group", 0);
      expect(outcomes.map(({ isAccepted, balance }) => [isAccepted, balance])).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
        [false, 0],
      ]);
    });
  });

  test("a debit is refunded once, under any uid; an unknown debit never", async () => {
    await withAccounts([2], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const waiting = [{ account: id, cost: 1 }];
      const [outcome] = await commitDebitGroup(ledger, waiting, "group", 0);
      if (outcome?.isAccepted !== true) throw new Error("The debit was refused");
      for (const uid of ["a", "a", "b"]) await ledger.refund(outcome.debit, uid, "test", 0);
      await ledger.refund({ ...outcome.debit, uid: "unknown" }, "c", "test", 0);
      await ledger.refund({ ...outcome.debit, account: 99 }, "d", "test", 0);
      expect(await ledger.account("first")).toMatchObject({ refunded: 1, balance: 2 });
      expect((await verifyLedger(database)).faults).toEqual([]);
      const { lines } = await ledger.statement("first", { since: 0, until: 1 }, 10);
      expect(lines.map(({ kind, balance }) => [kind, balance])).toEqual([
        ["grant", 2],
        ["refund", 3],
        ["debit", 2],
      ]);
    });
  });

  test("the returned balance is never negative, whatever was refused before", async () => {
    await withAccounts([2], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const keyed = { ...makeCharge(id), idempotencyKey: { value: "one", fingerprint: "a URL" } };
      await ledger.debit([keyed], { id: "first", now: 0 });
      const group = [makeCharge(id), makeCharge(id), makeCharge(id), keyed];
      const { outcomes } = await ledger.debit(group, { id: "second", now: 1 });
      expect(outcomes).toMatchObject([
        { kind: "charged", balance: 0 },
        { kind: "refused", balance: 0 },
        { kind: "refused", balance: 0 },
        { kind: "repeated", balance: 0 },
      ]);
    });
  });

  test("a cancellation that broke off refunds everything when retried, whatever was paid meanwhile", async () => {
    await withAccounts([9], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const keyed = { ...makeCharge(id), idempotencyKey: { value: "one", fingerprint: "a URL" } };
      const group = [keyed, makeCharge(id)];
      await ledger.debit(group, { id: "lost", now: 1 });
      for (let cut = 1; cut < 9; cut++) {
        let writes = 0;
        const failing = createLedgerStore({
          ...database,
          write: (...given) =>
            ++writes > cut ? Promise.reject(new Error("It was cut off")) : database.write(...given),
        });
        await failing.cancel(group, "lost", 2).catch(() => undefined);
        await ledger.debit([keyed], { id: `again ${cut}`, now: 3 });
      }
      await ledger.cancel(group, "lost", 4);
      // What the key paid for before the cancellation was complete is refunded with it.
      const { debited, refunded } = await ledger.account("first");
      expect([debited - refunded, refunded]).toEqual([1, 2]);
      expect((await verifyLedger(database)).faults).toEqual([]);
    });
  });

  test("expired idempotency keys have no effect, and are deleted a few at a time", async () => {
    await withAccounts([600], async (database, [id = 0]) => {
      const ledger = createLedgerStore(database);
      const keyed = (name: number) => ({
        ...makeCharge(id),
        idempotencyKey: { value: `${name}`, fingerprint: "a URL" },
      });
      const names = Array.from({ length: 500 }, (_, name) => name);
      for (const name of names) await ledger.debit([keyed(name)], { id: `${name}`, now: name });
      const later = 25 * 3_600_000;
      const kept = async () => Number((await queryRows(database, COUNT_PAYMENTS))[0]?.["kept"]);
      for (const [index, left] of [300, 100, 3].entries()) {
        const group = { id: `later ${index}`, now: later };
        expect((await ledger.debit([keyed(499 - index)], group)).outcomes).toMatchObject([
          { kind: "charged" },
        ]);
        expect(await kept()).toBe(left);
      }
    });
  }, 30_000);
});

const COUNT_PAYMENTS = "SELECT count(*) AS kept FROM payments";

test.each([0, -1, 0.5, Number.NaN, 2 ** 53])(
  "debit() rejects a charge of %d credits, and debits nothing of its batch",
  async (cost) => {
    await withAccounts([10], async (database, [account = 0]) => {
      const ledger = createLedgerStore(database);
      const charges = [makeCharge(account), { ...makeCharge(account), cost }];
      for (const [index, batch] of [charges, charges.slice(1)].entries()) {
        const debited = ledger.debit(batch, { id: `${index}`, now: 0 });
        const error: unknown = await debited.catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "Invalid Request" });
      }
      expect(await ledger.account("first")).toMatchObject({ debited: 0, balance: 10 });
    });
  },
);
