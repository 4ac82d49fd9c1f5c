import { describe, expect, test } from "bun:test";
import { FREE_REPEATS_MAX } from "../../core/limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import {
  makeKeyedCharge,
  outcomeOrWaiting,
  DATABASE_UNRESPONSIVE,
  withFundedLedger,
} from "../support/store/blocked-ledger.ts";

const NOW = 1_790_000_000_000;

describe("debit() of requests with one idempotency key", () => {
  test("lets them wait until the first is answered; then they cost nothing", async () => {
    await withFundedLedger(async (ledger, id) => {
      const debits = createDebitQueue({ ledger, now: () => NOW });
      const first = await debits.debit(makeKeyedCharge(id));
      const others = [
        makeKeyedCharge(id),
        makeKeyedCharge(id),
        makeKeyedCharge(id, "another URL"),
      ].map((charge) => debits.debit(charge));
      expect(await Promise.all(others.map(outcomeOrWaiting))).toEqual(["waits", "waits", "waits"]);
      debits.complete(first, 200);
      const misused =
        "The Idempotency-Key one paid for another URL, body or saved list within 24 hours";
      expect(await Promise.all(others.map(outcomeOrWaiting))).toEqual([0, 0, misused]);
      expect(await ledger.account("a")).toMatchObject({ debited: 1, refunded: 0, balance: 4 });
    });
  });

  test("lets them wait until the first is refunded; then the next one pays", async () => {
    await withFundedLedger(async (ledger, id) => {
      const debits = createDebitQueue({ ledger, now: () => NOW });
      const first = await debits.debit(makeKeyedCharge(id));
      const [second, third] = [
        debits.debit(makeKeyedCharge(id)),
        debits.debit(makeKeyedCharge(id)),
      ];
      await debits.refund(first, "It failed");
      expect([(await second).cost, await outcomeOrWaiting(third)]).toEqual([1, "waits"]);
      await debits.refund(await second, "It failed too");
      expect((await third).cost).toBe(1);
      debits.complete(await third, 200);
      expect((await debits.debit(makeKeyedCharge(id))).cost).toBe(0);
      expect(await ledger.account("a")).toMatchObject({ debited: 3, refunded: 2, balance: 4 });
    });
  });

  test("decides each alone when the payment may have expired", async () => {
    await withFundedLedger(async (ledger, id) => {
      const clock = { now: NOW };
      const debits = createDebitQueue({ ledger, now: () => clock.now });
      debits.complete(await debits.debit(makeKeyedCharge(id)), 200);
      clock.now = NOW + DAY_MS - 1;
      const [second, ...rest] = Array.from({ length: 5 }, () => debits.debit(makeKeyedCharge(id)));
      expect((await second)?.cost).toBe(0);
      clock.now = NOW + DAY_MS;
      expect(await Promise.all(rest.map(outcomeOrWaiting))).toEqual([1, "waits", "waits", "waits"]);
      if (rest[0] !== undefined) debits.complete(await rest[0], 200);
      expect(await Promise.all(rest.map(outcomeOrWaiting))).toEqual([1, 0, 0, 0]);
      expect(await ledger.account("a")).toMatchObject({ debited: 2, balance: 3 });
    });
  });

  test("rejects those that wait too long for the first, and lets a later one pay", async () => {
    await withFundedLedger(async (ledger, id) => {
      const debits = createDebitQueue({ ledger, now: () => NOW, timeoutMs: 300 });
      const first = await debits.debit(makeKeyedCharge(id));
      const second = debits.debit(makeKeyedCharge(id));
      expect(await second.catch(({ message }) => message)).toBe(DATABASE_UNRESPONSIVE);
      await debits.refund(first, "It failed at last");
      expect((await debits.debit(makeKeyedCharge(id))).cost).toBe(1);
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 1, balance: 4 });
    });
  });

  test("charges the request after 10 repeats, but not those that waited for the first", async () => {
    await withFundedLedger(async (ledger, id) => {
      const debits = createDebitQueue({ ledger, now: () => NOW });
      const pay = async () => {
        const receipt = await debits.debit(makeKeyedCharge(id));
        debits.complete(receipt, 200);
        return receipt.cost;
      };
      for (const balance of [4, 3]) {
        const first = await debits.debit(makeKeyedCharge(id));
        expect([first.cost, first.balance]).toEqual([1, balance]);
        const waited = Array.from({ length: 30 }, () => debits.debit(makeKeyedCharge(id)));
        debits.complete(first, 200);
        for (const receipt of await Promise.all(waited)) expect(receipt.cost).toBe(0);
        for (let nth = 0; nth < FREE_REPEATS_MAX; nth++) expect(await pay()).toBe(0);
      }
      expect(await ledger.account("a")).toMatchObject({ debited: 2, refunded: 0, balance: 3 });
    });
  });

  test("does not let requests of different accounts wait for each other", async () => {
    await withFundedLedger(async (ledger, id) => {
      const other = await ledger.createAccount("b", 0);
      await ledger.grant({ id: "gb", account: "b", amount: 1 }, 0);
      const debits = createDebitQueue({ ledger, now: () => NOW });
      const first = await debits.debit(makeKeyedCharge(id));
      const others = await debits.debit(makeKeyedCharge(other.id));
      expect([first.cost, others.cost]).toEqual([1, 1]);
      expect(await ledger.account("b")).toMatchObject({ debited: 1, balance: 0 });
    });
  });

  test("forwards all of them together once the first is answered", async () => {
    await withFundedLedger(async (ledger, id) => {
      const groups: number[] = [];
      const counting: typeof ledger = {
        ...ledger,
        debit: (waiting, group) => {
          groups.push(waiting.length);
          return ledger.debit(waiting, group);
        },
      };
      const debits = createDebitQueue({ ledger: counting, now: () => NOW });
      const first = await debits.debit(makeKeyedCharge(id));
      const others = Array.from({ length: 3 }, () => debits.debit(makeKeyedCharge(id)));
      debits.complete(first, 200);
      expect((await Promise.all(others)).map(({ cost }) => cost)).toEqual([0, 0, 0]);
      expect(groups).toEqual([1, 3]);
    });
  });

  test("refuses each of them when the balance covers none", async () => {
    await withFundedLedger(async (ledger, id) => {
      const debits = createDebitQueue({ ledger, now: () => NOW });
      const refused = "This request costs 9 credits, the balance is 5";
      const dear = Array.from({ length: 3 }, () =>
        debits.debit({ ...makeKeyedCharge(id), cost: 9 }),
      );
      for (const one of dear) expect(await one.catch(({ message }) => message)).toBe(refused);
      expect((await debits.debit(makeKeyedCharge(id))).cost).toBe(1);
    });
  });
});
