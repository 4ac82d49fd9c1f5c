/** A clock of the service that was ahead and is set right. */
import { expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { platformOf, SOURCE_NAMES, type SourceName } from "../support/platforms/source-names.ts";
import type { Database } from "../../server/store/database/database.ts";
import { readAllPoints } from "../support/store/stored-history.ts";
import { respondWith, failWithStatus } from "../support/platforms/faults.ts";
import type { PlatformFixture } from "../support/platforms/platform-fixture.ts";
import { startPollCycle, readTargets, withPlatform } from "../support/platforms/poll-cycle.ts";
import { NOW } from "../support/platforms/world.ts";
import { windowSpent, createXError } from "../support/platforms/fake-x.ts";
import { QUOTA_EXCEEDED } from "../support/platforms/fake-youtube.ts";

const AHEAD_MS = 365 * DAY_MS;

type CycleStart = () => ReturnType<typeof startPollCycle>;

/** Opens a platform whose clock is right, with a clock of the service that a test can set. */
function withClock(
  source: SourceName,
  work: (
    fixture: PlatformFixture,
    start: CycleStart,
    clock: { now: number },
    database: Database,
  ) => Promise<void>,
): Promise<void> {
  const amounts = { channels: 3, creators: 3, shortsEach: 20, postsEach: 20 };
  return withPlatform(source, { ...amounts, beganAt: NOW - 5 * DAY_MS }, (fixture, database) => {
    const clock = { now: NOW };
    const start = () => startPollCycle(database, { ...fixture, clock });
    return work(fixture, start, clock, database);
  });
}

const kindsOf = (source: SourceName) =>
  platformOf(source) === "video" ? (["channel", "short"] as const) : (["user", "tweet"] as const);

test.each(
  SOURCE_NAMES.flatMap((source) =>
    [true, false].map((isRestarted) => [source, isRestarted] as const),
  ),
)(
  "the targets of %s, polled while the clock was a year ahead, are polled in time again (restart: %p)",
  async (source, isRestarted) => {
    await withClock(source, async (fixture, start, clock, database) => {
      const before = start();
      await before.collectAt(NOW + AHEAD_MS);
      await before.collectAt(NOW + AHEAD_MS + HOUR_MS);
      const after = isRestarted ? start() : before;
      for (let minute = 0; minute <= 150; minute += 10) {
        clock.now = NOW + minute * MINUTE_MS;
        fixture.clock.now = clock.now;
        await after.collect();
      }
      const [ownerKind, itemKind] = kindsOf(source);
      const isToday = ({ at }: { readonly at: number }) => at >= NOW && at < NOW + DAY_MS;
      const owners = (await readAllPoints(database, ownerKind)).filter(isToday);
      for (const { entity } of fixture.owners) {
        const times = owners.filter((point) => point.entity === entity).map(({ at }) => at);
        expect(times.length).toBeWithin(2, 5);
      }
      expect((await readAllPoints(database, itemKind)).filter(isToday)).not.toBeEmpty();
      for (const task of ["profile", "items", "counts"] as const) {
        const targets = await readTargets(database, fixture.collector.source.platform, task);
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
  ["was paused by its rate limit window", "x", windowSpent(NOW + AHEAD_MS + HOUR_MS)],
  [
    "was paused by Retry-After",
    "bluesky",
    { ...createXError(503, ""), headers: { "retry-after": "9" } },
  ],
] as const)(
  "a source that %s while the clock was a year ahead is polled again: %s",
  async (_, source, answer) => {
    await withClock(source, async (fixture, start, clock) => {
      fixture.fake.injectFault(respondWith(answer), { times: 1 });
      const cycle = start();
      await cycle.collectAt(NOW + AHEAD_MS);
      expect(cycle.eventKinds()).toHaveLength(1);
      const served = fixture.fake.served();
      clock.now = NOW;
      await cycle.collect();
      expect(fixture.fake.served()).toBeGreaterThan(served);
      expect((await cycle.status()).stopped).toBeUndefined();
    });
  },
);

test("a source that failed while the clock was a year ahead is polled again", async () => {
  await withClock("bluesky", async (fixture, start, clock) => {
    fixture.fake.injectFault(failWithStatus(500), { times: Infinity });
    const cycle = start();
    for (let minute = 0; minute < 9; minute++) {
      await cycle.collectAt(NOW + AHEAD_MS + minute * MINUTE_MS);
    }
    fixture.fake.clearFaults();
    const served = fixture.fake.served();
    clock.now = NOW;
    await cycle.collect();
    expect(fixture.fake.served()).toBeGreaterThan(served);
  });
});

test("clocks of two services that differ by minutes move no due time", async () => {
  await withClock("bluesky", async (fixture, start, clock, database) => {
    await start().collectAt(NOW + 5 * MINUTE_MS);
    const readProfiles = () => readTargets(database, fixture.collector.source.platform, "profile");
    const before = await readProfiles();
    clock.now = NOW;
    await start().collect();
    expect(before.size).toBe(3);
    expect(await readProfiles()).toEqual(before);
  });
});
