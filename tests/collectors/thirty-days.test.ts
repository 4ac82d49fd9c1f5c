/**
 * Days of collecting, simulated. COLLECT_DAYS=30 is the long form: 500 channels, 20,000 shorts and
 * 2,000 creators; it prints its tables, and takes half an hour or more.
 */
import { describe, expect, test } from "bun:test";
import { AGE_CLASSES, itemEveryMs, QUOTA_RESERVE } from "../../core/schedule.ts";
import { formatTable } from "../../server/commands/table.ts";
import { withDatabase } from "../support/database.ts";
import {
  BEGIN,
  DAY_MS,
  gapsOf,
  MINUTE_MS,
  openSimulation,
  wholeDays,
  type GapTables,
  type Simulation,
} from "../support/simulation.ts";

const DAYS = Number(process.env["COLLECT_DAYS"] ?? 2);
const IS_LONG = DAYS > 2;
const HOUR_MS = 60 * MINUTE_MS;

/** Before and after so long a stop; the last day is for recovery. */
const OUTAGE_MS = 2 * DAY_MS;

const WORLD = IS_LONG
  ? { channels: 500, shortsEach: 40, creators: 2000, postsEach: 10 }
  : { channels: 20, shortsEach: 20, creators: 30, postsEach: 10 };

const SHORTS: GapTables = {
  items: "shorts",
  observations: "short_observations",
  owner: "short",
  published: "published_at",
};

const TWEETS: GapTables = {
  items: "tweets",
  observations: "tweet_observations",
  owner: "tweet",
  published: "created_at",
};

/** What was used of each quota day. */
function usesTable({ uses }: Simulation): string {
  const rows = uses.flatMap(({ source, bucket, perDay, limit }) =>
    [...perDay].map(([day, used]) => ({ source, bucket, day, used, limit })),
  );
  return formatTable(["source", "bucket", "day", "used", "limit"], rows);
}

describe("simulated days of collecting", () => {
  test(
    `${DAYS} days: never over a quota, every age observed in time, and no burst after two days away`,
    async () => {
      await withDatabase(async (database) => {
        const simulation = await openSimulation(database, {
          days: DAYS + 3,
          stepMs: (IS_LONG ? 5 : 10) * MINUTE_MS,
          daysBefore: 10,
          world: { ...WORLD, deletedShare: 0.02, longVideosEach: 2 },
        });
        try {
          await simulation.runUntil(BEGIN + DAYS * DAY_MS);
          const shorts = await gapsOf(database, SHORTS, AGE_CLASSES);
          const tweets = await gapsOf(database, TWEETS, AGE_CLASSES);
          const statuses = await simulation.status();
          for (const { source, bucket, perDay, limit } of simulation.uses) {
            for (const [, used] of perDay) {
              expect(used).toBeLessThanOrEqual(limit * (1 - QUOTA_RESERVE));
            }
            // What was counted is never less than what was served.
            const counted = statuses.find((status) => status.source === source);
            const days = wholeDays(BEGIN, simulation.clock.now + DAY_MS);
            const served = perDay.get(days.at(-1) ?? "") ?? 0;
            const used = counted?.buckets.find((of) => of.bucket === bucket)?.used ?? -1;
            expect(used).toBeGreaterThanOrEqual(served);
          }
          for (const { name, observations, longestHours, medianHours } of [...shorts, ...tweets]) {
            if (observations === 0) continue;
            const { to = 0 } = AGE_CLASSES.find((of) => of.name === name) ?? {};
            const longest = Math.min(to, 400 * DAY_MS);
            // A tenth more by chance, a turn of the loop, and what a full batch waits for.
            expect(longestHours).toBeLessThan((1.1 * itemEveryMs(longest)) / HOUR_MS + 1);
            expect(medianHours).toBeLessThanOrEqual((1.1 * itemEveryMs(longest)) / HOUR_MS + 0.2);
          }

          const steady = simulation.uses.map(({ perHour }) => Math.max(...perHour.slice(-24)));
          simulation.sleepFor(OUTAGE_MS);
          const back = simulation.clock.now;
          await simulation.runUntil(back + DAY_MS);
          const hour = Math.floor((back - BEGIN) / HOUR_MS);
          for (const [index, { limit, perHour }] of simulation.uses.entries()) {
            const after = perHour.slice(hour);
            const pace = ((1 - QUOTA_RESERVE) * limit) / 24;
            const allowed = Math.max(1.3 * pace, 40, steady[index] ?? 0);
            expect(Math.max(...after)).toBeLessThanOrEqual(allowed);
          }
          const due = await simulation.state.due("video", "counts", back + DAY_MS, 1000);
          const late = due.filter(({ dueAt }) => dueAt < back + DAY_MS - 6 * HOUR_MS);
          expect(late).toEqual([]);

          if (IS_LONG) {
            console.log(usesTable(simulation));
            console.log(
              formatTable(
                ["name", "items", "observations", "medianHours", "longestHours"],
                [...shorts, ...tweets],
              ),
            );
          }
        } finally {
          await simulation.close();
        }
      });
    },
    IS_LONG ? 7_200_000 : 120_000,
  );
});
