/** Items that are gone: when they are polled again, and what brings them back. */
import { describe, expect, test } from "bun:test";
import { computeIntervalMs } from "../../server/collectors/poll-schedule.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { SOURCE_NAMES } from "../support/platforms/source-names.ts";
import type { Database } from "../../server/store/database/database.ts";
import { first } from "../support/platforms/first.ts";
import {
  readObservedInstants,
  startPollCycle,
  readTargets,
  watchOwners,
  withPlatform,
  type StoredTarget,
} from "../support/platforms/poll-cycle.ts";
import type { PlatformFixture } from "../support/platforms/platform-fixture.ts";

const SMALL_PLAN = { channels: 1, creators: 1, shortsEach: 12, postsEach: 12, isWatched: false };

describe.each(SOURCE_NAMES)("an item of %s that is gone", (source) => {
  /** Collects once, then removes an item and polls its counts. */
  async function removeOne(fixture: PlatformFixture, database: Database) {
    const { platform } = fixture.collector.source;
    const owners = fixture.owners.slice(0, 1);
    await watchOwners(database, fixture, owners);
    const cycle = startPollCycle(database, fixture);
    await cycle.collect();
    const item = first(first(owners).items().toReversed());
    const readTarget = async (): Promise<StoredTarget> => {
      const target = (await readTargets(database, platform, "counts")).get(item.id);
      if (target === undefined) throw new Error(`${item.id} is no target`);
      return target;
    };
    item.lifecycle.goneAt = fixture.clock.now;
    await cycle.collectAt((await readTarget()).dueAt);
    const readInstants = () => readObservedInstants(database, platform, item.id);
    return { cycle, item, readTarget, readInstants };
  }

  test("is polled after 1, 2, 4, 8 and 16 days, then every 30 days, and keeps its history", async () => {
    await withPlatform(source, SMALL_PLAN, async (fixture, database) => {
      const { cycle, readTarget, readInstants } = await removeOne(fixture, database);
      const before = await readInstants();
      const days: number[] = [];
      for (let times = 1; times <= 8; times++) {
        const { failures, dueAt, failure } = await readTarget();
        expect([failures, failure !== null]).toEqual([times, true]);
        days.push((dueAt - fixture.clock.now) / DAY_MS);
        await cycle.collectAt(dueAt);
      }
      const wanted = [1, 2, 4, 8, 16, 30, 30, 30];
      expect(
        days.map((waited, index) => Math.abs(waited / (wanted[index] ?? 0) - 1) <= 0.101),
      ).toEqual(wanted.map(() => true));
      expect(await readInstants()).toEqual(before);
    });
  });

  test("is observed as soon as it is listed again", async () => {
    await withPlatform(source, SMALL_PLAN, async (fixture, database) => {
      const { cycle, item, readTarget, readInstants } = await removeOne(fixture, database);
      expect((await readTarget()).failures).toBe(1);
      const before = await readInstants();
      item.lifecycle.goneAt = Infinity;
      const { platform } = fixture.collector.source;
      const [list] = (await readTargets(database, platform, "items")).values();
      const listedAt = list?.dueAt ?? 0;
      // The list is due before the item itself.
      expect(listedAt).toBeLessThan((await readTarget()).dueAt);
      const served = fixture.fake.log().length;
      await cycle.collectAt(listedAt);
      expect(await readInstants()).toEqual([...before, listedAt]);
      // YouTube's lists have no counts: the item is requested too.
      const requests = fixture.fake.log().slice(served);
      const itemRequests = requests.filter(({ query }) => query.includes(item.id));
      expect(itemRequests.length).toBe(source === "youtube" ? 1 : 0);
      const { failures, dueAt } = await readTarget();
      expect(failures).toBe(0);
      expect(dueAt - listedAt).toBeLessThanOrEqual(
        1.1 * computeIntervalMs("counts", listedAt - item.publishedAt),
      );
    });
  });
});

describe("tweets that another source found", () => {
  test.each([
    ["of X, polled at Bluesky,", "x", "bluesky"],
    ["of Bluesky, polled at X,", "bluesky", "x"],
  ] as const)("%s are not gone, and due again within their interval", async (_, from, to) => {
    await withPlatform(from, SMALL_PLAN, async (fixture, database) => {
      await withPlatform(to, SMALL_PLAN, async (other) => {
        await watchOwners(database, fixture, fixture.owners);
        await startPollCycle(database, fixture).collect();
        const before = await readTargets(database, "microblog", "counts");
        expect(before.size).toBeGreaterThan(5);
        const cycle = startPollCycle(database, {
          collector: other.collector,
          clock: fixture.clock,
        });
        for (let hour = 1; hour <= 12; hour++) {
          await cycle.collectAt(fixture.clock.now + HOUR_MS);
        }
        const failed = [...(await readTargets(database, "microblog", "counts")).values()].filter(
          ({ failures }) => failures > 0,
        );
        expect(failed.length).toBeGreaterThan(0);
        for (const { failure, dueAt, publishedAt } of failed) {
          expect(failure).toMatch(/another source found it|identifiers there are numbers/);
          const everyMs = computeIntervalMs("counts", fixture.clock.now - publishedAt);
          expect(dueAt - fixture.clock.now).toBeLessThanOrEqual(1.1 * everyMs);
        }
        expect(cycle.eventKinds()).not.toContain("stopped");

        const back = startPollCycle(database, fixture);
        const longest = Math.max(...failed.map(({ dueAt }) => dueAt));
        await back.collectAt(longest);
        const after = await readTargets(database, "microblog", "counts");
        const still = failed.filter(({ id }) => (after.get(id)?.failures ?? 1) > 0);
        expect(still).toEqual([]);
      });
    });
  });
});

test("a username that only another source can have is polled soon after a switch to it", async () => {
  await withPlatform("bluesky", SMALL_PLAN, async (fixture, database) => {
    await withPlatform("x", SMALL_PLAN, async (other) => {
      const owners = other.owners;
      await watchOwners(database, fixture, owners);
      await startPollCycle(database, fixture).collect();
      expect(fixture.fake.served()).toBe(0);
      const cycle = startPollCycle(database, { collector: other.collector, clock: fixture.clock });
      await cycle.collectAt(fixture.clock.now + HOUR_MS / 6);
      const profiles = [...(await readTargets(database, "microblog", "profile")).values()];
      expect(profiles.map(({ failures }) => failures)).toEqual(owners.map(() => 0));
    });
  });
});
