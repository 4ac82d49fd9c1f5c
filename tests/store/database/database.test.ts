import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCreatorStore } from "../../../server/store/collection/watch-lists.ts";
import type { Database, WriteOptions } from "../../../server/store/database/database.ts";
import { openDatabase, parseFileUrl } from "../../../server/store/database/open-database.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import {
  lockFromOtherProcess,
  queryFromOtherProcess,
  queryRows,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";
import { commitDebitGroup } from "../../support/store/debits.ts";

const UNAVAILABLE = ["Service Unavailable", "The database is not available right now"];

const JSON_HEADERS = { "content-type": "application/json" };

const insertKey = (hash: string) => ({
  sql: "INSERT INTO keys (account, hash, begins_with, created_at) VALUES (1, ?, 'cm_', 0)",
  args: [hash],
});

/** Reads a setting of the connection that writes. */
async function readWriterPragma(database: Database, pragma: string, options: WriteOptions = {}) {
  const [result] = await database.write([{ sql: `PRAGMA ${pragma}`, args: [] }], options);
  return result?.rows[0]?.[0];
}

describe("parseFileUrl()", () => {
  test.each([
    ["file:./data/metrics.db", "./data/metrics.db"],
    ["file:/var/lib/metrics.db", "/var/lib/metrics.db"],
    ["file:///var/lib/metrics.db", "/var/lib/metrics.db"],
    ["file:/a%20b/metrics.db", "/a b/metrics.db"],
    ["http://127.0.0.1:8080", undefined],
    ["libsql://metrics.example", undefined],
  ])("parses %p as %p", (url, file) => {
    expect(parseFileUrl(url)).toBe(file);
  });
});

describe("openDatabase()", () => {
  test("creates the folder of its file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "database-"));
    const file = join(folder, "some/data/metrics.db");
    const database = await openDatabase({ url: `file:${file}`, durability: "power" });
    expect(await Bun.file(file).exists()).toBe(true);
    await database.close();
    await rm(folder, { recursive: true });
  });

  test("leaves an existing database as it is", async () => {
    await withDatabase(async (database, file) => {
      await createLedgerStore(database).createAccount("nasa", 5);
      const again = await openDatabase({ url: `file:${file}`, durability: "process" });
      expect(await createLedgerStore(again).account("nasa")).toMatchObject({ createdAt: 5 });
      await again.close();
    });
  });

  test.each([
    ["newer", "2100-01-01", "start that version"],
    ["unreleased", "2020-01-01", "import them into a new database"],
  ])("refuses tables that a version made which is %s", async (_, madeAt, advice) => {
    await withDatabase(async (database, file) => {
      const sql = "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('other', ?)";
      await database.write([{ sql, args: [Date.parse(madeAt)] }]);
      const opened = openDatabase({ url: `file:${file}`, durability: "process" });
      expect(await resultOrError(opened)).toEqual(["Conflict", expect.stringContaining(advice)]);
      expect(await queryRows(database, "SELECT count(*) AS accounts FROM accounts")).toEqual([
        { accounts: 0 },
      ]);
    });
  });

  test.each([
    ["502 from a proxy", () => new Response("Bad Gateway", { status: 502 })],
    ["429 from a proxy", () => new Response("Slow down", { status: 429 })],
    ["truncated JSON", () => new Response('{"baton":nul', { headers: JSON_HEADERS })],
    [
      "a truncated compressed response",
      () =>
        new Response(Bun.gzipSync("{}".repeat(999)).subarray(0, 20), {
          headers: { ...JSON_HEADERS, "content-encoding": "gzip" },
        }),
    ],
  ])("throws Service Unavailable if the server responds with %s", async (_, respond) => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
    const url = `http://127.0.0.1:${server.port}`;
    expect(await resultOrError(openDatabase({ url, durability: "power" }))).toEqual(UNAVAILABLE);
    await server.stop(true);
  });

  test("throws Service Unavailable if nothing listens at the address", async () => {
    const url = "http://127.0.0.1:1";
    expect(await resultOrError(openDatabase({ url, durability: "power" }))).toEqual(UNAVAILABLE);
  });

  test.each([
    ["power", 2],
    ["process", 1],
  ] as const)(
    "with durability %s turns WAL on; write() with durability configured has synchronous %p",
    async (durability, level) => {
      const settings = { durability };
      await withDatabase(async (database) => {
        expect(await readWriterPragma(database, "journal_mode")).toBe("wal");
        expect(await readWriterPragma(database, "synchronous", { durability: "configured" })).toBe(
          level,
        );
        expect(await readWriterPragma(database, "synchronous")).toBe(2);
      }, settings);
    },
  );
});

