import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDebits } from "../../server/metering/debits.ts";
import { createRefundSpool, type Refund } from "../../server/metering/refund-spool.ts";
import type { Debit } from "../../server/store/debits.ts";
import type { LedgerStore } from "../../server/store/ledger.ts";
import { charge } from "../support/ledger.ts";
import { keyed, withLedger } from "../support/waiting.ts";

const NOW = 1_790_000_000_000;

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "spool-")), "inner");
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

const open = (database = "this one") => createRefundSpool<Debit>(folder, database);

const group = (uid: string, many = 1): Refund<Debit> => ({
  kind: "group",
  uid,
  charges: Array.from({ length: many }, () => charge(1)),
});

const refundsIn = async (spool: ReturnType<typeof open>) =>
  (await spool.readOthers()).flatMap(({ refunds }) => refunds);

/** Queues of debits of processes one after the other, whose ledger fails at what is named. */
const startProcess = (ledger: LedgerStore, broken: Partial<LedgerStore> = {}) =>
  createDebits({ ledger: { ...ledger, ...broken }, now: () => NOW, spool: open() });

const failing = () => Promise.reject(new Error("No answer"));

describe("createRefundSpool()", () => {
  test("keeps refunds for another process, in files that are their user's alone", async () => {
    const spool = open();
    const refunds = Array.from({ length: 50 }, (_, index) => group(`group ${index}`, 3));
    await Promise.all(refunds.map(spool.add));
    expect(spool.requests()).toBe(150);
    expect(await refundsIn(open())).toEqual(refunds);
    expect(await refundsIn(spool)).toEqual([]);
    expect((await stat(spool.file)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("removes its file with the last refund, and makes it again for the next", async () => {
    const spool = open();
    for (const uid of ["a", "b"]) await spool.add(group(uid));
    await spool.remove(group("a"));
    expect(await readdir(folder)).toHaveLength(1);
    await spool.remove(group("b"));
    expect(await readdir(folder)).toEqual([]);
    await spool.add(group("c"));
    expect(await refundsIn(open())).toEqual([group("c")]);
  });

  test("reads around damaged lines and a torn last one, and tells which they are", async () => {
    const spool = open();
    for (const uid of ["a", "b", "c"]) await spool.add(group(uid));
    const text = await readFile(spool.file, "utf8");
    await writeFile(spool.file, text.replace('"uid":"b"', '"uid":"x"'));
    await appendFile(spool.file, text.slice(0, 60));
    const [found] = await open().readOthers();
    expect(found?.refunds).toEqual([group("a"), group("c")]);
    expect(found?.damagedLines).toEqual([2, 4]);
  });

  test("leaves what belongs to another database", async () => {
    const other = open("another one");
    await other.add(group("a", 2));
    const spool = open();
    const [found] = await spool.readOthers();
    if (found === undefined) throw new Error("No file");
    expect([found.refunds, found.elsewhere]).toEqual([[], { "another one": 2 }]);
    await spool.discard(found);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test("loses nothing that a living process adds while another one discards its file", async () => {
    const spool = open();
    await spool.add(group("before"));
    const reader = open();
    const [found] = await reader.readOthers();
    if (found === undefined) throw new Error("No file");
    await spool.add(group("between"));
    await reader.discard(found);
    expect((await refundsIn(reader)).map(({ uid }) => uid)).toEqual(["before", "between"]);
    await spool.add(group("after"));
    expect((await refundsIn(reader)).map(({ uid }) => uid)).toContain("after");
  });

  test("keeps every refund of a process whose file others discard all the time", async () => {
    const spool = open();
    const reader = open();
    const seen = new Set<string>();
    const discardAll = async () => {
      for (const found of await reader.readOthers()) {
        for (const { uid } of found.refunds) seen.add(uid);
        await reader.discard(found);
      }
    };
    const uids = Array.from({ length: 100 }, (_, index) => `group ${index}`);
    for (const uid of uids) await Promise.all([spool.add(group(uid)), discardAll()]);
    await discardAll();
    expect(uids.filter((uid) => !seen.has(uid))).toEqual([]);
  });
});

describe("recover()", () => {
  test("gives back once what a process could not before it ended", async () => {
    await withLedger(async (ledger, id) => {
      const first = startProcess(ledger, { refund: failing });
      await first.refund(await first.debit(charge(id, 2)), "It failed");
      await first.close();
      expect(await ledger.account("a")).toMatchObject({ balance: 3, refunded: 0 });
      const [name = ""] = await readdir(folder);
      const kept = await readFile(join(folder, name));
      const [recovered] = await startProcess(ledger).recover();
      expect(recovered).toMatchObject({ settled: 1, left: 0, problems: [] });
      expect(await readdir(folder)).toEqual([]);
      await writeFile(join(folder, name), kept);
      await startProcess(ledger).recover();
      expect(await ledger.account("a")).toMatchObject({ balance: 5, refunded: 2 });
    });
  });

  test("withdraws a group whose commit was not answered, also where it was never committed", async () => {
    await withLedger(async (ledger, id) => {
      const lost: LedgerStore["debit"] = async (...given) => {
        await ledger.debit(...given);
        throw new Error("No answer");
      };
      for (const debit of [lost, failing]) {
        const process = startProcess(ledger, { debit, withdraw: failing });
        await Promise.allSettled([charge(id), keyed(id)].map(process.debit));
        await process.close();
      }
      expect(await ledger.account("a")).toMatchObject({ balance: 3, refunded: 0 });
      const recovered = await startProcess(ledger).recover();
      expect(recovered.map(({ settled }) => settled)).toEqual([2, 2]);
      expect(await ledger.account("a")).toMatchObject({ balance: 5, refunded: 2 });
    });
  });

  test("a refused request is on the disk before it is told, so that a kill loses nothing", async () => {
    await withLedger(async (ledger, id) => {
      const process = startProcess(ledger, {
        debit: failing,
        withdraw: () => new Promise<never>(() => {}),
      });
      await expect(process.debit(charge(id))).rejects.toThrow("No answer");
      expect(await refundsIn(open())).toHaveLength(1);
    });
  });

  test("puts damaged lines aside once the others are given back, and keeps what fails", async () => {
    await withLedger(async (ledger, id) => {
      const first = startProcess(ledger, { refund: failing });
      await first.refund(await first.debit(charge(id)), "It failed");
      await first.close();
      const [name = ""] = await readdir(folder);
      await appendFile(join(folder, name), "torn");
      const [failed] = await startProcess(ledger, { refund: failing }).recover();
      expect(failed).toMatchObject({ settled: 0, left: 1 });
      expect(failed?.problems).toEqual(["damaged lines: 2", "No answer"]);
      const [done] = await startProcess(ledger).recover();
      expect(done).toMatchObject({ settled: 1, left: 0, problems: ["damaged lines: 2"] });
      expect(await readdir(folder)).toEqual([`${name}.damaged`]);
      expect(await startProcess(ledger).recover()).toEqual([]);
      expect(await ledger.account("a")).toMatchObject({ balance: 5 });
    });
  });
});

test("close() leaves no file where everything was given back", async () => {
  await withLedger(async (ledger, id) => {
    let isAway = true;
    const process = startProcess(ledger, {
      refund: (...given) => (isAway ? failing() : ledger.refund(...given)),
    });
    await process.refund(await process.debit(charge(id)), "It failed");
    expect(await readdir(folder)).toHaveLength(1);
    isAway = false;
    await process.close();
    expect(await readdir(folder)).toEqual([]);
    expect(await ledger.account("a")).toMatchObject({ balance: 5 });
  });
});
