import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { computeIntervalMs } from "../../server/collectors/poll-schedule.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import type { Collector } from "../../server/collectors/collector.ts";
import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import { createTrackedChannelStore } from "../../server/store/collection/watch-lists.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import type { Database } from "../../server/store/database/database.ts";
import { queryRows, withDatabase } from "../support/store/database.ts";
import { readAllPoints } from "../support/store/stored-history.ts";
import { respondWith, failWithStatus, NO_RESPONSE } from "../support/platforms/faults.ts";
import { KEY_REFUSED, openFakeYoutube, QUOTA_EXCEEDED } from "../support/platforms/fake-youtube.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";
import { startPollCycle, readTargets } from "../support/platforms/poll-cycle.ts";
import { createWorld } from "../support/platforms/world.ts";
import { waitUntil } from "../support/wait.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const API_KEY = "AIza-simulated";

const clock = { now: NOW };
let fake: FakeServer;
const world = createWorld({
  beganAt: NOW - 10 * DAY_MS,
  endsAt: NOW + 10 * DAY_MS,
  channels: 3,
  shortsEach: 20,
});
beforeEach(async () => {
  clock.now = NOW;
  fake = await openFakeYoutube({ world, now: () => clock.now, apiKey: API_KEY });
});
afterEach(() => fake.close());

/** @param units Units a day of both buckets, or of the first. */
function startCycle(database: Database, apiKey = API_KEY, units?: number, statsUnits = units) {
  const youtubeCollector = createYoutubeCollector({ baseUrl: fake.baseUrl, credential: apiKey });
  const bucket = (unitsPerDay = 0) => ({ unitsPerDay, zone: "America/Los_Angeles" }) as const;
  const buckets = { general: bucket(units), stats: bucket(statsUnits) };
  const collector: Collector =
    units === undefined ? youtubeCollector : { ...youtubeCollector, buckets };
  return startPollCycle(database, { collector, clock, fake });
}

async function withChannels(work: (database: Database) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    for (const { id } of world.channels)
      await createTrackedChannelStore(database).track(id, clock.now);
    await work(database);
  });
}

const countStoredChannels = async (database: Database) =>
  (await readAllPoints(database, "channel")).length;

describe("a stopped source", () => {
  test("out of quota, is polled again after midnight Pacific time, also after a restart", async () => {
    await withChannels(async (database) => {
      fake.injectFault(respondWith(QUOTA_EXCEEDED), { times: 1 });
      const before = startCycle(database);
      await before.collect();
      expect(before.eventKinds()).toEqual(["stopped"]);
      const status = await before.status();
      expect(status?.stopped).toMatchObject({ until: Date.parse("2026-11-21T08:00:00.000Z") });
      clock.now = Date.parse("2026-11-21T07:59:59.000Z");
      await startCycle(database).collect();
      expect(fake.served()).toBe(1);
      clock.now = Date.parse("2026-11-21T08:00:00.000Z");
      const after = startCycle(database);
      await after.collect();
      expect(after.eventKinds()).toEqual(["resumed"]);
      expect((await after.status()).stopped).toBeUndefined();
      expect(await countStoredChannels(database)).toBe(3);
    });
  });

  test("whose key is refused is polled again once the key changes", async () => {
    await withChannels(async (database) => {
      fake.injectFault(respondWith(KEY_REFUSED), { times: 1 });
      await startCycle(database, "wrong-key-of-this-test").collect();
      clock.now += 30 * DAY_MS;
      const same = startCycle(database, "wrong-key-of-this-test");
      await same.collect();
      expect(fake.served()).toBe(1);
      expect((await same.status()).stopped).toMatchObject({ until: null });
      await startCycle(database).collect();
      expect(await countStoredChannels(database)).toBe(3);
    });
  });

  test("whose key is refused is polled again once the base URL changes", async () => {
    await withChannels(async (database) => {
      const apiKey = "a-key-of-another-place";
      await startCycle(database, apiKey).collect();
      expect(await countStoredChannels(database)).toBe(0);
      const elsewhere = await openFakeYoutube({ world, now: () => clock.now, apiKey });
      const collector = createYoutubeCollector({ baseUrl: elsewhere.baseUrl, credential: apiKey });
      await startPollCycle(database, { collector, clock, fake: elsewhere }).collect();
      await elsewhere.close();
      expect(await countStoredChannels(database)).toBe(3);
    });
  });
});

