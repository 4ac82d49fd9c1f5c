import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCreatorStore } from "../../../server/store/collection/creators.ts";
import type { Database, WriteOptions } from "../../../server/store/database/database.ts";
import { parseFileUrl } from "../../../server/store/database/database-file.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
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

const UNAVAILABLE = ["Service Unavailable", "The database cannot be reached right now"];

const JSON_HEADERS = { "content-type": "application/json" };

const insertKey = (hash: string) => ({
  sql: "INSERT INTO keys (account, hash, begins_with, created_at) VALUES (1, ?, 'cm_', 0)",
  args: [hash],
});

/** A setting of the connection that writes. */
async function readWriterPragma(database: Database, pragma: string, options: WriteOptions = {}) {
  const [result] = await database.write([{ sql: `PRAGMA ${pragma}`, args: [] }], options);
  return result?.rows[0]?.[0];
}

describe("databaseFile", () => {
  test.each([
    ["file:./data/metrics.db", "./data/metrics.db"],
    ["file:/var/lib/metrics.db", "/var/lib/metrics.db"],
    ["file:///var/lib/metrics.db", "/var/lib/metrics.db"],
    ["file:/a%20b/metrics.db", "/a b/metrics.db"],
    ["http://127.0.0.1:8080", undefined],
    ["libsql://metrics.example", undefined],
  ])("databaseFile(%p) is %p", (url, file) => {
    expect(parseFileUrl(url)).toBe(file);
  });
});

describe("openDatabase", () => {
  test("openDatabase() makes the folders of its file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "database-"));
    const file = join(folder, "some/data/metrics.db");
    const database = await openDatabase({ url: `file:${file}`, durability: "power" });
    expect(await Bun.file(file).exists()).toBe(true);
    await database.close();
    await rm(folder, { recursive: true });
  });

  test("openDatabase() leaves what is there when it opens a file again", async () => {
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
  ])("openDatabase() refuses tables of a version that is %s", async (_, madeAt, advice) => {
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
    ["502 from what stands before it", () => new Response("Bad Gateway", { status: 502 })],
    ["429 from what stands before it", () => new Response("Slow down", { status: 429 })],
    ["JSON that was cut", () => new Response('{"baton":nul', { headers: JSON_HEADERS })],
    [
      "a packed answer that was cut",
      () =>
        new Response(Bun.gzipSync("{}".repeat(999)).subarray(0, 20), {
          headers: { ...JSON_HEADERS, "content-encoding": "gzip" },
        }),
    ],
  ])("openDatabase() says that a server is unavailable when it gives %s", async (_, answer) => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    const url = `http://127.0.0.1:${server.port}`;
    expect(await resultOrError(openDatabase({ url, durability: "power" }))).toEqual(UNAVAILABLE);
    await server.stop(true);
  });

  test("openDatabase() says that a server is unavailable when nothing listens there", async () => {
    const url = "http://127.0.0.1:1";
    expect(await resultOrError(openDatabase({ url, durability: "power" }))).toEqual(UNAVAILABLE);
  });

  test.each([
    ["power", 2],
    ["process", 1],
  ] as const)(
    "with durability %s, WAL is on and a relaxed write has synchronous %p",
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

describe("write", () => {
  test("a batch is all or none", async () => {
    await withDatabase(async (database, file) => {
      await database.write([insertKey("a")]);
      const batch = database.write([insertKey("b"), insertKey("a"), insertKey("c")]);
      expect(await batch.catch((error: unknown) => String(error))).toContain("UNIQUE");
      expect(await queryFromOtherProcess(file, "SELECT hash FROM keys")).toEqual([{ hash: "a" }]);
    });
  });

  test("batches that are written at once don't mix", async () => {
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

describe("a lock that another process holds", () => {
  test("writes fail as Service Unavailable, reads don't, and what follows is stored", async () => {
    await withDatabase(
      async (database, file) => {
        const [ledger, keys] = [createLedgerStore(database), createKeyStore(database)];
        const creators = createCreatorStore(database);
        const { id } = await ledger.createAccount("nasa", 0);
        const lock = await lockFromOtherProcess(file);
        const grant = (uid: string) => ledger.grant({ uid, account: "nasa", amount: 1 }, 0);
        expect(await resultOrError(grant("refused"))).toEqual(UNAVAILABLE);
        expect(await resultOrError(ledger.createAccount("esa", 0))).toEqual(UNAVAILABLE);
        expect(
          await resultOrError(commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", 0)),
        ).toEqual(UNAVAILABLE);
        const key = { account: id, hash: "h", beginsWith: "cm_", label: null };
        expect(await resultOrError(keys.create(key, 0))).toEqual(UNAVAILABLE);
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

  test("of writes that come at once while it is let go, those acknowledged are stored", async () => {
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

  test("the settings of the connection hold after it was opened anew", async () => {
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
