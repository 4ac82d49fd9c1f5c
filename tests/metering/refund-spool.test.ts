import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDebitQueue } from "../../server/metering/debit-queue.ts";
import { createRefundSpool, type Refund } from "../../server/metering/refund-spool.ts";
import type { LedgerStore } from "../../server/store/accounts/ledger.ts";
import { makeCharge } from "../support/store/debits.ts";
import { makeKeyedCharge, withFundedLedger } from "../support/store/blocked-ledger.ts";
import { waitUntil } from "../support/wait.ts";

const NOW = 1_790_000_000_000;

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "spool-")), "inner");
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

const openSpool = (database = "this one") => createRefundSpool(folder, database);

const makeGroupRefund = (uid: string, count = 1): Refund => ({
  kind: "batch",
  uid,
  charges: Array.from({ length: count }, () => makeCharge(1)),
});

const readRefunds = async (spool: ReturnType<typeof openSpool>) =>
  (await spool.readOthers()).flatMap(({ refunds }) => refunds);

/** Queues of debits of processes one after the other, whose ledger fails at what is named. */
const startDebitQueue = (ledger: LedgerStore, overrides: Partial<LedgerStore> = {}) =>
  createDebitQueue({ ledger: { ...ledger, ...overrides }, now: () => NOW, spool: openSpool() });

const rejectCall = () => Promise.reject(new Error("No answer"));

