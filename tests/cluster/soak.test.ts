/**
 * Three services on one libSQL server, which collect, import and answer charged reads for a while: no
 * request fails, their memory does not grow, and their event loops are not held up. SOAK_MINUTES=30
 * runs the long form, which prints its measurements.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DAY_MS } from "../../core/time.ts";
import { createCreatorStore } from "../../server/store/collection/watch-lists.ts";
import { openDatabase } from "../../server/store/database/open-database.ts";
import { startLoopingClients } from "../support/network/looping-clients.ts";
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";
import { createWorld } from "../support/platforms/world.ts";
import { GC_SETTINGS } from "../support/processes/gc-preload.ts";
import { hasSetting, startServices } from "../support/processes/services.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 0);
const IS_LONG = MINUTES > 0;
const DURATION_MS = IS_LONG ? MINUTES * 60_000 : 16_000;
/** Until then, caches fill and code is compiled. */
const WARM_UP_MS = IS_LONG ? 5 * 60_000 : 6000;

const SERVICES = 3;
const CREATORS = 12;
const CLIENTS = 24;
const PAUSE_MS = IS_LONG ? 100 : 200;
const CREDITS = 1_000_000_000;

const ADMIN_TOKEN = "0123456789abcdef";
const IMPORT_EVERY_MS = 2000;
const CHANNELS = 200;

const SAMPLE_EVERY_MS = IS_LONG ? 20_000 : 1000;
/** How long after a garbage collection the allocator has given most memory back. */
const AFTER_GC_MS = 1000;
/** The memory is the median of so many samples. */
const SAMPLES = 5;

/** A short run sees the caches fill, on a machine that other tests use. */
const MEMORY_DRIFT_MAX = IS_LONG ? 0.05 : 0.5;
const LOOP_DELAY_MAX_S = IS_LONG ? 0.05 : 0.5;

let server: Awaited<ReturnType<typeof startSqld>>;
let entitiesServer: typeof server | undefined;
let bluesky: FakeServer;
let services: Awaited<ReturnType<typeof startServices>>;
let key: string;

const pickUrl = (index: number) => services.services[index % SERVICES]?.url ?? "";

/** The settings that this version of the service has, for entities and replicas of their own. */
async function createDatabaseSettings(): Promise<Record<string, string>> {
  if (!hasSetting("ENTITIES_URL")) return {};
  entitiesServer = await startSqld();
  const replica = hasSetting("DATABASE_REPLICA") && { DATABASE_REPLICA: "file:replica.db" };
  return { ENTITIES_URL: entitiesServer.url, ...replica };
}

/** Lets the services collect from a fake platform. */
async function monitorCreators(): Promise<void> {
  const now = Date.now();
  const world = createWorld({
    beganAt: now - 5 * DAY_MS,
    endsAt: now + DAY_MS,
    creators: CREATORS,
    postsEach: 20,
  });
  bluesky = await openFakeBluesky({ world, now: Date.now, logSize: 1 });
  const database = await openDatabase({ url: server.url, durability: "power" });
  const creators = createCreatorStore(database);
  for (const user of world.users)
    await creators.add({ platform: "microblog", creator: handleOf(user) }, now);
  await database.close();
}

const getChannelId = (channel: number) => `UC${String(channel).padStart(22, "0")}`;

/** Imports one more observation of each channel. @returns Why it failed. */
async function importChannels(round: number): Promise<string | undefined> {
  const observedAt = new Date(Date.UTC(2026, 0, 1) + round * 60_000).toISOString();
  const lines = Array.from({ length: CHANNELS }, (_, channel) =>
    JSON.stringify({
      kind: "channel",
      observedAt,
      id: getChannelId(channel),
      displayName: `Channel ${channel}`,
      subscribers: 1000 + channel + round,
    }),
  );
  const response = await fetch(`${pickUrl(round)}/admin/observations`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: lines.join("\n"),
  });
  const text = await response.text();
  return response.ok ? undefined : `An import: ${text}`;
}

/** The resident memory of each service after a garbage collection, in MiB. */
async function measureMemory(): Promise<number[]> {
  for (const { child } of services.services) child.kill("SIGUSR2");
  await Bun.sleep(AFTER_GC_MS);
  return services.services.map(({ child }) => {
    const [, kib] =
      /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  });
}

