/** The trigger that adds notices about low balances in the transaction of a debit. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { makeCharge } from "../../support/store/debits.ts";
import { claimAll, debitOnce, withThreshold } from "../../support/store/low-balance.ts";

describe("a commit of debits", () => {
  test("leaves one notice when it takes the balance below the threshold", async () => {
    await withThreshold([6], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 10);
      expect(await notices.list({ limit: 10 })).toEqual([]);
      await debitOnce(ledger, ids[0], 3, 20);
      await debitOnce(ledger, ids[0], 1, 30);
      expect(await notices.list({ limit: 10 })).toEqual([
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
          account: "first",
          balance: 2,
          threshold: 5,
          granted: 6,
          state: "pending",
          at: 20,
          attempts: 0,
          dueAt: 20,
          deliveredAt: null,
          failure: null,
        },
      ]);
    });
  });

  test("leaves one for each account, also with idempotency keys", async () => {
    await withThreshold([6, 5, 100], async ({ ids, ledger, notices }) => {
      const charges = [0, 1, 0, 2, 2].map((index) => makeCharge(ids[index] ?? 0));
      const idempotencyKey = { value: "k", fingerprint: "f" };
      const paid = charges.map((charge, index) =>
        index === 1 ? Object.assign({ idempotencyKey }, charge) : charge,
      );
      const { outcomes } = await ledger.debit(paid, { id: "batch", now: 10 });
      expect(outcomes.map(({ kind }) => kind)).toEqual(paid.map(() => "charged"));
      // A commit that is retried changes nothing.
      await ledger.debit(paid, { id: "batch", now: 10 });
      const listed = await notices.list({ limit: 10 });
      expect(listed.map(({ account, balance }) => [account, balance]).toSorted()).toEqual([
        ["first", 4],
        ["second", 4],
      ]);
    });
  });

  test("leaves none without a threshold, nor if setting it finds the balance below", async () => {
    await withThreshold([6], async ({ ids, ledger, notices }) => {
      await ledger.setLowBalance("first", null);
      await debitOnce(ledger, ids[0], 4, 10);
      await ledger.setLowBalance("first", 4);
      await debitOnce(ledger, ids[0], 1, 20);
      expect(await notices.list({ limit: 10 })).toEqual([]);
    });
  });

  test("leaves the next one after a grant or with another threshold, not after a refund", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      const countAfter = async (cost: number, at: number) => {
        const [result] = await debitOnce(ledger, ids[0], cost, at);
        return { result, count: (await notices.list({ limit: 10 })).length };
      };
      const first = await countAfter(1, 10);
      if (first.result?.isAccepted !== true) throw new Error("The debit is not accepted");
      await ledger.refund(first.result.debit, "refund", "It failed", 11);
      expect([first.count, (await countAfter(1, 20)).count]).toEqual([1, 1]);
      await ledger.grant({ id: "g", account: "first", amount: 1 }, 21);
      expect((await countAfter(1, 30)).count).toBe(2);
      await ledger.setLowBalance("first", 4);
      expect((await countAfter(1, 40)).count).toBe(3);
      // Those of the second sum of grants differ from the first one, whose balance was the same.
      const claimed = await claimAll(notices, 50);
      const inOrder = claimed.toSorted((one, other) => one.at - other.at);
      expect(inOrder.map(({ balance, granted }) => [balance, granted])).toEqual([
        [4, 5],
        [4, 6],
        [3, 6],
      ]);
    });
  });

  test("leaves as many as crossings of the threshold, one for each sum of grants", async () => {
    const step = fc.record({
      kind: fc.constantFrom("debit", "grant"),
      amount: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), (steps) =>
        withThreshold([7], async ({ ids, ledger, notices }) => {
          let balance = 7;
          const expected: number[] = [];
          for (const [index, { kind, amount }] of steps.entries()) {
            if (kind === "grant") {
              await ledger.grant({ id: `g ${index}`, account: "first", amount }, index);
              balance += amount;
              continue;
            }
            await debitOnce(ledger, ids[0], amount, index);
            if (amount > balance) continue;
            if (balance >= 5 && balance - amount < 5) expected.push(balance - amount);
            balance -= amount;
          }
          const listed = await notices.list({ limit: 100 });
          expect(listed.map((notice) => notice.balance).toReversed()).toEqual(expected);
        }),
      ),
      { numRuns: 20 },
    );
  });
});
