/** How turns follow each other, and how the sources and errands share one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../../core/collection.ts";
import { DAY_MS, MINUTE_MS } from "../../core/time.ts";
import { createTurns } from "../../server/collectors/turns.ts";
import type { Collector, ErrandOfSource, Finding } from "../../server/collectors/port.ts";
import type { CollectionState } from "../../server/collectors/state.ts";
import { bluesky } from "../../server/collectors/bluesky.ts";
import { runLoop } from "../../server/collectors/loop.ts";
import { youtube } from "../../server/collectors/youtube.ts";
import { channelStore } from "../../server/store/channels.ts";
import { collectionStore } from "../../server/store/collection.ts";
import { creatorStore } from "../../server/store/creators.ts";
import type { Database } from "../../server/store/database.ts";
import { createIntake } from "../../server/store/intake.ts";
import { withDatabase } from "../support/database.ts";
import { handleOf, openBluesky } from "../support/platforms/bluesky.ts";
import type { Fake } from "../support/platforms/fake.ts";
import { openYoutube } from "../support/platforms/youtube.ts";
import { createWorld } from "../support/platforms/world.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const KEY = "AIza-simulated";

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
let fakes: { readonly youtube: Fake; readonly bluesky: Fake };
beforeEach(async () => {
  clock.now = NOW;
  fakes = {
    youtube: await openYoutube({ world, now, apiKey: KEY }),
    bluesky: await openBluesky({ world, now }),
  };
});
afterEach(async () => {
  await fakes.youtube.close();
  await fakes.bluesky.close();
});

const sourceOf = {
  youtube: () => youtube({ baseUrl: fakes.youtube.baseUrl, apiKey: KEY }),
  bluesky: () => bluesky({ baseUrl: fakes.bluesky.baseUrl }),
};

/** A collector that tells of each errand before it is done. */
function watched(
  collector: Collector,
  around: (errand: string, targets: readonly Target[], run: () => Promise<void>) => Promise<void>,
): Collector {
  const watch = (name: string, errand: ErrandOfSource): ErrandOfSource => ({
    ...errand,
    async *observe(targets, surroundings) {
      const found: Finding[] = [];
      await around(name, targets, async () => {
        for await (const one of errand.observe(targets, surroundings)) found.push(one);
      });
      yield* found;
    },
  });
  const { profile, items, counts } = collector.errands;
  return {
    ...collector,
    errands: {
      profile: watch("profile", profile),
      items: watch("items", items),
      counts: watch("counts", counts),
    },
  };
}

function turnsOf(database: Database, collector: Collector, change: Partial<CollectionState> = {}) {
  const state = { ...collectionStore(database), ...change };
  const takeIn = createIntake(database, now);
  return createTurns({ collector, state, takeIn, now, report: () => undefined, restMs: 0 });
}

async function withWatched(work: (database: Database) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    for (const { id } of world.channels) await channelStore(database).track(id, clock.now);
    for (const user of world.users) {
      const creator = { platform: "microblog", creator: handleOf(user) } as const;
      await creatorStore(database).add(creator, clock.now);
    }
    await work(database);
  });
}

describe("turns", () => {
  test("never run at once, also where the store fails", async () => {
    await withWatched(async (database) => {
      let running = 0;
      let most = 0;
      const slow = watched(sourceOf.youtube(), async (_errand, _targets, run) => {
        most = Math.max(most, ++running);
        await sleep(20);
        await run();
        running--;
      });
      const turns = turnsOf(database, slow, {
        settle: () => Promise.reject(new Error("The disk is full")),
      });
      const ended = await Promise.allSettled([1, 2, 3].map(() => turns.collect()));
      expect(running).toBe(0);
      expect(most).toBe(1);
      expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      expect(fakes.youtube.served()).toBeLessThan(40);
    });
  });

  test("end after fifteen seconds, however much is due, and go round the errands", async () => {
    await withWatched(async (database) => {
      const asked: string[] = [];
      const slow = watched(sourceOf.bluesky(), async (errand, _targets, run) => {
        asked.push(errand);
        await run();
        clock.now += 1000;
      });
      const turns = turnsOf(database, slow);
      await turns.collect();
      expect(asked.length).toBe(15);
      expect(asked.slice(0, 5)).toEqual(["profile", "items", "profile", "items", "profile"]);
      await turns.collect();
      expect(asked.length).toBe(30);
    });
  });

  test("ask nobody who was removed before they began", async () => {
    await withWatched(async (database) => {
      const asked: string[] = [];
      const slow = watched(sourceOf.bluesky(), async (_errand, targets, run) => {
        asked.push(...targets.map(({ id }) => id));
        await run();
        clock.now += 1000;
      });
      const turns = turnsOf(database, slow);
      await turns.collect();
      for (const user of world.users) {
        const creator = { platform: "microblog", creator: handleOf(user) } as const;
        await creatorStore(database).remove(creator);
      }
      asked.length = 0;
      await turns.collect();
      expect(asked).toEqual([]);
    });
  });
});

test("what a day costs is counted anew every ten minutes, and not in each turn", async () => {
  await withWatched(async (database) => {
    let counted = 0;
    const { countTargets } = collectionStore(database);
    const turns = turnsOf(database, sourceOf.bluesky(), {
      countTargets: (platform, errand) => {
        if (errand === "profile") counted++;
        return countTargets(platform, errand);
      },
    });
    // At last the clock is set back.
    for (const minutes of [0, 5, 9.99, 10, 15, 19.99, 20, -60]) {
      clock.now = NOW + minutes * MINUTE_MS;
      await turns.collect();
    }
    expect(counted).toBe(4);
  });
});

describe("runLoop()", () => {
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
      const turns = { ...turnsOf(database, sourceOf.bluesky()), collect };
      const end = runLoop(turns, now, (error) => failures.push(error), 1);
      await later.promise;
      await end();
      expect(failures.map(String)).toEqual(["Error: It failed 1", "Error: It failed 2"]);
    });
  });
});
