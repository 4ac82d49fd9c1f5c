import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Notice, NoticeRecord, NoticeStore } from "../../../server/ports/notices.ts";
import { createLedgerStore, type LedgerStore } from "../../../server/store/accounts/ledger.ts";
import { createNoticeStore } from "../../../server/store/accounts/notices.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { resultOrError } from "../../support/store/database.ts";
import { commitDebitGroup, makeCharge, withAccounts } from "../../support/store/debits.ts";

/** Runs a test with accounts of some credits, whose threshold is 5. */
function withThreshold(
  granted: readonly number[],
  work: (parts: {
    readonly database: Database;
    readonly ids: readonly number[];
    readonly ledger: LedgerStore;
    readonly notices: NoticeStore;
  }) => Promise<void>,
) {
  return withAccounts(granted, async (database, ids) => {
    const ledger = createLedgerStore(database);
    for (const { name } of await ledger.accounts({ first: 0, last: 0 }))
      await ledger.setLowBalance(name, 5);
    await work({ database, ids, ledger, notices: createNoticeStore(database) });
    expect((await verifyLedger(database)).faults).toEqual([]);
  });
}

/** Debits an account once. */
const debit = (ledger: LedgerStore, account: number | undefined, cost: number, at: number) =>
  commitDebitGroup(ledger, [{ account: account ?? 0, cost }], `debit ${at}`, at);

const claimAll = (notices: NoticeStore, now: number) =>
  notices.claim({ now, until: now + 100, limit: 10 });

