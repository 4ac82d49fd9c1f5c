/** Requests whose clients leave before the response. */
import { describe, expect, test } from "bun:test";
import { waitForEndOfTurn, waitForSocketPoll } from "../../server/metering/group-commit.ts";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import { CLOSED_CONNECTION_REASON } from "../../server/stored-names.ts";
import type { LedgerStore } from "../../server/store/accounts/ledger.ts";
import {
  blockCommits,
  makeKeyedCharge,
  withFundedLedger,
} from "../support/store/blocked-ledger.ts";
import { makeCharge } from "../support/store/debits.ts";
import { waitUntil } from "../support/wait.ts";

const NOW = 1_790_000_000_000;

/** Counts the commits of a ledger: the debits and the refunds of each. */
function countCommits(ledger: LedgerStore) {
  const commits: { debits: number; refunds: number }[] = [];
  const countingLedger: LedgerStore = {
    ...ledger,
    debit(charges, batch) {
      commits.push({ debits: charges.length, refunds: batch.refunds?.length ?? 0 });
      return ledger.debit(charges, batch);
    },
    refundAll(refunds, now) {
      commits.push({ debits: 0, refunds: refunds.length });
      return ledger.refundAll(refunds, now);
    },
  };
  return { countingLedger, commits };
}

const grant = (ledger: LedgerStore, amount: number) =>
  ledger.grant({ id: "more", account: "a", amount }, 0);

describe("debit() of a request whose client leaves", () => {
  test("before its commit: charges nothing, and the next request with its key pays", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { blockedLedger, groups, unblock } = blockCommits(ledger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW });
      const first = debits.debit(makeCharge(id));
      await waitUntil(() => groups.length > 0);
      const client = new AbortController();
      const left = debits.debit(makeKeyedCharge(id), client.signal).catch(String);
      const next = debits.debit(makeKeyedCharge(id));
      client.abort("It left");
      for (const index of [0, 1]) unblock(index);
      expect([(await first).balance, await left, (await next).balance]).toEqual([4, "It left", 3]);
      expect(groups).toEqual([[id], [id]]);
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 0 });
    });
  });

  test("soon after another one: is not charged, however many it sent before the next poll", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { countingLedger, commits } = countCommits(ledger);
      const debits = createDebitQueue({ ledger: countingLedger, now: () => NOW });
      const earlier = debits.debit(makeCharge(id), AbortSignal.abort("It left earlier"));
      expect(await earlier.catch(String)).toBe("It left earlier");
      const client = new AbortController();
      const reads = [1, 2, 3].map(() => debits.debit(makeCharge(id), client.signal).catch(String));
      const other = debits.debit(makeCharge(id));
      // The poll comes after the immediates of the turn in which the requests were read.
      setImmediate(() => client.abort("It left"));
      expect(await Promise.all(reads)).toEqual(["It left", "It left", "It left"]);
      expect((await other).balance).toBe(4);
      expect(commits).toEqual([{ debits: 1, refunds: 0 }]);
    });
  });

  test("makes the next commit wait for a poll of the sockets, which finds others that left", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { countingLedger, commits } = countCommits(ledger);
      const { blockedLedger, groups, unblock } = blockCommits(countingLedger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW });
      const [left, leaving, late] = [1, 2, 3].map(() => new AbortController());
      const first = debits.debit(makeCharge(id));
      await waitUntil(() => groups.length > 0);
      const clients = [left, leaving, late];
      const settled = Promise.allSettled(
        clients.map((client) => debits.debit(makeCharge(id), client?.signal)),
      );
      left?.abort();
      // A connection that closed, whose socket the event loop has not polled yet.
      setImmediate(() => leaving?.abort());
      unblock(0);
      await first;
      await waitUntil(() => groups.length > 1);
      unblock(1);
      setImmediate(() => late?.abort());
      const [, , receipt] = await settled;
      if (receipt?.status === "fulfilled") await debits.refund(receipt.value, "It left");
      expect(commits).toEqual([
        { debits: 1, refunds: 0 },
        { debits: 1, refunds: 0 },
        { debits: 0, refunds: 1 },
      ]);
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1 });
    });
  });

  test("in a burst of many that were read in one turn: is found by a poll, and not charged", async () => {
    await withFundedLedger(async (ledger, id) => {
      const { countingLedger, commits } = countCommits(ledger);
      const debits = createDebitQueue({ ledger: countingLedger, now: () => NOW });
      const burst = ({ signal }: AbortController) =>
        Array.from({ length: 50 }, () => debits.debit(makeCharge(id), signal).catch(String));
      const [client, later] = [new AbortController(), new AbortController()];
      const reads = burst(client);
      await waitForEndOfTurn();
      await waitForEndOfTurn();
      client.abort("It left");
      // Requests of other connections, which the first poll reads; the next one finds that they left.
      reads.push(...burst(later));
      setImmediate(() => later.abort("It left"));
      const other = await debits.debit(makeCharge(id));
      expect(new Set(await Promise.all(reads))).toEqual(new Set(["It left"]));
      expect([reads.length, other.balance]).toEqual([100, 4]);
      expect(commits).toEqual([{ debits: 1, refunds: 0 }]);
    });
  });

  test("during its commit: the next commit refunds it, without a commit of its own", async () => {
    await withFundedLedger(async (ledger, id) => {
      await grant(ledger, 100);
      const { countingLedger, commits } = countCommits(ledger);
      const { blockedLedger, groups, unblock } = blockCommits(countingLedger);
      const debits = createDebitQueue({ ledger: blockedLedger, now: () => NOW });
      const client = new AbortController();
      const reads = Array.from({ length: 50 }, () => debits.debit(makeCharge(id), client.signal));
      await waitUntil(() => groups.length > 0);
      client.abort();
      const other = debits.debit(makeCharge(id));
      await waitForSocketPoll();
      for (const index of [0, 1]) unblock(index);
      for (const read of reads) await debits.refund(await read, CLOSED_CONNECTION_REASON);
      expect((await other).balance).toBe(54);
      expect(commits).toEqual([
        { debits: 50, refunds: 0 },
        { debits: 1, refunds: 50 },
      ]);
      expect(await ledger.account("a")).toMatchObject({ debited: 51, refunded: 50 });
    });
  });
});

