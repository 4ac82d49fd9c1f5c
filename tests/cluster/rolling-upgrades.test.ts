/** Processes of two versions on one libSQL server: the newer one has made the tables. */
import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import type { Database } from "../../server/store/database/database.ts";
import { findFreePort } from "../support/network/free-port.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { queryRows, resultOrError } from "../support/store/database.ts";
import { commitDebitGroup } from "../support/store/debits.ts";
import { startTestService } from "../support/service.ts";
import { createAccess } from "../support/store/access.ts";
import { waitUntil } from "../support/wait.ts";

const REASON =
  "This process is older than the tables of its database; a newer version has to replace it";
const OUTDATED = ["Service Unavailable", REASON];

/** Longer than a write waits for the lock of the server. */
const LOCKED_MS = 1500;

const CLIENTS = 16;

async function sendPipeline(
  url: string,
  sqls: readonly string[],
  baton: string | null = null,
): Promise<{ baton: string | null; rows: string[][] }> {
  const response = await fetch(`${url}/v2/pipeline`, {
    method: "POST",
    body: JSON.stringify({
      baton,
      requests: sqls.map((sql) => ({ type: "execute", stmt: { sql } })),
    }),
  });
  const body = Object(await response.json());
  const rows: readonly (readonly { readonly value: string }[])[] =
    body.results.at(-1).response?.result.rows ?? [];
  return { baton: body.baton, rows: rows.map((row) => row.map(({ value }) => value)) };
}

/** Queries a server as no process of this version does any more. */
const queryServer = async (url: string, sql: string) => (await sendPipeline(url, [sql])).rows;

/** Takes the write lock of a server, as a process does that migrates. */
async function beginTransaction(url: string) {
  const { baton } = await sendPipeline(url, ["BEGIN IMMEDIATE"]);
  return { rollback: () => sendPipeline(url, ["ROLLBACK"], baton) };
}

/** Does what a newer version does to the tables. It goes past the database of this version. */
const makeTablesNewer = (url: string, change = "SELECT 1") =>
  sendPipeline(url, [
    "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('newer', 4102444800000)",
    change,
  ]);

/** Opens a sandbox for one of several processes, of which one commits the debits of all. */
const openOne = (url: string) =>
  openSandbox({ DATABASE_URL: url, COMMITTER_ADDRESS: `127.0.0.1:${findFreePort()}` });

/** In `/metrics` of a process whose debits another one commits. */
const FORWARDED = /^creator_metrics_debit_batches_total\{committed_by="committer"\} [1-9]/m;

const readVersions = (database: Database) =>
  queryRows(database, "SELECT created_at FROM __drizzle_migrations");

describe.skipIf(!hasSqld())("openDatabase() of several processes on an empty libSQL server", () => {
  test("migrates once, and all processes serve", async () => {
    const server = await startSqld();
    const sandbox = await openSandbox({ DATABASE_URL: server.url });
    const services = await Promise.all([sandbox.serve(), sandbox.serve(), sandbox.serve()]);
    try {
      for (const { url } of services) expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const database = await openDatabase({ url: server.url, durability: "power" });
      expect(await readVersions(database)).toHaveLength(1);
      await database.close();
    } finally {
      for (const service of services) await service.stop("SIGKILL");
      await sandbox.close();
      await server.close();
    }
  }, 120_000);

  test("waits while another process migrates, and finds nothing left to do", async () => {
    const server = await startSqld();
    const open = () => openDatabase({ url: server.url, durability: "power" });
    const migrating = await beginTransaction(server.url);
    const databases = Promise.all(Array.from({ length: 5 }, open));
    await Bun.sleep(LOCKED_MS);
    await migrating.rollback();
    const [first, ...others] = await databases;
    if (first === undefined) throw new Error("No database is open");
    expect(await readVersions(first)).toHaveLength(1);
    for (const database of [first, ...others]) await database.close();
    await server.close();
  }, 120_000);
});

