/** Items that are not there: when they are asked for again, and what brings them back. */
import { describe, expect, test } from "bun:test";
import { computeItemIntervalMs } from "../../server/collectors/poll-schedule.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { SOURCES, type Source } from "../../server/collectors/collector.ts";
import type { Database } from "../../server/store/database/database.ts";
import { withDatabase } from "../support/store/database.ts";
import { first } from "../support/platforms/first.ts";
import {
  readObservedInstants,
  startPollCycle,
  readTargets,
  watchOwners,
  type StoredTarget,
} from "../support/platforms/poll-cycle.ts";
import { openFixture, type PlatformFixture } from "../support/platforms/platform-fixture.ts";
import type { WorldPlan } from "../support/platforms/world.ts";

/** Lets a test work on a stage and a database; nobody is watched yet. */
async function withFixture(
  source: Source,
  plan: Partial<WorldPlan>,
  work: (fixture: PlatformFixture, database: Database) => Promise<void>,
): Promise<void> {
  const stage = await openFixture(source, plan);
  try {
    await withDatabase((database) => work(stage, database));
  } finally {
    await stage.close();
  }
}

const SMALL_PLAN = { channels: 1, creators: 1, shortsEach: 12, postsEach: 12 };

describe.each(SOURCES)("an item of %s that is not there", (source) => {
  /** Collects once, then lets an item be absent when its counts are asked for. */
  async function loseOne(stage: PlatformFixture, database: Database) {
    const { platform } = stage.collector;
    const owners = stage.owners.slice(0, 1);
    await watchOwners(database, stage, owners);
    const turns = startPollCycle(database, stage);
    await turns.collect();
    const item = first(first(owners).items().toReversed());
    const targetNow = async (): Promise<StoredTarget> => {
      const target = (await readTargets(database, platform, "counts")).get(item.id);
      if (target === undefined) throw new Error(`${item.id} is no target`);
      return target;
    };
    const becomeAbsent = async () => {
      item.fate.goneAt = stage.clock.now;
      await turns.collectAt((await targetNow()).dueAt);
    };
    await becomeAbsent();
    const instants = () => readObservedInstants(database, platform, item.id);
    return { turns, item, targetNow, instants };
  }

  test("is asked for after 1, 2, 4, 8 and 16 days, then every 30, and keeps what it had", async () => {
    await withFixture(source, SMALL_PLAN, async (stage, database) => {
      const { turns, targetNow, instants } = await loseOne(stage, database);
      const before = await instants();
      const days: number[] = [];
      for (let times = 1; times <= 8; times++) {
        const { failures, dueAt, failure } = await targetNow();
        expect([failures, failure !== null]).toEqual([times, true]);
        days.push((dueAt - stage.clock.now) / DAY_MS);
        await turns.collectAt(dueAt);
      }
      const wanted = [1, 2, 4, 8, 16, 30, 30, 30];
      expect(days.map((of, index) => Math.abs(of / (wanted[index] ?? 0) - 1) <= 0.101)).toEqual(
        wanted.map(() => true),
      );
      expect(await instants()).toEqual(before);
    });
  });

  test("was absent once and is listed again: it is observed at once", async () => {
    await withFixture(source, SMALL_PLAN, async (stage, database) => {
      const { turns, item, targetNow, instants } = await loseOne(stage, database);
      expect((await targetNow()).failures).toBe(1);
      const before = await instants();
      item.fate.goneAt = Infinity;
      const { platform } = stage.collector;
      const [list] = (await readTargets(database, platform, "items")).values();
      const listedAt = list?.dueAt ?? 0;
      // Before it is asked for by itself.
      expect(listedAt).toBeLessThan((await targetNow()).dueAt);
      const served = stage.fake.log().length;
      await turns.collectAt(listedAt);
      expect(await instants()).toEqual([...before, listedAt]);
      // A list that tells counts has told its: it is not asked for besides.
      const asked = stage.fake.log().slice(served);
      const besides = asked.filter(({ query }) => query.includes(item.id));
      expect(besides.length).toBe(source === "youtube" ? 1 : 0);
      const { failures, dueAt } = await targetNow();
      expect(failures).toBe(0);
      expect(dueAt - listedAt).toBeLessThanOrEqual(
        1.1 * computeItemIntervalMs(listedAt - item.publishedAt),
      );
    });
  });
});

describe("tweets that another source told of, while this one is asked", () => {
  test.each([
    ["X numbers, asked of Bluesky", "x", "bluesky"],
    ["record keys of Bluesky, asked of X", "bluesky", "x"],
  ] as const)("%s: they are not gone, and due again within their interval", async (_, from, to) => {
    await withFixture(from, SMALL_PLAN, async (stage, database) => {
      await withFixture(to, SMALL_PLAN, async (other) => {
        await watchOwners(database, stage, stage.owners);
        await startPollCycle(database, stage).collect();
        const before = await readTargets(database, "microblog", "counts");
        expect(before.size).toBeGreaterThan(5);
        const turns = startPollCycle(database, { collector: other.collector, clock: stage.clock });
        for (let hour = 1; hour <= 12; hour++) {
          await turns.collectAt(stage.clock.now + HOUR_MS);
        }
        const failed = [...(await readTargets(database, "microblog", "counts")).values()].filter(
          ({ failures }) => failures > 0,
        );
        expect(failed.length).toBeGreaterThan(0);
        for (const { failure, dueAt, publishedAt } of failed) {
          expect(failure).toMatch(/another source found it|identifiers there are numbers/);
          const everyMs = computeItemIntervalMs(stage.clock.now - publishedAt);
          expect(dueAt - stage.clock.now).toBeLessThanOrEqual(1.1 * everyMs);
        }
        expect(turns.eventKinds()).not.toContain("stopped");

        const back = startPollCycle(database, stage);
        const longest = Math.max(...failed.map(({ dueAt }) => dueAt));
        await back.collectAt(longest);
        const after = await readTargets(database, "microblog", "counts");
        const still = failed.filter(({ id }) => (after.get(id)?.failures ?? 1) > 0);
        expect(still).toEqual([]);
      });
    });
  });
});

test("a username that only another source can have is asked for soon after that is chosen", async () => {
  await withFixture("bluesky", SMALL_PLAN, async (stage, database) => {
    await withFixture("x", SMALL_PLAN, async (other) => {
      const owners = other.owners;
      await watchOwners(database, stage, owners);
      await startPollCycle(database, stage).collect();
      expect(stage.fake.served()).toBe(0);
      const turns = startPollCycle(database, { collector: other.collector, clock: stage.clock });
      await turns.collectAt(stage.clock.now + HOUR_MS / 6);
      const profiles = [...(await readTargets(database, "microblog", "profile")).values()];
      expect(profiles.map(({ failures }) => failures)).toEqual(owners.map(() => 0));
    });
  });
});