describe("refund() of many requests", () => {
  test("takes one commit for each 256, also when no debit waits", async () => {
    await withFundedLedger(async (ledger, id) => {
      await grant(ledger, 600);
      const { countingLedger, commits } = countCommits(ledger);
      const debits = createDebitQueue({ ledger: countingLedger, now: () => NOW });
      const receipts = await Promise.all(
        Array.from({ length: 600 }, () => debits.debit(makeCharge(id))),
      );
      expect(commits.map((commit) => commit.debits)).toEqual([256, 256, 88]);
      await Promise.all(receipts.map((receipt) => debits.refund(receipt, "It failed")));
      expect(commits.slice(3)).toEqual(
        [256, 256, 88].map((refunds) => Object.assign({ debits: 0, refunds })),
      );
      expect(await ledger.account("a")).toMatchObject({ debited: 600, refunded: 600 });
    });
  });

  test("loses and doubles none when a commit with them gets no response", async () => {
    await withFundedLedger(async (ledger, id) => {
      for (const isCommitted of [true, false]) {
        let isFailing = false;
        const unanswered: LedgerStore = {
          ...ledger,
          async debit(charges, batch) {
            if (isCommitted || !isFailing) await ledger.debit(charges, batch);
            if (isFailing) throw new Error("No answer");
            return ledger.debit(charges, batch);
          },
        };
        const debits = createDebitQueue({ ledger: unanswered, now: () => NOW });
        const receipt = await debits.debit(makeCharge(id, 2));
        isFailing = true;
        const refunded = debits.refund(receipt, "It failed");
        const failed = debits.debit(makeCharge(id)).catch(({ message }) => message);
        expect(await failed).toBe("No answer");
        await refunded;
        await debits.close();
        const { debited, refunded: given } = await ledger.account("a");
        expect(debited - given).toBe(0);
      }
    });
  });
});