describe("a commit of debits", () => {
  test("leaves one notice when it takes the balance below the threshold", async () => {
    await withThreshold([6], async ({ ids, ledger, notices }) => {
      await debit(ledger, ids[0], 1, 10);
      expect(await notices.list({ limit: 10 })).toEqual([]);
      await debit(ledger, ids[0], 3, 20);
      await debit(ledger, ids[0], 1, 30);
      expect(await notices.list({ limit: 10 })).toEqual([
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
          account: "first",
          balance: 2,
          threshold: 5,
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
      const { outcomes } = await ledger.debit(paid, { uid: "batch", now: 10 });
      expect(outcomes.map(({ kind }) => kind)).toEqual(paid.map(() => "charged"));
      // A commit that is retried changes nothing.
      await ledger.debit(paid, { uid: "batch", now: 10 });
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
      await debit(ledger, ids[0], 4, 10);
      await ledger.setLowBalance("first", 4);
      await debit(ledger, ids[0], 1, 20);
      expect(await notices.list({ limit: 10 })).toEqual([]);
    });
  });

  test("leaves the next one after a grant or with another threshold, not after a refund", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      const countAfter = async (cost: number, at: number) => {
        const [result] = await debit(ledger, ids[0], cost, at);
        return { result, count: (await notices.list({ limit: 10 })).length };
      };
      const first = await countAfter(1, 10);
      if (first.result?.isAccepted !== true) throw new Error("The debit is not accepted");
      await ledger.refund(first.result.debit, "refund", "It failed", 11);
      expect([first.count, (await countAfter(1, 20)).count]).toEqual([1, 1]);
      await ledger.grant({ uid: "g", account: "first", amount: 1 }, 21);
      expect((await countAfter(1, 30)).count).toBe(2);
      await ledger.setLowBalance("first", 4);
      expect((await countAfter(1, 40)).count).toBe(3);
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
              await ledger.grant({ uid: `g ${index}`, account: "first", amount }, index);
              balance += amount;
              continue;
            }
            await debit(ledger, ids[0], amount, index);
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

describe("claim()", () => {
  const withNotice = (work: (notices: NoticeStore) => Promise<void>) =>
    withThreshold([5], async ({ ids, ledger, notices }) => {
      await debit(ledger, ids[0], 1, 100);
      await work(notices);
    });

  test("gives a notice to one of concurrent callers, and to another one after its claim ended", async () => {
    await withNotice(async (notices) => {
      const claims = await Promise.all([1, 2, 3, 4].map(() => claimAll(notices, 100)));
      expect(claims.flat()).toMatchObject([{ account: "first", attempts: 1 }]);
      expect(await claimAll(notices, 199)).toEqual([]);
      expect(await claimAll(notices, 200)).toMatchObject([{ attempts: 2 }]);
    });
  });

  test("gives none that is delivered, given up, or due later", async () => {
    await withNotice(async (notices) => {
      const [notice = {} as Notice] = await claimAll(notices, 100);
      await notices.release(notice, { dueAt: 500, failure: "down" });
      expect(await claimAll(notices, 499)).toEqual([]);
      const [again = {} as Notice] = await claimAll(notices, 500);
      await notices.release(again, { dueAt: null, failure: "down" });
      expect(await notices.countUndelivered()).toEqual({ pending: 0, failed: 1 });
      expect(await claimAll(notices, 10_000)).toEqual([]);
      await notices.markDelivered(notice.id, 600);
      expect(await notices.countUndelivered()).toEqual({ pending: 0, failed: 0 });
      expect(await notices.list({ limit: 10 })).toMatchObject([
        { deliveredAt: 600, failure: null },
      ]);
      expect(await claimAll(notices, 10_000)).toEqual([]);
    });
  });
});

describe("release()", () => {
  test("changes nothing after another claim began, and counts no attempt without a failure", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      await debit(ledger, ids[0], 1, 100);
      const [late = {} as Notice] = await claimAll(notices, 100);
      const [current = {} as Notice] = await claimAll(notices, 200);
      await notices.release(late, { dueAt: null, failure: "down" });
      expect(await notices.list({ limit: 10 })).toMatchObject([{ dueAt: 300, failure: null }]);
      await notices.release(current, { dueAt: 210, failure: null });
      expect(await notices.list({ limit: 10 })).toMatchObject([
        { dueAt: 210, attempts: 1, failure: null },
      ]);
    });
  });
});

describe("list()", () => {
  test("lists pages of the newest first, of an account, in a state", async () => {
    await withThreshold([9, 9], async ({ ids, ledger, notices }) => {
      for (const [index, at] of [10, 20, 20, 30, 30].entries()) {
        const name = index % 2 === 0 ? "first" : "second";
        await commitDebitGroup(
          ledger,
          [{ account: ids[index % 2] ?? 0, cost: 5 }],
          `debit ${index}`,
          at,
        );
        await ledger.grant({ uid: `grant ${index}`, account: name, amount: 5 }, at);
      }
      const all = await notices.list({ limit: 10 });
      expect(all.map(({ at }) => at)).toEqual([30, 30, 20, 20, 10]);
      const walked: string[] = [];
      for (let page = 0; page < 10; page++) {
        const [next] = await notices.list({ limit: 1, after: walked.at(-1) });
        if (next === undefined) break;
        walked.push(next.id);
      }
      expect(walked).toEqual(all.map(({ id }) => id));
      const [delivered = {} as Notice, failed = {} as Notice] = await claimAll(notices, 30);
      await notices.markDelivered(delivered.id, 40);
      await notices.release(failed, { dueAt: null, failure: "down" });
      const ofSecond = await notices.list({ account: "second", limit: 10 });
      expect(ofSecond.map(({ account }) => account)).toEqual(["second", "second"]);
      const count = async (state: NoticeRecord["state"]) =>
        (await notices.list({ state, limit: 10 })).map((notice) => notice.id);
      expect(await count("delivered")).toEqual([delivered.id]);
      expect(await count("failed")).toEqual([failed.id]);
      expect(await count("pending")).toHaveLength(3);
      expect(await notices.list({ account: "nobody", limit: 10 })).toEqual([]);
    });
  });
});

describe("resend()", () => {
  test("makes a notice due that is not delivered, and refuses any other", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      await debit(ledger, ids[0], 1, 100);
      const [notice = {} as Notice] = await claimAll(notices, 100);
      await notices.release(notice, { dueAt: 900, failure: "down" });
      expect(await notices.resend(notice.id, 300)).toMatchObject({ state: "pending", dueAt: 300 });
      expect(await notices.resend(notice.id, 400)).toMatchObject({ dueAt: 300, failure: "down" });
      await notices.markDelivered(notice.id, 500);
      expect(await resultOrError(notices.resend(notice.id, 600))).toContain("Conflict");
      expect(await notices.list({ limit: 10 })).toMatchObject([
        { state: "delivered", deliveredAt: 500, dueAt: null },
      ]);
      expect(await resultOrError(notices.resend("msg_0", 600))).toContain("Not Found");
    });
  });
});

describe("deleteBefore()", () => {
  test("deletes the notices of earlier debits only", async () => {
    await withThreshold([5, 5], async ({ ids, ledger, notices }) => {
      await debit(ledger, ids[0], 1, 100);
      await debit(ledger, ids[1], 1, 200);
      await notices.deleteBefore(200);
      expect(await notices.list({ limit: 10 })).toMatchObject([{ account: "second" }]);
    });
  });
});
