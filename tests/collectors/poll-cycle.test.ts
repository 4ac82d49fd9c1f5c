/** How turns follow each other, and how the sources and errands share one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { CollectionTarget } from "../../server/ports/targets.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { createPollCycle, startPollLoop } from "../../server/collectors/poll-cycle.ts";
import type { Collector, SourceTask, PollResult } from "../../server/collectors/collector.ts";
import type { CollectionState } from "../../server/ports/collection.ts";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";

import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import { createTrackedChannelStore } from "../../server/store/collection/tracked-channels.ts";
import { createCollectionState } from "../../server/store/collection/collection-state.ts";
import { createCreatorStore } from "../../server/store/collection/creators.ts";
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
  youtube: () => createYoutubeCollector({ baseUrl: fakes.youtube.baseUrl, apiKey: API_KEY }),
  bluesky: () => createBlueskyCollector({ baseUrl: fakes.bluesky.baseUrl }),
};

/** A collector that tells of each task before it is done. */
function interceptTasks(
  collector: Collector,
  onTask: (
    task: string,
    targets: readonly CollectionTarget[],
    run: () => Promise<void>,
  ) => Promise<void>,
): Collector {
  const interceptTask = (name: string, task: SourceTask): SourceTask => ({
    ...task,
    async *poll(targets, context) {
      const found: PollResult[] = [];
      await onTask(name, targets, async () => {
        for await (const one of task.poll(targets, context)) found.push(one);
      });
      yield* found;
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
  const takeIn = createImporter(database, now);
  return createPollCycle({
    collector,
    state,
    importObservations: takeIn,
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

describe("turns", () => {
  test("never run at once, also where the store fails", async () => {
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

  test("end after fifteen seconds, however much is due, and go round the errands", async () => {
    await withWatched(async (database) => {
      const asked: string[] = [];
      const slow = interceptTasks(createCollector.bluesky(), async (task, _targets, run) => {
        asked.push(task);
        await run();
        clock.now += 1000;
      });
      const cycle = createTestCycle(database, slow);
      await cycle.collect();
      expect(asked.length).toBe(15);
      expect(asked.slice(0, 5)).toEqual(["profile", "items", "profile", "items", "profile"]);
      await cycle.collect();
      expect(asked.length).toBe(30);
    });
  });

  test("ask nobody who was removed before they began", async () => {
    await withWatched(async (database) => {
      const asked: string[] = [];
      const slow = interceptTasks(createCollector.bluesky(), async (_errand, targets, run) => {
        asked.push(...targets.map(({ id }) => id));
        await run();
        clock.now += 1000;
      });
      const cycle = createTestCycle(database, slow);
      await cycle.collect();
      for (const user of world.users) {
        const creator = { platform: "microblog", creator: handleOf(user) } as const;
        await createCreatorStore(database).remove(creator);
      }
      asked.length = 0;
      await cycle.collect();
      expect(asked).toEqual([]);
    });
  });
});

test("what a day costs is counted anew every ten minutes, and not in each turn", async () => {
  await withWatched(async (database) => {
    let counted = 0;
    const { countTargets } = createCollectionState(database);
    const cycle = createTestCycle(database, createCollector.bluesky(), {
      countTargets: (platform, task) => {
        if (task === "profile") counted++;
        return countTargets(platform, task);
      },
    });
    // At last the clock is set back.
    for (const minutes of [0, 5, 9.99, 10, 15, 19.99, 20, -60]) {
      clock.now = NOW + minutes * MINUTE_MS;
      await cycle.collect();
    }
    expect(counted).toBe(4);
  });
});

describe("startPollLoop()", () => {
  test("goes on after a turn that failed, which it tells of", async () => {
    await withDatabase(async (database) => {
      const failures: unknown[] = [];
      const later = Promise.withResolvers<void>();
      let taken = 0;
      const collect = async () => {
        taken++;
        if (taken <= 2) throw new Error(`It failed ${taken}`);
        later.resolve();
      };
      const cycle = { ...createTestCycle(database, createCollector.bluesky()), collect };
      const end = startPollLoop(cycle, now, (error) => failures.push(error), 1);
      await later.promise;
      await end();
      expect(failures.map(String)).toEqual(["Error: It failed 1", "Error: It failed 2"]);
    });
  });
});