describe("createRefundSpool()", () => {
  test("add() saves refunds for another process, in files that only the user can read", async () => {
    const spool = openSpool();
    const refunds = Array.from({ length: 50 }, (_, index) => makeGroupRefund(`group ${index}`, 3));
    await Promise.all(refunds.map(spool.add));
    expect(spool.countPendingRequests()).toBe(150);
    expect(await readRefunds(openSpool())).toEqual(refunds);
    expect(await readRefunds(spool)).toEqual([]);
    expect((await stat(spool.file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("markApplied() removes the file after the last refund, and add() creates it again", async () => {
    const spool = openSpool();
    for (const uid of ["a", "b"]) await spool.add(makeGroupRefund(uid));
    await spool.markApplied(makeGroupRefund("a"));
    expect(await readdir(folder)).toHaveLength(1);
    await spool.markApplied(makeGroupRefund("b"));
    expect(await readdir(folder)).toEqual([]);
    await spool.add(makeGroupRefund("c"));
    expect(await readRefunds(openSpool())).toEqual([makeGroupRefund("c")]);
  });

  test("readOthers() skips damaged and torn lines, and returns their numbers", async () => {
    const spool = openSpool();
    for (const uid of ["a", "b", "c"]) await spool.add(makeGroupRefund(uid));
    const text = await readFile(spool.file, "utf8");
    await writeFile(spool.file, text.replace('"uid":"b"', '"uid":"x"'));
    await appendFile(spool.file, text.slice(0, 60));
    const [found] = await openSpool().readOthers();
    expect(found?.refunds).toEqual([makeGroupRefund("a"), makeGroupRefund("c")]);
    expect(found?.damagedLines).toEqual([2, 4]);
  });

  test("discard() keeps the refunds of another database", async () => {
    const other = openSpool("another one");
    await other.add(makeGroupRefund("a", 2));
    const spool = openSpool();
    const [found] = await spool.readOthers();
    if (found === undefined) throw new Error("No file");
    expect([found.refunds, found.otherDatabases]).toEqual([[], { "another one": 2 }]);
    await spool.discard(found);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test("discard() loses nothing that the process of the file adds meanwhile", async () => {
    const spool = openSpool();
    await spool.add(makeGroupRefund("before"));
    const reader = openSpool();
    const [found] = await reader.readOthers();
    if (found === undefined) throw new Error("No file");
    await spool.add(makeGroupRefund("between"));
    await reader.discard(found);
    expect((await readRefunds(reader)).map(({ uid }) => uid)).toEqual(["before", "between"]);
    await spool.add(makeGroupRefund("after"));
    expect((await readRefunds(reader)).map(({ uid }) => uid)).toContain("after");
  });

  test("add() loses no refund while others discard the file all the time", async () => {
    const spool = openSpool();
    const reader = openSpool();
    const seen = new Set<string>();
    const discardAll = async () => {
      for (const found of await reader.readOthers()) {
        for (const { uid } of found.refunds) seen.add(uid);
        await reader.discard(found);
      }
    };
    const uids = Array.from({ length: 100 }, (_, index) => `group ${index}`);
    for (const uid of uids) await Promise.all([spool.add(makeGroupRefund(uid)), discardAll()]);
    await discardAll();
    expect(uids.filter((uid) => !seen.has(uid))).toEqual([]);
  });
});

describe("recover()", () => {
  test("applies, once, the refunds of a process that ended", async () => {
    await withFundedLedger(async (ledger, id) => {
      const first = startDebitQueue(ledger, { refundAll: rejectCall });
      await first.refund(await first.debit(makeCharge(id, 2)), "It failed");
      await first.close();
      expect(await ledger.account("a")).toMatchObject({ balance: 3, refunded: 0 });
      const [name = ""] = await readdir(folder);
      const saved = await readFile(join(folder, name));
      const [recovered] = await startDebitQueue(ledger).recover();
      expect(recovered).toMatchObject({ settled: 1, left: 0, problems: [] });
      expect(await readdir(folder)).toEqual([]);
      await writeFile(join(folder, name), saved);
      await startDebitQueue(ledger).recover();
      expect(await ledger.account("a")).toMatchObject({ balance: 5, refunded: 2 });
    });
  });

  test("cancels a batch whose commit got no answer, whether it was committed or not", async () => {
    await withFundedLedger(async (ledger, id) => {
      const lost: LedgerStore["debit"] = async (...args) => {
        await ledger.debit(...args);
        throw new Error("No answer");
      };
      for (const debit of [lost, rejectCall]) {
        const process = startDebitQueue(ledger, { debit, cancel: rejectCall });
        const charges = [makeCharge(id), makeKeyedCharge(id)];
        await Promise.allSettled(charges.map((charge) => process.debit(charge)));
        await process.close();
      }
      expect(await ledger.account("a")).toMatchObject({ balance: 3, refunded: 0 });
      const recovered = await startDebitQueue(ledger).recover();
      expect(recovered.map(({ settled }) => settled)).toEqual([2, 2]);
      expect(await ledger.account("a")).toMatchObject({ balance: 5, refunded: 2 });
    });
  });

  test("debit() rejects only after the refund is on the disk, so that a kill loses nothing", async () => {
    await withFundedLedger(async (ledger, id) => {
      const process = startDebitQueue(ledger, {
        debit: rejectCall,
        cancel: () => new Promise<never>(() => {}),
      });
      await expect(process.debit(makeCharge(id))).rejects.toThrow("No answer");
      expect(await readRefunds(openSpool())).toHaveLength(1);
    });
  });

  test("refund() saves refunds that pile up before they are applied, so that a kill loses few", async () => {
    await withFundedLedger(async (ledger, id) => {
      await ledger.grant({ id: "more", account: "a", amount: 100 }, 0);
      const process = startDebitQueue(ledger, { refundAll: () => new Promise<never>(() => {}) });
      const reads = Array.from({ length: 100 }, () => process.debit(makeCharge(id)));
      for (const receipt of await Promise.all(reads)) void process.refund(receipt, "It failed");
      await waitUntil(async () => (await readRefunds(openSpool())).length > 0);
      expect(await readRefunds(openSpool())).toHaveLength(36);
      const { recover } = startDebitQueue(ledger);
      expect(await recover()).toMatchObject([{ settled: 36, left: 0 }]);
      expect(await ledger.account("a")).toMatchObject({ debited: 100, refunded: 36 });
    });
  });

  test("recover() applies the refunds of a file in groups", async () => {
    await withFundedLedger(async (ledger, id) => {
      await ledger.grant({ id: "more", account: "a", amount: 300 }, 0);
      const ended = startDebitQueue(ledger, { refundAll: rejectCall });
      const reads = Array.from({ length: 300 }, () => ended.debit(makeCharge(id)));
      const receipts = await Promise.all(reads);
      await Promise.all(receipts.map((receipt) => ended.refund(receipt, "It failed")));
      const groups: number[] = [];
      const { recover } = startDebitQueue(ledger, {
        refundAll(refunds, now) {
          groups.push(refunds.length);
          return ledger.refundAll(refunds, now);
        },
      });
      expect(await recover()).toMatchObject([{ settled: 300, left: 0 }]);
      expect(groups).toEqual([256, 44]);
      expect(await ledger.account("a")).toMatchObject({ debited: 300, refunded: 300 });
      await ended.close();
    });
  });

  test("keeps refunds that fail, and puts damaged lines aside once the others are applied", async () => {
    await withFundedLedger(async (ledger, id) => {
      const first = startDebitQueue(ledger, { refundAll: rejectCall });
      await first.refund(await first.debit(makeCharge(id)), "It failed");
      await first.close();
      const [name = ""] = await readdir(folder);
      await appendFile(join(folder, name), "torn");
      const [failed] = await startDebitQueue(ledger, { refundAll: rejectCall }).recover();
      expect(failed).toMatchObject({ settled: 0, left: 1 });
      expect(failed?.problems).toEqual(["damaged lines: 2", "No answer"]);
      const [done] = await startDebitQueue(ledger).recover();
      expect(done).toMatchObject({ settled: 1, left: 0, problems: ["damaged lines: 2"] });
      expect(await readdir(folder)).toEqual([`${name}.damaged`]);
      expect(await startDebitQueue(ledger).recover()).toEqual([]);
      expect(await ledger.account("a")).toMatchObject({ balance: 5 });
    });
  });
});

test("close() leaves no file when every refund is applied", async () => {
  await withFundedLedger(async (ledger, id) => {
    let isAway = true;
    const process = startDebitQueue(ledger, {
      refundAll: (...args) => (isAway ? rejectCall() : ledger.refundAll(...args)),
    });
    await process.refund(await process.debit(makeCharge(id)), "It failed");
    expect(await readdir(folder)).toHaveLength(1);
    isAway = false;
    await process.close();
    expect(await readdir(folder)).toEqual([]);
    expect(await ledger.account("a")).toMatchObject({ balance: 5 });
  });
});
