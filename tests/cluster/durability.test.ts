import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { retryWithin } from "../support/wait.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { countSyncs } from "../support/processes/sync-count.ts";
import { hasStrace } from "../support/processes/syscall-trace.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

const REFUSAL =
  "The libSQL server does not sync commits to its disk, so a power cut loses charges; set the " +
  "durability_mode of its namespace to strong with its admin API, as server/LIBSQL.md shows, or " +
  "accept the loss with DURABILITY=process";

const RECOVERED_WITHIN_MS = 5000;
const COMMITS = 50;

describe.skipIf(!hasSqld())("a libSQL server that does not sync", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  let sandbox: Sandbox;
  beforeEach(async () => {
    server = await startSqld({ durability: "relaxed" });
    sandbox = await openSandbox({ DATABASE_URL: server.url });
  });
  afterEach(async () => {
    await sandbox.close();
    await server.close();
  });

  test.each([["serve"], ["accounts list"], ["credits grant a 1"]])(
    "is refused by %s, and nothing is written to it",
    async (command) => {
      const { status, err } = await sandbox.run(command.split(" "));
      expect([status, err]).toEqual([1, expect.stringContaining(REFUSAL)]);
      const tables = await fetch(`${server.url}/dump`);
      expect(await tables.text()).not.toContain("CREATE");
    },
  );

  test("makes serve warn if it answers without a token", async () => {
    const relaxed = await openSandbox({ DATABASE_URL: server.url, DURABILITY: "process" });
    const { log } = await (await relaxed.serve()).stop();
    expect(log).toContain("answers without a token: anyone who reaches it can read");
    await relaxed.close();
  });

  test("is used with DURABILITY=process, and by default once it is strong", async () => {
    const relaxed = await openSandbox({ DATABASE_URL: server.url, DURABILITY: "process" });
    await relaxed.runOrThrow("accounts", "create", "a", "--credits", "5");
    const status = JSON.parse(await relaxed.runOrThrow("status", "--json"));
    expect(status.database).toMatchObject({ durability: "process" });
    await relaxed.close();
    await server.setDurability("strong");
    expect(await sandbox.runOrThrow("accounts", "list")).toMatch(/^a +5 +5 /m);
    expect(await sandbox.runOrThrow("status")).toContain("durability  power");
  });
});

describe.skipIf(!hasSqld())("Database on a libSQL server that starts again without syncs", () => {
  test("write() is Service Unavailable, and nothing is stored, until the server syncs again", async () => {
    const server = await startSqld();
    const database = await openDatabase({ url: server.url, durability: "power" });
    const add = (name: string) =>
      database.write([
        { sql: "INSERT INTO accounts (name, created_at) VALUES (?, 0)", args: [name] },
      ]);
    await add("first");
    await server.kill();
    await server.restart("relaxed");
    await retryWithin(RECOVERED_WITHIN_MS, database.check);
    const failure = await add("lost").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "Service Unavailable", message: REFUSAL });
    expect(database.isRolledBack(failure)).toBe(true);
    await server.setDurability("strong");
    await add("second");
    const rows = await database.queryRows("SELECT name FROM accounts ORDER BY id");
    expect(rows.map(({ name }) => name)).toEqual(["first", "second"]);
    await database.close();
    await server.close();
  }, 60_000);
});

describe.skipIf(!hasSqld() || !hasStrace())("a libSQL server", () => {
  test.each([
    ["strong", "power", COMMITS, Number.POSITIVE_INFINITY],
    ["relaxed", "process", 0, COMMITS / 2],
  ] as const)(
    "that is %s, with DURABILITY=%s, syncs %d to %d times for that many commits",
    async (durability, setting, atLeast, atMost) => {
      const server = await startSqld({ durability });
      const sandbox = await openSandbox({ DATABASE_URL: server.url, DURABILITY: setting });
      const [key = ""] = await createAccess(server.url, { account: "a", credits: COMMITS });
      const service = await sandbox.serve();
      const syncs = await countSyncs(server.pid, async () => {
        for (let read = 0; read < COMMITS; read++) {
          const headers = { "x-api-key": key };
          const { status } = await fetch(`${service.url}/api/video/channels`, { headers });
          expect(status).toBe(200);
        }
      });
      expect(syncs).toBeGreaterThanOrEqual(atLeast);
      expect(syncs).toBeLessThanOrEqual(atMost);
      await service.stop();
      await sandbox.close();
      await server.close();
    },
    60_000,
  );
});