/** The 99th percentile of the delays of each event loop since the last call, in seconds. */
const measureLoopDelays = () =>
  Promise.all(
    services.services.map(async ({ url }) => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1]);
    }),
  );

/** The median of each column. */
const getMedians = (rows: readonly (readonly number[])[]) =>
  services.services.map(
    (_, index) =>
      rows.map((row) => row[index] ?? NaN).toSorted((a, b) => a - b)[rows.length >> 1] ?? NaN,
  );

/** Repeats work at intervals. @returns Stops it, and waits for its end. */
function repeat(intervalMs: number, work: (round: number) => Promise<unknown>) {
  const stopping = new AbortController();
  const running = (async () => {
    for (let round = 0; !stopping.signal.aborted; round++) {
      await work(round);
      await Bun.sleep(intervalMs);
    }
  })();
  return async (): Promise<void> => {
    stopping.abort();
    await running;
  };
}

describe.skipIf(!hasSqld())(
  "three services on a libSQL server that collect, import and respond",
  () => {
    beforeAll(async () => {
      server = await startSqld();
      const settings = await createDatabaseSettings();
      await monitorCreators();
      const own = { COLLECT: "on", BLUESKY_API_URL: bluesky.baseUrl, ADMIN_TOKEN, ...GC_SETTINGS };
      services = await startServices(
        server.url,
        Array.from({ length: SERVICES }, () => ({ ...settings, ...own })),
      );
      [key = ""] = await createAccess(server.url, { account: "a", credits: CREDITS });
    }, 60_000);
    afterAll(async () => {
      await services.close();
      await bluesky.close();
      await entitiesServer?.close();
      await server.close();
    }, 60_000);

    test(
      "answer every request, use no more memory over time, and do not hold up their event loops",
      async () => {
        const failures: (string | undefined)[] = [await importChannels(0)];
        let reads = 0;
        const stopClients = startLoopingClients({
          clients: CLIENTS,
          pauseMs: PAUSE_MS,
          createRequest(client) {
            const id = getChannelId(++reads % CHANNELS);
            const path = reads % 4 === 0 ? `/api/video/${id}/details` : "/api/video/channels";
            return { url: pickUrl(client) + path, key };
          },
          onSample({ status, failure }) {
            if (status !== 200) failures.push(`A read: ${status} ${failure}`);
          },
        });
        const stopImports = repeat(IMPORT_EVERY_MS, async (round) =>
          failures.push(await importChannels(round + 1)),
        );
        await Bun.sleep(WARM_UP_MS);
        await measureLoopDelays();
        const memory: number[][] = [];
        const stopSamples = repeat(SAMPLE_EVERY_MS, async () => memory.push(await measureMemory()));
        await Bun.sleep(DURATION_MS - WARM_UP_MS);
        await stopSamples();
        const delays = await measureLoopDelays();
        await stopImports();
        await stopClients();
        const first = getMedians(memory.slice(0, SAMPLES));
        const last = getMedians(memory.slice(-SAMPLES));
        const drifts = last.map((mib, index) => mib / (first[index] ?? NaN) - 1);
        if (IS_LONG) {
          process.stdout.write(
            `memory in MiB: ${first.map(Math.round)}, then ${last.map(Math.round)}; drift ` +
              `${drifts.map((drift) => `${(100 * drift).toFixed(1)} %`).join(", ")} | delay p99 in ms: ` +
              `${delays.map((delay) => (delay * 1000).toFixed(1)).join(", ")} | ` +
              `${reads} reads, ${bluesky.served()} requests of the collector\n`,
          );
        }
        expect(failures.filter((failure) => failure !== undefined)).toEqual([]);
        expect(bluesky.served()).toBeGreaterThan(CREATORS);
        expect(Math.max(...drifts)).toBeLessThan(MEMORY_DRIFT_MAX);
        expect(Math.max(...delays)).toBeLessThan(LOOP_DELAY_MAX_S);
      },
      DURATION_MS + 60_000,
    );
  },
);
