import { describe, expect, test } from "bun:test";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import type { LedgerStore } from "../../server/store/accounts/ledger.ts";
import { makeCharge } from "../support/store/debits.ts";
import {
  blockCommits,
  makeKeyedCharge,
  outcomeOrWaiting,
  DATABASE_UNRESPONSIVE,
  withFundedLedger,
} from "../support/store/blocked-ledger.ts";
import { letEventLoopRun, waitUntil } from "../support/wait.ts";

const NOW = 1_790_000_000_000;

describe("createDebitQueue() when a refund fails", () => {
  /** A ledger that fails to give back as often as there are errors. */
  const failing = (ledger: LedgerStore, errors: Error[]): LedgerStore => ({
    ...ledger,
    async refundAll(...args) {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return ledger.refundAll(...args);
    },
    async cancel(...args) {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return ledger.cancel(...args);
    },
  });

  test("applies it later, once, and rejects its idempotency key until then", async () => {
    await withFundedLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const errors = [new TypeError("The answer was cut")];
      const debits = createDebitQueue({
        ledger: failing(ledger, errors),
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      const first = await debits.debit(makeKeyedCharge(id));
      const behind = debits.debit(makeKeyedCharge(id));
      await debits.refund(first, "It failed");
      expect([
        await outcomeOrWaiting(behind),
        await outcomeOrWaiting(debits.debit(makeKeyedCharge(id))),
      ]).toEqual([DATABASE_UNRESPONSIVE, DATABASE_UNRESPONSIVE]);
      expect(failures.map(String)).toEqual([
        `Error: A refund of 1 to account ${id} is not done yet: TypeError: The answer was cut`,
      ]);
      await waitUntil(async () => (await ledger.account("a")).refunded > 0);
      await waitUntil(
        async () => (await outcomeOrWaiting(debits.debit(makeKeyedCharge(id)))) === 1,
      );
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1, balance: 4 });
    });
  });

  test("close() tries it once more", async () => {
    await withFundedLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const errors = [1, 2].map((nth) => new Error(`The disk is full ${nth}`));
      const debits = createDebitQueue({
        ledger: failing(ledger, errors),
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      await debits.refund(await debits.debit(makeCharge(id)), "It failed");
      await debits.refund(await debits.debit(makeCharge(id)), "It failed");
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 0 });
      expect(failures.length).toBe(2);
      // The attempt of both together fails, and then that of the first one alone.
      errors.push(...[3, 4].map((nth) => new Error(`The disk is full ${nth}`)));
      await debits.close();
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1, balance: 4 });
      expect(failures.length).toBe(3);
    });
  });

  test("refund() tries it after close(), for a request that ended late", async () => {
    await withFundedLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const debits = createDebitQueue({
        ledger,
        now: () => NOW,
        onFailure: (error) => failures.push(error),
      });
      const receipt = await debits.debit(makeCharge(id));
      await debits.close();
      await debits.refund(receipt, "It failed");
      expect([failures, await ledger.account("a")]).toMatchObject([[], { refunded: 1 }]);
    });
  });

  test("close() waits for running commits and refunds", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { blockedLedger, groups, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW });
      const late = debits.debit(makeCharge(id)).catch(({ message }) => String(message));
      await waitUntil(() => groups.length > 0);
      let isClosed = false;
      const closing = debits.close().then(() => (isClosed = true));
      await letEventLoopRun();
      expect(isClosed).toBe(false);
      unblock(0, new Error("The disk is full"));
      expect(await late).toBe("The disk is full");
      await closing;
      expect(await ledger.account("a")).toMatchObject({ debited: 0, balance: 5 });
    });
  });

  test("cancels a commit that takes longer than a client may wait", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { blockedLedger, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW, timeoutMs: 300 });
      const late = debits.debit(makeCharge(id));
      expect(await late.catch(({ message }) => message)).toBe(DATABASE_UNRESPONSIVE);
      unblock(1);
      expect((await debits.debit(makeCharge(id))).balance).toBe(4);
      unblock(0);
      await debits.close();
      const after = await debits.debit(makeCharge(id)).catch(() => undefined);
      expect(after).toBeUndefined();
      expect(await ledger.account("a")).toMatchObject({ balance: 4 });
    });
  });

  test("close() waits for a request that waits for a commit", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { blockedLedger, groups, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW });
      const first = debits.debit(makeCharge(id));
      await waitUntil(() => groups.length > 0);
      const second = debits.debit(makeCharge(id));
      let isClosed = false;
      const closing = debits.close().then(() => (isClosed = true));
      await letEventLoopRun();
      unblock(0);
      expect((await first).balance).toBe(4);
      await waitUntil(() => groups.length > 1);
      await letEventLoopRun();
      expect(isClosed).toBe(false);
      unblock(1);
      expect((await second).balance).toBe(3);
      await closing;
    });
  });

  test("refund() resolves within the time that a client may wait", async () => {
    await withFundedLedger(async (ledger, id) => {
      const failures: unknown[] = [];
      const debits = createDebitQueue({
        ledger: { ...ledger, refundAll: () => new Promise<never>(() => {}) },
        now: () => NOW,
        timeoutMs: 300,
        onFailure: (error) => failures.push(error),
      });
      await debits.refund(await debits.debit(makeCharge(id, 2)), "It failed");
      expect(failures.map(String)).toEqual([
        `Error: A refund of 2 to account ${id} is not done yet: DomainError: ${DATABASE_UNRESPONSIVE}`,
      ]);
      // Else it would go on trying while other tests run.
      await debits.close();
    });
  });

  test("close() does not repeat a refund that succeeded", async () => {
    await withFundedLedger(async (ledger, id) => {
      let refunds = 0;
      const counting: LedgerStore = {
        ...ledger,
        refundAll(...args) {
          refunds++;
          return ledger.refundAll(...args);
        },
      };
      const debits = createDebitQueue({ ledger: counting, now: () => NOW });
      await debits.refund(await debits.debit(makeCharge(id)), "It failed");
      await debits.close();
      expect(refunds).toBe(1);
    });
  });

  test("reports it once, however often it fails, and does not retry it after close()", async () => {
    await withFundedLedger(async (ledger, id) => {
      const errors = (many: number) => Array.from({ length: many }, () => new Error("No room"));
      const [errorsOfClosed, errorsOfRunning] = [errors(9), errors(2)];
      const [reported, reportedByClosed]: [unknown[], unknown[]] = [[], []];
      const ended = createDebitQueue({
        ledger: failing(ledger, errorsOfClosed),
        now: () => NOW,
        onFailure: (error) => reportedByClosed.push(error),
      });
      await ended.refund(await ended.debit(makeCharge(id)), "It failed");
      await ended.close();
      expect([errorsOfClosed.length, reportedByClosed.length]).toEqual([7, 2]);
      const running = createDebitQueue({
        ledger: failing(ledger, errorsOfRunning),
        now: () => NOW,
        onFailure: (error) => reported.push(error),
      });
      await running.refund(await running.debit(makeCharge(id)), "It failed");
      // Its second attempt comes later than one of those that ended would.
      await waitUntil(() => errorsOfRunning.length === 0);
      await letEventLoopRun();
      expect([errorsOfClosed.length, reported.length]).toEqual([7, 1]);
      await running.close();
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1 });
    });
  });
});
