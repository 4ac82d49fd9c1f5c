/** Three services on one libSQL server that all have COLLECT=on: one of them collects. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../core/time.ts";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import type { Database } from "../../server/store/database/database.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";
import { toResponse } from "../support/platforms/faults.ts";
import { createWorld } from "../support/platforms/world.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { startTestService } from "../support/service.ts";
import { queryRows, resultOrError } from "../support/store/database.ts";
import { readAllPoints } from "../support/store/stored-history.ts";
import { waitUntil } from "../support/wait.ts";

type Service = Awaited<ReturnType<Sandbox["serve"]>>;

const SERVICES = 3;
const CREATORS = 6;

/** How long it may take until another process goes on, doubled for a busy machine. */
const PASSED_ON_WITHIN_MS = 20_000;
const COLLECTED_WITHIN_MS = 60_000;

const FEED = "getAuthorFeed";

let server: Awaited<ReturnType<typeof startSqld>>;
let database: Database;
let bluesky: FakeServer;
let sandbox: Sandbox;
let services: Service[];
beforeEach(async () => {
  server = await startSqld();
  database = await openDatabase({ url: server.url, durability: "power" });
  const now = Date.now();
  const period = { beganAt: now - 5 * DAY_MS, endsAt: now - DAY_MS };
  const world = createWorld({ ...period, creators: CREATORS, postsEach: 5 });
  bluesky = await openFakeBluesky({ world, now: Date.now });
  const creators = createCreatorStore(database);
  for (const user of world.users)
    await creators.add({ platform: "microblog", creator: handleOf(user) }, now);
  sandbox = await openSandbox({
    DATABASE_URL: server.url,
    BLUESKY_API_URL: bluesky.baseUrl,
    COLLECT: "on",
  });
  services = [];
});
afterEach(async () => {
  for (const service of services) await service.stop("SIGKILL");
  await sandbox.close();
  await bluesky.close();
  await database.close();
  await server.close();
});

async function startServices(): Promise<void> {
  services = await Promise.all(Array.from({ length: SERVICES }, () => sandbox.serve()));
}