describe.skipIf(!hasSqld())("a process that is older than the tables of its libSQL server", () => {
  test.each([
    ["before it notices otherwise", "SELECT 1"],
    ["if its tables are gone", "ALTER TABLE debit_batches RENAME TO other_batches"],
  ])(
    "answers reads with 503, cached ones too, and charges nothing, %s",
    async (_, change) => {
      const server = await startSqld();
      const service = await startTestService({ DATABASE_URL: server.url });
      const { key, account } = await service.createAccountWithKey(10);
      const read = (init?: RequestInit) => service.get("/api/video/channels", key, init);
      expect([(await read()).status, (await read()).status]).toEqual([200, 200]);
      expect((await service.send("/readyz")).status).toBe(200);
      await makeTablesNewer(server.url, change);
      const keyed = { headers: { "idempotency-key": "a" } };
      const responses = await Promise.all([read(), read(keyed), read()]);
      expect(responses.map(({ status }) => status)).toEqual([503, 503, 503]);
      expect((await service.get("/api/creators", key)).status).toBe(503);
      const ready = await service.send("/readyz");
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({ message: REASON });
      // Refunds that it could not store would be here.
      expect(await Bun.file(`${service.folder}/spool`).exists()).toBe(false);
      await service.close();
      const rows = await queryServer(
        server.url,
        `SELECT balance FROM accounts WHERE name = '${account}'`,
      );
      expect(rows).toEqual([["8"]]);
      for (const failure of service.failures) expect(failure).toMatchObject({ message: REASON });
      await server.close();
    },
    60_000,
  );

  test("fails each write, and says why at /readyz also before the first one", async () => {
    const server = await startSqld();
    const open = () => openDatabase({ url: server.url, durability: "power" });
    const [old, other, third] = [await open(), await open(), await open()];
    const ledger = createLedgerStore(old);
    const { id } = await ledger.createAccount("a", 0, 5);
    await makeTablesNewer(server.url);
    const charge = { account: id, cost: 1 };
    const debit = commitDebitGroup(ledger, [charge], "d", 0);
    const error = await debit.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "Service Unavailable", message: REASON });
    expect(old.isRolledBack(error)).toBe(true);
    const addition = createCreatorStore(other).add({ platform: "microblog", creator: "c" }, 0);
    expect(await resultOrError(addition)).toEqual(OUTDATED);
    expect(await resultOrError(third.check())).toEqual(OUTDATED);
    expect(await resultOrError(third.queryRows("SELECT 1"))).toEqual(OUTDATED);
    expect(await resultOrError(open())).toEqual([
      "Conflict",
      expect.stringContaining("A newer version of this service made the tables"),
    ]);
    for (const database of [old, other, third]) await database.close();
    expect(await queryServer(server.url, "SELECT balance FROM accounts")).toEqual([["5"]]);
    expect(await queryServer(server.url, "SELECT count(*) FROM creators")).toEqual([["0"]]);
    await server.close();
  }, 60_000);

  test("answers 200 and charges, or 503 and does not, while the tables change under load", async () => {
    const server = await startSqld();
    const sandboxes = [await openOne(server.url), await openOne(server.url)];
    const credits = 100_000;
    const [key = ""] = await createAccess(server.url, { account: "a", credits });
    const services = await Promise.all(sandboxes.map((sandbox) => sandbox.serve()));
    const counts = new Map<number, number>();
    const countOf = (status: number) => counts.get(status) ?? 0;
    const read = async (url: string) => {
      while (countOf(503) < 5 * CLIENTS) {
        const { status } = await fetch(`${url}/api/video/channels`, {
          headers: { "x-api-key": key },
        });
        counts.set(status, countOf(status) + 1);
      }
    };
    const urls = services.map(({ url }) => url);
    const clients = Array.from({ length: CLIENTS }, (_, index) => read(urls[index % 2] ?? ""));
    const isForwarding = async (url: string) =>
      FORWARDED.test(await (await fetch(`${url}/metrics`)).text());
    await waitUntil(async () => (await Promise.all(urls.map(isForwarding))).includes(true), 20_000);
    await waitUntil(() => countOf(200) > 10 * CLIENTS);
    await makeTablesNewer(server.url);
    await Promise.all(clients);
    for (const service of services) {
      expect((await service.stop()).log).toContain("A newer version made the tables");
    }
    expect([...counts.keys()].toSorted()).toEqual([200, 503]);
    const [[balance] = []] = await queryServer(server.url, "SELECT balance FROM accounts");
    expect(Number(balance)).toBe(credits - countOf(200));
    for (const sandbox of sandboxes) await sandbox.close();
    await server.close();
  }, 120_000);
});
