/** The ledger and the entities on two servers: what goes on while one of them is away. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createRoleLease, fenceWrites } from "../../server/store/database/role-lease.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { DAY_MS } from "../../core/time.ts";
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import { createWorld } from "../support/platforms/world.ts";
import { startLossyHranaProxy } from "../support/network/lossy-hrana-proxy.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { queryRows, resultOrError } from "../support/store/database.ts";
import { retryWithin, waitUntil } from "../support/wait.ts";

const RECOVERED_WITHIN_MS = 5000;
const ADMIN_TOKEN = "token-of-this-test-alone";

let ledgerServer: Awaited<ReturnType<typeof startSqld>>;
let entitiesServer: Awaited<ReturnType<typeof startSqld>>;
let settings: Readonly<Record<string, string>>;
beforeEach(async () => {
  [ledgerServer, entitiesServer] = await Promise.all([startSqld(), startSqld()]);
  settings = { DATABASE_URL: ledgerServer.url, ENTITIES_URL: entitiesServer.url };
});
afterEach(async () => {
  await Promise.all([ledgerServer.close(), entitiesServer.close()]);
});

const observation = (service: { clock: { now: number } }, followers: number) => ({
  kind: "user",
  observedAt: new Date(service.clock.now - 60_000 + followers * 1000).toISOString(),
  username: "a",
  followers_count: followers,
});

async function readReadiness(service: TestService): Promise<unknown> {
  const response = await service.send("/readyz");
  return [response.status, await response.json()];
}

describe.skipIf(!hasSqld())("a service with ENTITIES_URL", () => {
  test("stores each part in its database, and shows both", async () => {
    const service = await startTestService(settings);
    await service.observe(observation(service, 1));
    const { database, entities } = service.service;
    expect(await queryRows(entities, "SELECT id FROM users")).toEqual([{ id: "a" }]);
    expect(await queryRows(database, "SELECT id FROM users")).toEqual([]);
    expect(await queryRows(database, "SELECT count(*) AS keys FROM keys")).toEqual([{ keys: 1 }]);
    expect(await queryRows(entities, "SELECT count(*) AS keys FROM keys")).toEqual([{ keys: 0 }]);
    expect(await service.admin("GET", "status")).toMatchObject({
      database: { url: ledgerServer.url, entities_url: entitiesServer.url, replica: null },
      kinds: [{}, {}, { kind: "user", entities: 1, observations: 1 }, {}],
      accounts: 1,
    });
    await service.close();
  }, 60_000);

  test("/readyz names the database that is away, and requests that need only the other go on", async () => {
    const service = await startTestService(settings);
    await service.observe(observation(service, 1));
    const read = async (path: string) => (await service.get(path)).status;
    expect(await read("/api/microblog/a/details")).toBe(200);
    await entitiesServer.kill();
    // From the cache, which a debit in the ledger shows to be fresh.
    expect(await read("/api/microblog/a/details")).toBe(200);
    expect(await read("/api/creators")).toBe(200);
    expect(await read("/api/account")).toBe(200);
    expect(await read("/api/microblog/b/details")).toBe(503);
    const away = (setting: string) => [
      503,
      {
        error: "Service Unavailable",
        message: `The database of ${setting} does not answer or cannot be written`,
      },
    ];
    expect(await readReadiness(service)).toMatchObject(away("ENTITIES_URL"));
    await entitiesServer.restart();
    await retryWithin(RECOVERED_WITHIN_MS, service.service.entities.check);
    expect(await read("/api/microblog/b/details")).toBe(404);
    await ledgerServer.kill();
    expect(await readReadiness(service)).toMatchObject(away("DATABASE_URL"));
    expect(await read("/api/microblog/a/details")).toBe(503);
    await ledgerServer.restart();
    await retryWithin(RECOVERED_WITHIN_MS, service.service.database.check);
    expect(await readReadiness(service)).toMatchObject([200, { status: "ok" }]);
    expect(await read("/api/microblog/a/details")).toBe(200);
    await service.close();
  }, 60_000);

  test("collects into the database of the entities, and keeps its state in the ledger", async () => {
    const now = Date.now();
    const world = createWorld({
      beganAt: now - 5 * DAY_MS,
      endsAt: now - DAY_MS,
      creators: 1,
      postsEach: 3,
    });
    const bluesky = await openFakeBluesky({ world, now: Date.now });
    const service = await startTestService({ ...settings, BLUESKY_API_URL: bluesky.baseUrl });
    service.clock.now = now;
    const [creator = ""] = world.users.map(handleOf);
    await service.admin("POST", "creators", { creator });
    await service.admin("POST", "collect");
    const { database, entities } = service.service;
    const count = async (from: Database, table: string) =>
      (await queryRows(from, `SELECT count(*) AS count FROM ${table}`))[0]?.["count"];
    expect([await count(entities, "tweets"), await count(database, "tweets")]).toEqual([3, 0]);
    expect([await count(entities, "targets"), await count(database, "targets")]).toEqual([0, 5]);
    expect((await service.get(`/api/microblog/${creator}/tweets`)).status).toBe(200);
    await service.close();
    await bluesky.close();
  }, 60_000);

  test("a replica that is one of the ledger serves no read", async () => {
    const service = await startTestService({ ...settings, DATABASE_REPLICA: ledgerServer.url });
    const read = () => service.get("/api/microblog/a/details");
    for (const followers of [1, 2]) {
      await service.observe(observation(service, followers));
      expect(await (await read()).json()).toMatchObject({ followers_count: followers });
    }
    const metrics = await (await service.send("/metrics")).text();
    expect(metrics).toContain('creator_metrics_replica_reads_total{from="replica"} 0');
    expect(metrics).toContain('creator_metrics_replica_reads_total{from="primary"} 2');
    expect(metrics).toContain("creator_metrics_unpublished_changes 0");
    await service.close();
  }, 60_000);

  test("a command refuses the ledger as the database of the entities", async () => {
    const service = await startTestService(settings);
    await service.observe(observation(service, 1));
    await service.close();
    for (const [changed, message] of [
      [{ ENTITIES_URL: "" }, "ENTITIES_URL must be set, because DATABASE_URL has only a ledger\n"],
      [
        { DATABASE_URL: entitiesServer.url, ENTITIES_URL: ledgerServer.url },
        "ENTITIES_URL must be the database with the entities, not a ledger\n",
      ],
    ] as const) {
      const sandbox = await openSandbox({ ...settings, ...changed });
      expect(await sandbox.runInside(["status"])).toMatchObject({ status: 2, err: message });
      await sandbox.close();
    }
  }, 60_000);

  test("a command refuses two names of one database", async () => {
    const url = ledgerServer.url.replace("127.0.0.1", "localhost");
    const sandbox = await openSandbox({ ...settings, ENTITIES_URL: url });
    const { status, err } = await sandbox.runInside(["status"]);
    expect([status, err]).toEqual([2, expect.stringContaining("only with --enable-namespaces")]);
    await sandbox.close();
    // Nothing marks it as a ledger.
    const joined = await openSandbox({ DATABASE_URL: url });
    await joined.runOrThrow("status");
    await joined.close();
  }, 60_000);

  test("a command names the database whose server is away", async () => {
    const sandbox = await openSandbox(settings);
    await entitiesServer.kill();
    const { status, err } = await sandbox.runInside(["accounts", "list"]);
    expect(status).toBe(1);
    expect(err).toContain(`Waited for the database server ${entitiesServer.url} in vain`);
    expect(err).toContain("start it, or set ENTITIES_URL to another database");
    await sandbox.close();
  }, 60_000);

  test("a killed process leaves a change that no reader sees until it is published", async () => {
    const proxy = startLossyHranaProxy(entitiesServer.url, /INSERT INTO changes/);
    const sandboxes = [
      await openSandbox({ ...settings, ENTITIES_URL: proxy.url, ADMIN_TOKEN }),
      await openSandbox({ ...settings, ADMIN_TOKEN }),
    ] as const;
    const writer = await sandboxes[0].serve();
    const line = { kind: "user", observedAt: "2026-11-01T00:00:00.000Z", username: "a" };
    const send = (url: string) =>
      fetch(`${url}/admin/observations`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        body: JSON.stringify({ ...line, followers_count: 7 }),
      });
    const [ledger, entities] = await Promise.all([
      openDatabase({ url: ledgerServer.url, durability: "process" }),
      openDatabase({ url: entitiesServer.url, durability: "process" }),
    ]);
    // The writer does not learn that its write is stored, so it does not publish it.
    proxy.state.responsesToDrop = Number.POSITIVE_INFINITY;
    const answer = send(writer.url).catch(() => "no response");
    await waitUntil(() => proxy.state.droppedResponses > 0, 20_000);
    await writer.stop("SIGKILL");
    await answer;
    expect(await queryRows(entities, "SELECT id FROM users")).toEqual([{ id: "a" }]);
    const countPublished = async () => {
      const sql = "SELECT count(entities_sequence) AS published FROM changes";
      return (await queryRows(ledger, sql))[0]?.["published"];
    };
    expect(await countPublished()).toBe(0);
    // A starting process publishes it.
    const next = await sandboxes[1].serve();
    expect(await countPublished()).toBe(1);
    expect(await (await send(next.url)).json()).toMatchObject({ unchanged: 1 });
    await next.stop();
    await entities.close();
    await ledger.close();
    for (const sandbox of sandboxes) await sandbox.close();
    proxy.close();
  }, 60_000);
});

describe.skipIf(!hasSqld())("fenceWrites() in the database of the entities", () => {
  const INSERT = [{ sql: "INSERT INTO users (id) VALUES (?)", args: [] as string[] }] as const;
  const insert = (database: Database, id: string) =>
    resultOrError(database.write([{ ...INSERT[0], args: [id] }]));

  test("refuses a former holder, also if it claims the role late, or the ledger was restored", async () => {
    const [ledger, entities] = await Promise.all([
      openDatabase({ url: ledgerServer.url, durability: "process" }),
      openDatabase({ url: entitiesServer.url, durability: "process" }),
    ]);
    const refused = ["Conflict", "This process does not hold the role collector any more"];
    const expire = () => ledger.write([{ sql: "UPDATE roles SET expires_at = 1", args: [] }]);
    const first = createRoleLease(ledger, "collector", { entities });
    expect(await first.acquire()).toBe(true);
    expect(await insert(fenceWrites(entities, first), "a")).toMatchObject([{ rowsAffected: 1 }]);
    await expire();
    const second = createRoleLease(ledger, "collector", { entities });
    expect(await second.acquire()).toBe(true);
    expect(await insert(fenceWrites(entities, first), "b")).toEqual(refused);
    expect(await insert(fenceWrites(entities, second), "c")).toMatchObject([{ rowsAffected: 1 }]);
    // As in a backup of the ledger alone: its terms begin again.
    await ledger.write([{ sql: "DELETE FROM roles", args: [] }]);
    const third = createRoleLease(ledger, "collector", { entities });
    expect([await third.acquire(), await third.acquire()]).toEqual([false, true]);
    expect(await insert(fenceWrites(entities, second), "d")).toEqual(refused);
    expect(await insert(fenceWrites(entities, third), "e")).toMatchObject([{ rowsAffected: 1 }]);
    await Promise.all([ledger.close(), entities.close()]);
  }, 60_000);
});
