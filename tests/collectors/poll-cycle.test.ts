/** The poll cycles of a source: their order, their length and their loop. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  CollectionTarget,
  Collector,
  PollResult,
  TaskName,
} from "../../server/collectors/collector.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { createPollCycle } from "../../server/collectors/poll-cycle.ts";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";

import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import {
  createCreatorStore,
  createTrackedChannelStore,
} from "../../server/store/collection/watch-lists.ts";
import {
  createCollectionState,
  type CollectionState,
} from "../../server/store/collection/collection-state.ts";
import type { Database } from "../../server/store/database/database.ts";
import { createImporter } from "../../server/store/observations/import.ts";
import { withDatabase } from "../support/store/database.ts";
import { handleOf, openFakeBluesky } from "../support/platforms/fake-bluesky.ts";
import type { FakeServer } from "../support/platforms/fake-server.ts";
import { openFakeYoutube } from "../support/platforms/fake-youtube.ts";
import { createWorld } from "../support/platforms/world.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const API_KEY = "AIza-simulated";

const clock = { now: NOW };
const now = () => clock.now;
const world = createWorld({
  beganAt: NOW - 10 * DAY_MS,
  endsAt: NOW + 10 * DAY_MS,
  channels: 10,
  shortsEach: 3,
  creators: 60,
  postsEach: 3,
});
let fakes: { readonly youtube: FakeServer; readonly bluesky: FakeServer };
beforeEach(async () => {
  clock.now = NOW;
  fakes = {
    youtube: await openFakeYoutube({ world, now, apiKey: API_KEY }),
    bluesky: await openFakeBluesky({ world, now }),
  };
});
afterEach(async () => {
  await fakes.youtube.close();
  await fakes.bluesky.close();
});

const createCollector = {
  youtube: () => createYoutubeCollector({ baseUrl: fakes.youtube.baseUrl, credential: API_KEY }),
  bluesky: () => createBlueskyCollector({ baseUrl: fakes.bluesky.baseUrl, credential: "" }),
};

/** Wraps a collector: `onTask` runs each of its tasks. */
function interceptTasks(
  collector: Collector,
  onTask: (
    task: string,
    targets: readonly CollectionTarget[],
    run: () => Promise<void>,
  ) => Promise<void>,
): Collector {
  const interceptTask = (
    name: string,
    task: Collector["tasks"][TaskName],
  ): Collector["tasks"][TaskName] => ({
    ...task,
    async *poll(targets, context) {
      const results: PollResult[] = [];
      await onTask(name, targets, async () => {
        for await (const result of task.poll(targets, context)) results.push(result);
      });
      yield* results;
    },
  });
  const { profile, items, counts } = collector.tasks;
  return {
    ...collector,
    tasks: {
      profile: interceptTask("profile", profile),
      items: interceptTask("items", items),
      counts: interceptTask("counts", counts),
    },
  };
}

function createTestCycle(
  database: Database,
  collector: Collector,
  change: Partial<CollectionState> = {},
) {
  const state = { ...createCollectionState(database), ...change };
  return createPollCycle({
    collector,
    state,
    importObservations: createImporter(database, now),
    now,
    report: () => undefined,
    taskDelayMs: 0,
  });
}

async function withWatched(work: (database: Database) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    for (const { id } of world.channels)
      await createTrackedChannelStore(database).track(id, clock.now);
    for (const user of world.users) {
      const creator = { platform: "microblog", creator: handleOf(user) } as const;
      await createCreatorStore(database).add(creator, clock.now);
    }
    await work(database);
  });
}

describe("collect()", () => {
  test("never runs two cycles at once, also if the store fails", async () => {
    await withWatched(async (database) => {
      let running = 0;
      let most = 0;
      const slow = interceptTasks(createCollector.youtube(), async (_errand, _targets, run) => {
        most = Math.max(most, ++running);
        await sleep(20);
        await run();
        running--;
      });
      const cycle = createTestCycle(database, slow, {
        saveResults: () => Promise.reject(new Error("The disk is full")),
      });
      const ended = await Promise.allSettled([1, 2, 3].map(() => cycle.collect()));
      expect(running).toBe(0);
      expect(most).toBe(1);
      expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      expect(fakes.youtube.served()).toBeLessThan(40);
    });
  });

  test("ends after 15 seconds, however much is due, and alternates between the tasks", async () => {
    await withWatched(async (database) => {
      const polled: string[] = [];
      const slow = interceptTasks(createCollector.bluesky(), async (task, _targets, run) => {
        polled.push(task);
        await run();
        clock.now += 1000;
      });
      const cycle = createTestCycle(database, slow);
      await cycle.collect();
      expect(polled.length).toBe(15);
      expect(polled.slice(0, 5)).toEqual(["profile", "items", "profile", "items", "profile"]);
      await cycle.collect();
      expect(polled.length).toBe(30);
    });
  });

  test("polls nobody who was removed before the cycle", async () => {
    await withWatched(async (database) => {
      const polled: string[] = [];
      const slow = interceptTasks(createCollector.bluesky(), async (_errand, targets, run) => {
        polled.push(...targets.map(({ id }) => id));
        await run();
        clock.now += 1000;
      });
      const cycle = createTestCycle(database, slow);
      await cycle.collect();
      for (const user of world.users) {
        const creator = { platform: "microblog", creator: handleOf(user) } as const;
        await createCreatorStore(database).remove(creator);
      }
      polled.length = 0;
      await cycle.collect();
      expect(polled).toEqual([]);
    });
  });
});

test("createSlowdownCache() counts the targets every ten minutes, and not in each cycle", async () => {
  await withWatched(async (database) => {
    let counted = 0;
    const { countTargets } = createCollectionState(database);
    const cycle = createTestCycle(database, createCollector.bluesky(), {
      countTargets: (platform, task) => {
        if (task === "profile") counted++;
        return countTargets(platform, task);
      },
    });
    // The last step sets the clock back.
    for (const minutes of [0, 5, 9.99, 10, 15, 19.99, 20, -60]) {
      clock.now = NOW + minutes * MINUTE_MS;
      await cycle.collect();
    }
    expect(counted).toBe(4);
  });
});

describe("start()", () => {
  test("goes on after a cycle that failed, and reports the failure", async () => {
    await withDatabase(async (database) => {
      const failures: unknown[] = [];
      const succeeded = Promise.withResolvers<void>();
      let runs = 0;
      const syncTargets = async () => {
        runs++;
        if (runs <= 2) throw new Error(`It failed ${runs}`);
        succeeded.resolve();
      };
      const cycle = createTestCycle(database, createCollector.bluesky(), { syncTargets });
      const stop = cycle.start((error) => failures.push(error), 1);
      await succeeded.promise;
      await stop();
      expect(failures.map(String)).toEqual(["Error: It failed 1", "Error: It failed 2"]);
    });
  });
});
