import { describe, expect, test } from "bun:test";
import { pbkdf2 } from "node:crypto";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../../server/store/accounts/verify-ledger.ts";
import { makeCharge } from "../../support/store/debits.ts";
import {
  withDatabase,
  lockFromOtherProcess,
  queryFromOtherProcess,
  resultOrError,
} from "../../support/store/database.ts";
import { retryWithin } from "../../support/wait.ts";

const pbkdf2Async = promisify(pbkdf2);

const INLINE = { durability: "configured", inline: true } as const;

const insertKey = (hash: string) => ({
  sql: "INSERT INTO keys (account, hash, begins_with, created_at) VALUES (1, ?, 'cm_', 0)",
  args: [hash],
});

const SELECT_HASHES = "SELECT hash FROM keys ORDER BY id";

const toHashRows = (names: readonly (string | number)[]) =>
  names.map((name) => ({ hash: `${name}` }));

describe("openInlineWriter()", () => {
  test.each(["power", "process"] as const)(
    "with durability %s, stores inline and other writes in the order of the calls",
    async (durability) => {
      await withDatabase(
        async (database, file) => {
          const numbers = Array.from({ length: 300 }, (_, index) => index);
          await Promise.all(
            numbers.map((number) =>
              database.write([insertKey(`${number}`)], number % 7 === 3 ? {} : INLINE),
            ),
          );
          expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(toHashRows(numbers));
        },
        { durability },
      );
    },
  );

  test("stores nothing of a write that fails, and stores the next one", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("a")], INLINE);
      const failing = database.write([insertKey("b"), insertKey("a")], INLINE);
      expect(await failing.catch((error: unknown) => String(error))).toContain("UNIQUE");
      await database.write([insertKey("c")], INLINE);
      expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(toHashRows(["a", "c"]));
    });
  });

  test("waits for a lock of another process without blocking the event loop", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("before")], INLINE);
      const lock = await lockFromOtherProcess(file);
      let tickCount = 0;
      const timer = setInterval(() => tickCount++, 5);
      const written = database.write([insertKey("waited")], INLINE);
      // The timer only ticks while nothing blocks the thread.
      await retryWithin(4000, async () => expect(tickCount).toBeGreaterThan(10));
      clearInterval(timer);
      await lock.release();
      await written;
      await database.write([insertKey("after")], INLINE);
      expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(
        toHashRows(["before", "waited", "after"]),
      );
    });
  });

  test("stores every acknowledged write while other processes take the lock again and again", async () => {
    await withDatabase(
      async (database, file) => {
        const acknowledged: string[] = [];
        for (let round = 0; round < 5; round++) {
          const lock = await lockFromOtherProcess(file, 60);
          for (let index = 0; index < 40; index++) {
            const name = `${round} ${index}`;
            const written = await resultOrError(database.write([insertKey(name)], INLINE));
            if (!(Array.isArray(written) && written[0] === "Service Unavailable")) {
              acknowledged.push(name);
            }
          }
          await lock.release();
        }
        expect(acknowledged.length).toBeGreaterThan(100);
        expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(toHashRows(acknowledged));
      },
      { lockTimeoutMs: 10 },
    );
  });

  test("is not blocked by a copy of the database", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("before")], INLINE);
      let isCopied = false;
      const copying = database.copyTo(`${file}.copy`).then(() => (isCopied = true));
      await database.write([insertKey("meanwhile")], INLINE);
      expect(isCopied).toBe(false);
      await copying;
      expect(await queryFromOtherProcess(`${file}.copy`, SELECT_HASHES)).toContainEqual({
        hash: "before",
      });
      expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(
        toHashRows(["before", "meanwhile"]),
      );
    });
  });

  test("is not blocked by verifyLedger() or a statement, which read one instant", async () => {
    await withDatabase(async (database, file) => {
      const ledger = createLedgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ id: "g", account: "a", amount: 900 }, 0);
      let isOver = false;
      const longReads = Promise.all([
        verifyLedger(database),
        ledger.statement("a", { since: 0, until: 1 }, 10),
      ]).finally(() => (isOver = true));
      for (let nth = 0; nth < 20; nth++) {
        await ledger.debit([makeCharge(id)], { id: `d${nth}`, now: nth });
      }
      expect(isOver).toBe(false);
      const [{ faults }, { lines }] = await longReads;
      expect(faults).toEqual([]);
      for (const { amount, kind, balance } of lines) {
        expect(balance).toBe(kind === "grant" ? 900 : 900 - amount);
      }
      expect(await queryFromOtherProcess(file, "SELECT balance FROM accounts")).toEqual([
        { balance: 880 },
      ]);
    });
  });

  test("completes a running sync, whoever takes the lock meanwhile", async () => {
    await withDatabase(
      async (database, file) => {
        await database.write([insertKey("first")], INLINE);
        // They occupy the thread pool, so the next sync starts once one of them is done.
        const busy = Array.from({ length: 64 }, () => pbkdf2Async("x", "y", 100_000, 64, "sha512"));
        const written = database.write([insertKey("second")], INLINE);
        const lock = await lockFromOtherProcess(file, 100);
        const waiting = database.write([insertKey("third")], INLINE);
        await Promise.all([written, waiting, ...busy]);
        await lock.release();
        expect(await queryFromOtherProcess(file, SELECT_HASHES)).toEqual(
          toHashRows(["first", "second", "third"]),
        );
      },
      { durability: "power" },
    );
  });

  test("keeps the write-ahead log bounded after any number of writes", async () => {
    await withDatabase(async (database, file) => {
      let highest = 0;
      for (let index = 0; index < 6000; index++) {
        await database.write([insertKey(`${index}`)], INLINE);
        if (index % 500 === 0) highest = Math.max(highest, (await stat(`${file}-wal`)).size);
      }
      expect(highest).toBeGreaterThan(1_000_000);
      expect((await stat(`${file}-wal`)).size).toBeLessThan(40_000_000);
      expect(await queryFromOtherProcess(file, "SELECT count(*) AS n FROM keys")).toEqual([
        { n: 6000 },
      ]);
    });
  });
});