/** The services that do the work of a role, as `/metrics` says. */
async function listHolders(role: string, among: readonly Service[] = services): Promise<Service[]> {
  const metrics = await Promise.all(
    among.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  return among.filter((_, index) =>
    metrics[index]?.includes(`creator_metrics_role_held{role="${role}"} 1`),
  );
}

async function waitForHolder(role: string, among: readonly Service[] = services): Promise<Service> {
  let holder: Service | undefined;
  await waitUntil(async () => {
    [holder] = await listHolders(role, among);
    return holder !== undefined;
  }, PASSED_ON_WITHIN_MS);
  if (holder === undefined) throw new Error("No process holds the role");
  return holder;
}

/** Waits until all profiles and lists were polled. */
async function waitUntilCollected(): Promise<void> {
  await waitUntil(async () => {
    const sql = "SELECT id FROM targets WHERE task <> 'counts' AND succeeded_at IS NOT NULL";
    return (await queryRows(database, sql)).length === 2 * CREATORS;
  }, COLLECTED_WITHIN_MS);
}

/** Expects that each user and post is observed once, and that all requests are counted. */
async function expectObservedOnce(): Promise<void> {
  for (const kind of ["user", "tweet"] as const) {
    const entities = (await readAllPoints(database, kind)).map(({ entity }) => entity);
    expect(entities.length).toBeGreaterThanOrEqual(CREATORS);
    expect(new Set(entities).size).toBe(entities.length);
  }
  const [quota] = await queryRows(database, "SELECT sum(units) AS units FROM quota_use");
  expect(quota?.["units"]).toBe(bluesky.served());
}

/** How often each list was requested, by creator. */
function countFeedRequests(): number[] {
  const feeds = bluesky.log().filter(({ path }) => path.includes(FEED));
  return [...Map.groupBy(feeds, ({ query }) => query).values()].map(({ length }) => length);
}

/** Lets the next list wait for its response. */
function holdNextFeed() {
  const requested = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  bluesky.injectFault(
    async (_, answer) => {
      requested.resolve();
      await released.promise;
      return toResponse(answer());
    },
    { path: FEED },
  );
  return { requested: requested.promise, release: released.resolve };
}

describe.skipIf(!hasSqld())("three services with COLLECT=on on a libSQL server", () => {
  test("request each target once; `collect` names the collecting one; when it stops, another begins", async () => {
    await startServices();
    await waitUntilCollected();
    await expectObservedOnce();
    expect(countFeedRequests()).toEqual(Array.from({ length: CREATORS }, () => 1));
    expect(await listHolders("maintenance")).toHaveLength(1);
    const [holder, ...others] = await listHolders("collector");
    expect(others).toEqual([]);
    expect(await sandbox.runInside(["collect", "--once"])).toMatchObject({
      status: 1,
      err: expect.stringContaining(
        `The role collector is held by process ${holder?.child.pid} on `,
      ),
    });
    expect((await holder?.stop())?.status).toBe(0);
    const remaining = services.filter((service) => service !== holder);
    await waitForHolder("collector", remaining);
    expect(await listHolders("collector", remaining)).toHaveLength(1);
  }, 120_000);

  test("go on when the collecting one is killed: nothing is observed twice, quotas are kept", async () => {
    const held = holdNextFeed();
    await startServices();
    await held.requested;
    const holder = await waitForHolder("collector");
    await holder.stop("SIGKILL");
    const killedAt = performance.now();
    await waitForHolder(
      "collector",
      services.filter((service) => service !== holder),
    );
    expect(performance.now() - killedAt).toBeLessThan(PASSED_ON_WITHIN_MS);
    await waitUntilCollected();
    held.release();
    await expectObservedOnce();
    const requests = countFeedRequests().toSorted();
    expect(requests).toEqual([...Array.from({ length: CREATORS - 1 }, () => 1), 2]);
  }, 120_000);

  test("go on when the collecting one is suspended, and later it stores nothing", async () => {
    const held = holdNextFeed();
    await startServices();
    await held.requested;
    const holder = await waitForHolder("collector");
    const others = services.filter((service) => service !== holder);
    holder.child.kill("SIGSTOP");
    await waitForHolder("collector", others);
    await waitUntilCollected();
    held.release();
    holder.child.kill("SIGCONT");
    await waitUntil(() => holder.log().includes("This process ends the work of the role"));
    await waitUntil(async () => (await listHolders("collector")).length === 1);
    expect(await listHolders("collector", [holder])).toEqual([]);
    await expectObservedOnce();
    expect((await fetch(`${holder.url}/readyz`)).status).toBe(200);
  }, 120_000);
});

describe.skipIf(!hasSqld())("a service whose role another process took unnoticed", () => {
  test("sends no further request to a source, and stores nothing of a response", async () => {
    const held = holdNextFeed();
    const settings = { DATABASE_URL: server.url, BLUESKY_API_URL: bluesky.baseUrl };
    const service = await startTestService(settings);
    const collected = resultOrError(service.service.collecting.collect());
    await held.requested;
    const stored = await readAllPoints(database, "tweet");
    const served = bluesky.served();
    // It sees the loss when it renews the lease, two seconds later at most.
    await database.write([{ sql: "UPDATE roles SET holder = 'other'", args: [] }]);
    held.release();
    expect(await collected).toEqual([
      "Conflict",
      "This process does not hold the role collector any more",
    ]);
    expect(await readAllPoints(database, "tweet")).toEqual(stored);
    expect(bluesky.served()).toBe(served);
    await service.close();
  }, 60_000);

  test("stops collecting when it notices, and collects again once the role is free", async () => {
    const service = await startTestService({
      DATABASE_URL: server.url,
      BLUESKY_API_URL: bluesky.baseUrl,
    });
    const failures: unknown[] = [];
    const stop = service.service.collecting.start((error) => failures.push(error));
    const isHeld = async () =>
      (await (await service.send("/metrics")).text()).includes(
        'creator_metrics_role_held{role="collector"} 1',
      );
    await waitUntilCollected();
    expect(await isHeld()).toBe(true);
    await database.write([{ sql: "UPDATE roles SET holder = 'other'", args: [] }]);
    await waitUntil(async () => !(await isHeld()));
    const served = bluesky.served();
    service.clock.now += DAY_MS;
    await database.write([{ sql: "DELETE FROM roles WHERE holder = 'other'", args: [] }]);
    await waitUntil(() => bluesky.served() > served);
    expect(await isHeld()).toBe(true);
    await stop();
    expect(await queryRows(database, "SELECT name FROM roles WHERE expires_at > 0")).toEqual([]);
    expect(failures).toEqual([]);
    await service.close();
  }, 60_000);
});