describe("a failing source", () => {
  test.each([
    ["answers 500", failWithStatus(500)],
    ["never answers", NO_RESPONSE],
  ])(
    "that %s is paused for longer and longer, and nothing is stored",
    async (_, fault) => {
      await withChannels(async (database) => {
        fake.injectFault(fault, { times: Infinity });
        const cycle = startCycle(database);
        const served: number[] = [];
        for (let round = 0; round < 40; round++) {
          await cycle.collect();
          served.push(fake.served());
          clock.now += 15 * 60_000;
        }
        const first = served[9] ?? 0;
        const last = (served[39] ?? 0) - (served[29] ?? 0);
        expect(last).toBeLessThan(first / 2);
        expect(await countStoredChannels(database)).toBe(0);
        fake.clearFaults();
        clock.now += 2 * HOUR_MS;
        await cycle.collect();
        expect(await countStoredChannels(database)).toBe(3);
      });
    },
    30_000,
  );

  test("is retried up to three times", async () => {
    await withChannels(async (database) => {
      fake.injectFault(failWithStatus(500), { times: 3 });
      const cycle = startCycle(database);
      await cycle.collect();
      expect(cycle.eventKinds()).toEqual(["retried", "retried", "retried"]);
      expect(await countStoredChannels(database)).toBe(3);
      fake.injectFault(failWithStatus(500), { times: 4 });
      await cycle.collectAt(NOW + DAY_MS);
      expect(cycle.eventKinds().slice(3)).toEqual(["retried", "retried", "retried", "failed"]);
    });
  });

  test("that fails now and then is not paused", async () => {
    await withChannels(async (database) => {
      const cycle = startCycle(database);
      for (let day = 1; day <= 4; day++) {
        fake.injectFault(failWithStatus(500), { times: 4 });
        await cycle.collectAt(NOW + day * DAY_MS);
        const { buckets } = await cycle.status();
        expect(buckets.map(({ pausedUntil }) => pausedUntil)).toEqual([undefined, undefined]);
        await cycle.collectAt(NOW + day * DAY_MS + HOUR_MS);
      }
      expect(cycle.eventKinds().filter((kind) => kind === "failed")).toHaveLength(4);
    });
  });

  test("a channel that does not exist is polled every day", async () => {
    await withDatabase(async (database) => {
      const unknown = `UC${"x".repeat(22)}`;
      await createTrackedChannelStore(database).track(unknown, clock.now);
      const cycle = startCycle(database);
      for (let failures = 1; failures <= 5; failures++) {
        await cycle.collect();
        const profile = (await readTargets(database, "video", "profile")).get(unknown);
        expect(profile).toMatchObject({ failures, succeededAt: null });
        expect((profile?.dueAt ?? 0) - clock.now).toBeWithin(0.9 * DAY_MS, 1.1 * DAY_MS + 1);
        clock.now = profile?.dueAt ?? 0;
      }
    });
  });

  test("a channel that does not exist fails alone", async () => {
    await withChannels(async (database) => {
      const unknown = `UC${"x".repeat(22)}`;
      await createTrackedChannelStore(database).track(unknown, clock.now);
      await startCycle(database).collect();
      expect(await countStoredChannels(database)).toBe(3);
      const failures = await queryRows(
        database,
        "SELECT id, failures FROM targets WHERE failure IS NOT NULL AND task = 'profile'",
      );
      expect(failures).toEqual([{ id: unknown, failures: 1 }]);
    });
  });
});

