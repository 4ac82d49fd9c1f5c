import { describe, expect, test } from "bun:test";
import { pbkdf2 } from "node:crypto";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { ledgerStore } from "../../server/store/ledger.ts";
import { verifyLedger } from "../../server/store/verify.ts";
import { charge } from "../support/ledger.ts";
import { withDatabase, holdLock, readOutside, settled } from "../support/database.ts";
import { retryWithin } from "../support/retry.ts";

const derive = promisify(pbkdf2);

const QUICK = { isRelaxed: true, isQuick: true } as const;

const insertKey = (hash: string) => ({
  sql: "INSERT INTO keys (account, hash, begins_with, created_at) VALUES (1, ?, 'cm_', 0)",
  args: [hash],
});

const HASHES = "SELECT hash FROM keys ORDER BY id";

const hashes = (names: readonly (string | number)[]) => names.map((name) => ({ hash: `${name}` }));

describe("quick writes", () => {
  test.each(["power", "process"] as const)(
    "with durability %s, writes are stored in the order they were asked for, quick or not",
    async (durability) => {
      await withDatabase(
        async (database, file) => {
          const numbers = Array.from({ length: 300 }, (_, index) => index);
          await Promise.all(
            numbers.map((number) =>
              database.write([insertKey(`${number}`)], number % 7 === 3 ? {} : QUICK),
            ),
          );
          expect(await readOutside(file, HASHES)).toEqual(hashes(numbers));
        },
        { durability },
      );
    },
  );

  test("a quick write that fails stores nothing, and the next is stored", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("a")], QUICK);
      const failing = database.write([insertKey("b"), insertKey("a")], QUICK);
      expect(await failing.catch((error: unknown) => String(error))).toContain("UNIQUE");
      await database.write([insertKey("c")], QUICK);
      expect(await readOutside(file, HASHES)).toEqual(hashes(["a", "c"]));
    });
  });

  test("one that another process keeps from its lock waits without holding anything up", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("before")], QUICK);
      const lock = await holdLock(file);
      let turns = 0;
      const turning = setInterval(() => turns++, 5);
      const written = database.write([insertKey("waited")], QUICK);
      // They come only while nothing holds up the thread.
      await retryWithin(4000, async () => expect(turns).toBeGreaterThan(10));
      clearInterval(turning);
      await lock.release();
      await written;
      await database.write([insertKey("after")], QUICK);
      expect(await readOutside(file, HASHES)).toEqual(hashes(["before", "waited", "after"]));
    });
  });

  test("what is acknowledged while other processes take the lock again and again is stored", async () => {
    await withDatabase(
      async (database, file) => {
        const acknowledged: string[] = [];
        for (let round = 0; round < 5; round++) {
          const lock = await holdLock(file, 60);
          for (let index = 0; index < 40; index++) {
            const name = `${round} ${index}`;
            const written = await settled(database.write([insertKey(name)], QUICK));
            if (!(Array.isArray(written) && written[0] === "Service Unavailable")) {
              acknowledged.push(name);
            }
          }
          await lock.release();
        }
        expect(acknowledged.length).toBeGreaterThan(100);
        expect(await readOutside(file, HASHES)).toEqual(hashes(acknowledged));
      },
      { lockTimeoutMs: 10 },
    );
  });

  test("a copy of the database holds none up", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("before")], QUICK);
      let isCopied = false;
      const copying = database.copyTo(`${file}.copy`).then(() => (isCopied = true));
      await database.write([insertKey("meanwhile")], QUICK);
      expect(isCopied).toBe(false);
      await copying;
      expect(await readOutside(`${file}.copy`, HASHES)).toContainEqual({ hash: "before" });
      expect(await readOutside(file, HASHES)).toEqual(hashes(["before", "meanwhile"]));
    });
  });

  test("a proof or a statement of all accounts holds none up, and is of one instant", async () => {
    await withDatabase(async (database, file) => {
      const ledger = ledgerStore(database);
      const { id } = await ledger.createAccount("a", 0);
      await ledger.grant({ uid: "g", account: "a", amount: 900 }, 0);
      let isOver = false;
      const proofs = Promise.all([verifyLedger(database), ledger.statement("a", 0, 10)]).finally(
        () => (isOver = true),
      );
      for (let nth = 0; nth < 20; nth++) {
        await ledger.debit([charge(id)], { uid: `d${nth}`, now: nth });
      }
      expect(isOver).toBe(false);
      const [{ faults }, entries] = await proofs;
      expect(faults).toEqual([]);
      for (const [nth, { balance }] of entries.entries()) expect(balance).toBe(900 - nth);
      expect(await readOutside(file, "SELECT balance FROM accounts")).toEqual([{ balance: 880 }]);
    });
  });

  test("a sync under way ends, whoever takes the lock meanwhile", async () => {
    await withDatabase(
      async (database, file) => {
        await database.write([insertKey("first")], QUICK);
        // As many as there are threads that sync: the next sync begins once one of them is done.
        const busy = Array.from({ length: 64 }, () => derive("x", "y", 100_000, 64, "sha512"));
        const written = database.write([insertKey("second")], QUICK);
        const lock = await holdLock(file, 100);
        const waiting = database.write([insertKey("third")], QUICK);
        await Promise.all([written, waiting, ...busy]);
        await lock.release();
        expect(await readOutside(file, HASHES)).toEqual(hashes(["first", "second", "third"]));
      },
      { durability: "power" },
    );
  });

  test("the write-ahead log stays bounded however many there are", async () => {
    await withDatabase(async (database, file) => {
      let highest = 0;
      for (let index = 0; index < 6000; index++) {
        await database.write([insertKey(`${index}`)], QUICK);
        if (index % 500 === 0) highest = Math.max(highest, (await stat(`${file}-wal`)).size);
      }
      expect(highest).toBeGreaterThan(1_000_000);
      expect((await stat(`${file}-wal`)).size).toBeLessThan(40_000_000);
      expect(await readOutside(file, "SELECT count(*) AS n FROM keys")).toEqual([{ n: 6000 }]);
    });
  });
});