describe("Database.write()", () => {
  test("stores all statements or none", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("a")]);
      const batch = database.write([insertKey("b"), insertKey("a"), insertKey("c")]);
      expect(await batch.catch((error: unknown) => String(error))).toContain("UNIQUE");
      expect(await queryFromOtherProcess(file, "SELECT hash FROM keys")).toEqual([{ hash: "a" }]);
    });
  });

  test("keeps concurrent batches apart", async () => {
    await withDatabase(async (database) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          database.write([
            insertKey(`${index}`),
            insertKey(index % 2 === 0 ? "same" : `x${index}`),
          ]),
        ),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(11);
      expect(await queryRows(database, "SELECT count(*) AS n FROM keys")).toEqual([{ n: 22 }]);
    });
  });
});

describe("Database, while another process holds the lock,", () => {
  test("rejects writes with Service Unavailable, reads, and stores later writes", async () => {
    await withDatabase(
      async (database, file) => {
        const [ledger, keys] = [createLedgerStore(database), createKeyStore(database)];
        const creators = createCreatorStore(database);
        const { id } = await ledger.createAccount("nasa", 0);
        const lock = await lockFromOtherProcess(file);
        const grant = (uid: string) => ledger.grant({ id: uid, account: "nasa", amount: 1 }, 0);
        expect(await resultOrError(grant("refused"))).toEqual(UNAVAILABLE);
        expect(await resultOrError(ledger.createAccount("esa", 0))).toEqual(UNAVAILABLE);
        expect(
          await resultOrError(commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", 0)),
        ).toEqual(UNAVAILABLE);
        expect(await resultOrError(keys.create("nasa", {}, 0))).toEqual(UNAVAILABLE);
        const creator = { platform: "microblog", creator: "nasa" } as const;
        expect(await resultOrError(creators.add(creator, 0))).toEqual(UNAVAILABLE);
        expect(await ledger.account("nasa")).toMatchObject({ granted: 0 });
        await lock.release();
        for (let index = 0; index < 50; index++) await grant(`after ${index}`);
        const stored = "SELECT name, granted, balance FROM accounts";
        expect(await queryFromOtherProcess(file, stored)).toEqual([
          { name: "nasa", granted: 50, balance: 50 },
        ]);
        expect(await queryFromOtherProcess(file, "SELECT count(*) AS n FROM journal")).toEqual([
          { n: 50 },
        ]);
      },
      { lockTimeoutMs: 20 },
    );
  });

  test("stores every acknowledged write of those concurrent with its release", async () => {
    await withDatabase(
      async (database, file) => {
        const lock = await lockFromOtherProcess(file, 100);
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) => database.write([insertKey(`${index}`)])),
        );
        await lock.release();
        const stored = outcomes.flatMap(({ status }, index) =>
          status === "fulfilled" ? [{ hash: `${index}` }] : [],
        );
        expect(await queryFromOtherProcess(file, "SELECT hash FROM keys ORDER BY id")).toEqual(
          stored,
        );
        const refused = outcomes.filter((outcome) => outcome.status === "rejected");
        expect(refused.map(({ reason }) => reason.code)).toEqual(
          refused.map(() => "Service Unavailable"),
        );
      },
      { lockTimeoutMs: 60 },
    );
  });

  test("keeps the settings of its connection after it reconnects", async () => {
    await withDatabase(
      async (database, file) => {
        const lock = await lockFromOtherProcess(file);
        expect(await resultOrError(database.write([insertKey("a")]))).toEqual(UNAVAILABLE);
        await lock.release();
        expect(await readWriterPragma(database, "synchronous", { durability: "configured" })).toBe(
          1,
        );
        expect(await readWriterPragma(database, "busy_timeout")).toBe(20);
      },
      { lockTimeoutMs: 20 },
    );
  });
});

describe("Database.isRolledBack()", () => {
  const createError = (code: string, cause?: unknown) =>
    Object.assign(new Error("It failed", { cause }), { code });

  test.each([
    ["SQLITE_FULL", true],
    ["SQLITE_CONSTRAINT_CHECK", true],
    ["SQLITE_IOERR_WRITE", false],
    ["SQLITE_IOERR_FSYNC", false],
    ["TRANSACTION_TIMEOUT", false],
    ["EIO", false],
  ])("is, for an error of a file with code %s, %p", async (code, expected) => {
    await withDatabase(async (database) => {
      expect(database.isRolledBack(createError(code))).toBe(expected);
      expect(database.isRolledBack(createError("", createError(code)))).toBe(expected);
    });
  });
});