describe("a quota", () => {
  test("is used up to 9/10, however much is due, and again the next day", async () => {
    await withChannels(async (database) => {
      const cycle = startCycle(database, API_KEY, 4);
      for (let round = 0; round < 5; round++) await cycle.collect({ isPaced: false });
      expect(fake.servedOn("general", clock.now)).toBe(3);
      await startCycle(database, API_KEY, 4).collect({ isPaced: false });
      expect(fake.servedOn("general", clock.now)).toBe(3);
      clock.now += DAY_MS;
      await startCycle(database, API_KEY, 4).collect({ isPaced: false });
      expect(fake.servedOn("general", clock.now)).toBe(3);
    });
  });

  test("that does not suffice slows down the tasks that use it, and no others", async () => {
    await withChannels(async (database) => {
      await startCycle(database, API_KEY, 12, 10_000).collect();
      const items = await queryRows(
        database,
        "SELECT published_at AS at, due_at AS due FROM targets WHERE task = 'counts'",
      );
      expect(items.length).toBeGreaterThan(20);
      for (const { at, due } of items) {
        expect(Number(due) - clock.now).toBeLessThanOrEqual(
          computeIntervalMs("counts", clock.now - Number(at)) + 1,
        );
      }
      clock.now += 8 * HOUR_MS;
      await startCycle(database, API_KEY, 12, 10_000).collect();
      const lists = await queryRows(
        database,
        "SELECT published_at AS newest, succeeded_at AS at, due_at AS due FROM targets " +
          "WHERE task = 'items'",
      );
      const factors = lists.map(
        ({ newest, at, due }) =>
          (Number(due) - Number(at)) / computeIntervalMs("items", Number(at) - Number(newest)),
      );
      expect(Math.max(...factors)).toBeGreaterThan(1.2);
    });
  });

  test("counts at least the requests that were served", async () => {
    await withChannels(async (database) => {
      fake.injectFault(failWithStatus(503), { times: 3 });
      const cycle = startCycle(database);
      await cycle.collect();
      const status = await cycle.status();
      const used = status?.buckets.reduce((sum, bucket) => sum + bucket.used, 0) ?? 0;
      expect(used).toBeGreaterThanOrEqual(fake.served());
      expect(fake.served()).toBeGreaterThan(5);
      expect(cycle.eventKinds()).toContain("retried");
    });
  });
});

describe("a batch", () => {
  test("of due targets is filled up with targets due within 15 minutes", async () => {
    await withChannels(async (database) => {
      const cycle = startCycle(database);
      await cycle.collect();
      const at = NOW + DAY_MS;
      const dueAts = [at, at + 15 * MINUTE_MS, at + 15 * MINUTE_MS + 1];
      const ids = world.channels.map(({ id }) => id);
      const updates = ids.map((id, index) => ({ id, dueAt: dueAts[index] ?? at }));
      await createCollectionState(database).saveResults("video", "profile", updates);
      await cycle.collectAt(at);
      const profiles = await readTargets(database, "video", "profile");
      expect(ids.map((id) => profiles.get(id)?.succeededAt)).toEqual([at, at, NOW]);
    });
  });
});

describe("start()", () => {
  test("returns a function that aborts the running task, and its targets stay due", async () => {
    await withChannels(async (database) => {
      fake.injectFault(NO_RESPONSE, { times: Infinity });
      const collector = createYoutubeCollector({ baseUrl: fake.baseUrl, credential: API_KEY });
      // The request has no timeout: only the end of the loop can end it.
      const cycle = startPollCycle(database, {
        collector,
        clock,
        fake: { startTimeout: () => () => {} },
      });
      const failures: unknown[] = [];
      const stop = cycle.start((error) => failures.push(error));
      await waitUntil(() => fake.served() > 0);
      await stop();
      expect(failures).toEqual([]);
      const [due] = await queryRows(
        database,
        "SELECT count(*) AS n FROM targets WHERE failures > 0",
      );
      expect(due).toEqual({ n: 0 });
      expect(cycle.events).toEqual([]);
    });
  }, 10_000);
});
