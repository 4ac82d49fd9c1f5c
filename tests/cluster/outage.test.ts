import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { verifyLedger } from "../../server/store/accounts/verify-ledger.ts";
import { resultOrError } from "../support/store/database.ts";
import { startTestService } from "../support/service.ts";
import { retryWithin } from "../support/wait.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { commitDebitGroup } from "../support/store/debits.ts";

/** The longest time until a service detects that its server answers again. */
const RECOVERED_WITHIN_MS = 2000;

/** The longest time until a service detects that its server does not answer. */
const DETECTED_WITHIN_MS = 10_000;

/** The longest time until `/readyz` or `/metrics` responds: 1 s, doubled for slow machines. */
const READY_WITHIN_MS = 2000;

const UNAVAILABLE = ["Service Unavailable", "The database is not available right now"];

describe.skipIf(!hasSqld())("while a libSQL server is killed", () => {
  test("Database throws Service Unavailable; after a restart all acknowledged writes are stored", async () => {
    const server = await startSqld();
    const database = await openDatabase({ url: server.url, durability: "power" });
    const ledger = createLedgerStore(database);
    const { id } = await ledger.createAccount("a", 0);
    const grant = (uid: string) => ledger.grant({ id: uid, account: "a", amount: 1 }, 0);
    await grant("first");
    const uids = Array.from({ length: 60 }, (_, index) => `grant ${index}`);
    const first = grant(uids[0] ?? "");
    const pendingGrants = uids.slice(1).map((uid) => resultOrError(grant(uid)));
    await first;
    await server.kill();
    const results = await Promise.all(pendingGrants);
    const refused = results.filter(Array.isArray);
    expect(refused).toEqual(refused.map(() => UNAVAILABLE));
    expect(await resultOrError(ledger.accounts({ first: 0, last: 0 }))).toEqual(UNAVAILABLE);
    expect(
      await resultOrError(commitDebitGroup(ledger, [{ account: id, cost: 1 }], "d", 0)),
    ).toEqual(UNAVAILABLE);

    await server.restart();
    await retryWithin(RECOVERED_WITHIN_MS, database.check);
    const acknowledged = 2 + results.length - refused.length;
    const { granted } = await ledger.account("a");
    expect(granted).toBeGreaterThanOrEqual(acknowledged);
    expect(granted).toBeLessThanOrEqual(uids.length + 1);
    // A failed grant may have been stored; retried, each is applied once.
    for (const uid of uids) await grant(uid);
    expect(await ledger.account("a")).toMatchObject({ granted: uids.length + 1 });
    expect((await verifyLedger(database)).faults).toEqual([]);
    await database.close();
    await server.close();
  }, 60_000);

  test("GET /api/video/channels responds with 503, also if it is cached, and charges nothing", async () => {
    const server = await startSqld();
    const service = await startTestService({ DATABASE_URL: server.url });
    const { key, account } = await service.createAccountWithKey(10);
    const read = async () => (await service.get("/api/video/channels", key)).status;
    expect([await read(), await read()]).toEqual([200, 200]);
    await server.kill();
    expect(await read()).toBe(503);
    service.clock.now += 1000; // The cached key expires.
    expect(await Promise.all([read(), read()])).toEqual([503, 503]);
    await server.restart();
    await retryWithin(RECOVERED_WITHIN_MS, service.service.database.check);
    expect(await read()).toBe(200);
    expect(await service.readSums(account)).toMatchObject({ balance: 7 });
    await service.close();
    await server.close();
  }, 60_000);
});

describe.skipIf(!hasSqld())("while a libSQL server does not answer", () => {
  test("requests get 503 before their connections time out, and are not charged", async () => {
    const server = await startSqld();
    const service = await startTestService({ DATABASE_URL: server.url });
    const { key, account } = await service.createAccountWithKey(10);
    const read = async () => (await service.get("/api/video/channels", key)).status;
    expect(await read()).toBe(200);
    server.pause();
    service.clock.now += 1000; // The cached key expires.
    const ready = service.send("/readyz");
    const list = service.get("/api/creators", key);
    expect([await read(), (await ready).status, (await list).status]).toEqual([503, 503, 503]);
    server.resume();
    await retryWithin(RECOVERED_WITHIN_MS, service.service.database.check);
    expect([await read(), (await service.send("/readyz")).status]).toEqual([200, 200]);
    expect(await service.readSums(account)).toMatchObject({ balance: 8 });
    await service.close();
    await server.close();
  }, 60_000);
});

describe.skipIf(!hasSqld()).each(["stopped", "killed"])("while a libSQL server is %s", (fault) => {
  test("/readyz responds with 503 and /metrics with 200 in time, before and after it is detected", async () => {
    const server = await startSqld();
    const service = await startTestService({ DATABASE_URL: server.url });
    const request = async (path: string) => {
      const startedAt = performance.now();
      const response = await service.send(path);
      return { response, text: await response.text(), ms: performance.now() - startedAt };
    };
    await retryWithin(RECOVERED_WITHIN_MS, async () => {
      expect((await request("/metrics")).text).toMatch(/^creator_metrics_collector_stopped\{/m);
    });
    if (fault === "stopped") server.pause();
    else await server.kill();
    const end = performance.now() + DETECTED_WITHIN_MS;
    while (performance.now() < end && service.service.database.getOutage() === undefined) {
      const [ready, metrics] = await Promise.all([request("/readyz"), request("/metrics")]);
      expect([ready.response.status, metrics.response.status]).toEqual([503, 200]);
      expect(Math.max(ready.ms, metrics.ms)).toBeLessThan(READY_WITHIN_MS);
    }
    const [ready, metrics] = await Promise.all([request("/readyz"), request("/metrics")]);
    expect([ready.response.status, metrics.response.status]).toEqual([503, 200]);
    expect(ready.response.headers.get("retry-after")).toBe("1");
    expect(metrics.text).toContain("\ncreator_metrics_database_away 1\n");
    expect(metrics.text).toMatch(/^creator_metrics_collector_stopped\{source="bluesky"\} 0$/m);
    expect(metrics.text).toMatch(/^creator_metrics_collector_state_age_seconds \d/m);
    await service.close();
    await server.close();
  }, 60_000);
});
