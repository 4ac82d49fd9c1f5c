import { describe, expect, test } from "bun:test";
import type { NoticeStore } from "../../../server/store/accounts/notices.ts";
import type { NoticeState } from "../../../server/stored-names.ts";
import { resultOrError } from "../../support/store/database.ts";
import { commitDebitGroup } from "../../support/store/debits.ts";
import {
  claimAll,
  debitOnce,
  withThreshold,
  type Notice,
} from "../../support/store/low-balance.ts";

describe("claim()", () => {
  const withNotice = (work: (notices: NoticeStore) => Promise<void>) =>
    withThreshold([5], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 100);
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

describe("claim() after the clock was ahead", () => {
  test("gives a notice that is due later than any attempt can be", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 100);
      const [notice = {} as Notice] = await claimAll(notices, 100);
      await notices.release(notice, { dueAt: 5000, failure: "down" });
      expect(await claimAll(notices, 4000)).toEqual([]);
      expect(await claimAll(notices, 3999)).toMatchObject([{ attempts: 2, dueAt: 4099 }]);
    });
  });
});

describe("release()", () => {
  test("leaves a notice due that was to be sent again meanwhile, also to give it up", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 100);
      for (const dueAt of [900, null]) {
        const [notice = {} as Notice] = await claimAll(notices, 100);
        await notices.resend(notice.id, 150);
        await notices.release(notice, { dueAt, failure: "down" });
        expect(await notices.list({ limit: 10 })).toMatchObject([{ dueAt: 150, attempts: 0 }]);
        await notices.resend(notice.id, 100);
      }
    });
  });

  test("changes nothing after another claim began, and counts no attempt without a failure", async () => {
    await withThreshold([5], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 100);
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
        await ledger.grant({ id: `grant ${index}`, account: name, amount: 5 }, at);
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
      const count = async (state: NoticeState) =>
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
      await debitOnce(ledger, ids[0], 1, 100);
      const [notice = {} as Notice] = await claimAll(notices, 100);
      await notices.release(notice, { dueAt: 900, failure: "down" });
      expect(await notices.resend(notice.id, 300)).toMatchObject({ state: "pending", dueAt: 300 });
      expect(await notices.resend(notice.id, 400)).toMatchObject({
        dueAt: 400,
        attempts: 0,
        failure: "down",
      });
      await notices.markDelivered(notice.id, 500);
      expect(await resultOrError(notices.resend(notice.id, 600))).toContain("Conflict");
      expect(await notices.list({ limit: 10 })).toMatchObject([
        { state: "delivered", deliveredAt: 500, dueAt: null },
      ]);
      expect(await resultOrError(notices.resend("msg_0", 600))).toContain("Not Found");
    });
  });
});

describe("deleteEndedBefore()", () => {
  test("deletes what was delivered or given up before, nothing that is pending", async () => {
    await withThreshold([5, 5, 5], async ({ ids, ledger, notices }) => {
      for (const id of ids) await debitOnce(ledger, id, 1, 100 + id);
      const [delivered = {} as Notice, failed = {} as Notice, pending] = await claimAll(
        notices,
        200,
      );
      await notices.markDelivered(delivered.id, 250);
      await notices.release(failed, { dueAt: null, failure: "down" });
      await notices.deleteEndedBefore(200);
      expect(await notices.list({ limit: 10 })).toHaveLength(3);
      await notices.deleteEndedBefore(201);
      expect(await notices.list({ limit: 10 })).toMatchObject([
        { id: pending?.id, state: "pending" },
      ]);
    });
  });
});

describe("setLowBalance()", () => {
  test("without a threshold, withdraws the pending notices of the account, no others", async () => {
    await withThreshold([5, 5], async ({ ids, ledger, notices }) => {
      await debitOnce(ledger, ids[0], 1, 100);
      const [sent = {} as Notice] = await claimAll(notices, 100);
      await notices.markDelivered(sent.id, 110);
      await ledger.grant({ id: "g", account: "first", amount: 1 }, 120);
      await debitOnce(ledger, ids[0], 1, 200);
      await debitOnce(ledger, ids[1], 1, 201);
      // Another threshold withdraws nothing.
      await ledger.setLowBalance("first", 4);
      expect(await notices.list({ limit: 10 })).toHaveLength(3);
      const claimed = await claimAll(notices, 300);
      const running = claimed.find(({ account }) => account === "first") ?? ({} as Notice);
      await ledger.setLowBalance("first", null);
      await notices.release(running, { dueAt: 400, failure: "down" });
      const listed = await notices.list({ limit: 10 });
      expect(listed.map(({ account, state }) => [account, state])).toEqual([
        ["second", "pending"],
        ["first", "delivered"],
      ]);
    });
  });
});
