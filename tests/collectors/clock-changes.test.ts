/** A clock of the service that was wrong for a while, and is set right. */
import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { SOURCES, type Source } from "../../server/collectors/collector.ts";
import type { Database } from "../../server/store/database/database.ts";
import { withDatabase } from "../support/store/database.ts";
import { readAllPoints } from "../support/store/stored-history.ts";
import { respondWith, failWithStatus } from "../support/platforms/faults.ts";
import { openFixture, type PlatformFixture } from "../support/platforms/platform-fixture.ts";
import { startPollCycle, readTargets, watchOwners } from "../support/platforms/poll-cycle.ts";
import { NOW } from "../support/platforms/world.ts";
import { windowSpent, xError } from "../support/platforms/fake-x.ts";
import { QUOTA_EXCEEDED } from "../support/platforms/fake-youtube.ts";

const AHEAD_MS = 365 * DAY_MS;

/** A clock of the service beside the platform's, which is right; everybody is watched. */
async function withClock(
  source: Source,
  work: (
    fixture: PlatformFixture,
    start: () => ReturnType<typeof startPollCycle>,
    clock: { now: number },
    database: Database,
  ) => Promise<void>,
): Promise<void> {
  const stage = await openFixture(source, {
    channels: 3,
    creators: 3,
    shortsEach: 20,
    postsEach: 20,
    beganAt: NOW - 5 * DAY_MS,
  });
  const clock = { now: NOW };
  try {
    await withDatabase(async (database) => {
      await watchOwners(database, stage, stage.owners);
      await work(stage, () => startPollCycle(database, { ...stage, clock }), clock, database);
    });
  } finally {
    await stage.close();
  }
}

const kindsOf = (source: Source) =>
  source === "youtube" ? (["channel", "short"] as const) : (["user", "tweet"] as const);

test.each(SOURCES.flatMap((source) => [true, false].map((isAnew) => [source, isAnew] as const)))(
  "what %s was asked while the clock was a year ahead is asked in time again (a new start: %p)",
  async (source, isAnew) => {
    await withClock(source, async (stage, start, clock, database) => {
      const before = start();
      await before.collectAt(NOW + AHEAD_MS);
      await before.collectAt(NOW + AHEAD_MS + HOUR_MS);
      const after = isAnew ? start() : before;
      for (let minute = 0; minute <= 150; minute += 10) {
        clock.now = NOW + minute * MINUTE_MS;
        stage.clock.now = clock.now;
        await after.collect();
      }
      const [ofOwners, ofItems] = kindsOf(source);
      const now = ({ at }: { readonly at: number }) => at >= NOW && at < NOW + DAY_MS;
      const owners = (await readAllPoints(database, ofOwners)).filter(now);
      for (const { entity } of stage.owners) {
        const times = owners.filter((point) => point.entity === entity).map(({ at }) => at);
        expect(times.length).toBeWithin(2, 5);
      }
      expect((await readAllPoints(database, ofItems)).filter(now)).not.toBeEmpty();
      for (const errand of ["profile", "items", "counts"] as const) {
        const targets = await readTargets(database, stage.collector.platform, errand);
        for (const { dueAt, succeededAt } of targets.values()) {
          expect(dueAt).toBeLessThan(clock.now + 15 * DAY_MS);
          expect(succeededAt ?? 0).toBeLessThanOrEqual(clock.now);
        }
      }
    });
  },
);

test.each([
  ["was stopped by its quota", "youtube", QUOTA_EXCEEDED],
  ["was left alone by its window", "x", windowSpent(NOW + AHEAD_MS + HOUR_MS)],
  [
    "said when to be asked again",
    "bluesky",
    { ...xError(503, ""), headers: { "retry-after": "9" } },
  ],
] as const)(
  "a source that %s while the clock was a year ahead is asked again: %s",
  async (_, source, answer) => {
    await withClock(source, async (stage, start, clock) => {
      stage.fake.injectFault(respondWith(answer), { times: 1 });
      const turns = start();
      await turns.collectAt(NOW + AHEAD_MS);
      expect(turns.eventKinds()).toHaveLength(1);
      const served = stage.fake.served();
      clock.now = NOW;
      await turns.collect();
      expect(stage.fake.served()).toBeGreaterThan(served);
      expect((await turns.status()).stopped).toBeUndefined();
    });
  },
);

test("a source that failed while the clock was a year ahead is asked again", async () => {
  await withClock("bluesky", async (stage, start, clock) => {
    stage.fake.injectFault(failWithStatus(500), { times: Infinity });
    const turns = start();
    for (let minute = 0; minute < 9; minute++) {
      await turns.collectAt(NOW + AHEAD_MS + minute * MINUTE_MS);
    }
    stage.fake.clearFaults();
    const served = stage.fake.served();
    clock.now = NOW;
    await turns.collect();
    expect(stage.fake.served()).toBeGreaterThan(served);
  });
});

test("clocks of two services that differ by minutes move nothing", async () => {
  await withClock("bluesky", async (stage, start, clock, database) => {
    await start().collectAt(NOW + 5 * MINUTE_MS);
    const dues = () => readTargets(database, stage.collector.platform, "profile");
    const before = await dues();
    clock.now = NOW;
    await start().collect();
    expect(before.size).toBe(3);
    expect(await dues()).toEqual(before);
  });
});
