/**
 * Simulated days of collecting. COLLECT_DAYS=30 is the long form: 500 channels, 20,000 shorts and
 * 2,000 creators. It prints tables, and takes an hour or more.
 */
import { describe, expect, test } from "bun:test";
import { computeIntervalMs, QUOTA_RESERVE_RATIO } from "../../server/collectors/poll-schedule.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { formatTable } from "../../server/commands/terminal/output.ts";
import { withDatabase } from "../support/store/database.ts";
import {
  AGE_CLASSES,
  SIMULATION_START,
  measureDiscoveryDelaysMs,
  measureGaps,
  openSimulation,
  listWholeQuotaDays,
  type AgeClassGaps,
  type DatedItems,
  type Simulation,
} from "../support/simulation.ts";

const DAYS = Number(process.env["COLLECT_DAYS"] ?? 2);
const IS_LONG = DAYS > 2;

/** After this time, every target was polled once at the pace of the quotas. */
const WARM_UP_MS = 6 * HOUR_MS;

/** How long the service does not run. A day follows for recovery. */
const OUTAGE_MS = 2 * DAY_MS;

const WORLD = IS_LONG
  ? { channels: 500, shortsEach: 40, creators: 2000, postsEach: 10 }
  : { channels: 60, shortsEach: 10, creators: 60, postsEach: 10 };

/** The quotas of the short form are small, so that a wrong pace exceeds them. */
const UNITS = IS_LONG ? {} : { youtube: 1000, bluesky: 1000 };

const SHORTS: DatedItems = { kind: "short", published: "published_at" };
const TWEETS: DatedItems = { kind: "tweet", published: "created_at" };

/** Formats the used units of each quota day. */
function formatUses({ uses }: Simulation): string {
  const rows = uses.flatMap(({ source, bucket, perDay, limit }) =>
    [...perDay].map(([day, used]) => ({ source, bucket, day, used, limit })),
  );
  return formatTable(["source", "bucket", "day", "used", "limit"], rows);
}

type PerKind<Value> = Readonly<Record<"shorts" | "tweets", Value[]>>;

/** Formats the time between two observations of an item, by age. */
function formatGaps(gaps: PerKind<AgeClassGaps>): string {
  const rows = Object.entries(gaps).flatMap(([kind, classes]) =>
    classes.map((aged) => Object.assign({ kind }, aged)),
  );
  return formatTable(
    ["kind", "class", "items", "observations", "medianHours", "longestHours"],
    rows,
  );
}

/** Formats the time until a new item was found. */
function formatDelays(found: PerKind<number>): string {
  const rows = Object.entries(found).map(([kind, items]) => {
    const hours = items.map((afterMs) => afterMs / HOUR_MS).toSorted((a, b) => a - b);
    const [median, longest] = [hours[Math.floor(hours.length / 2)], hours.at(-1)];
    return {
      kind,
      found: items.length,
      medianHours: formatHours(median),
      longestHours: formatHours(longest),
    };
  });
  return formatTable(["kind", "found", "medianHours", "longestHours"], rows);
}

const formatHours = (hours = Number.NaN) => hours.toFixed(2);

describe("simulated days of collecting", () => {
  test(
    `${DAYS} days: never over a quota, every age observed in time, and no burst after two days away`,
    async () => {
      await withDatabase(async (database) => {
        const plan = {
          days: DAYS + 3,
          stepMs: (IS_LONG ? 5 : 10) * MINUTE_MS,
          daysBefore: 10,
          world: { ...WORLD, deletedShare: 0.02, longVideosEach: 2 },
          unitsPerDay: UNITS,
        };
        const simulation = await openSimulation(database, plan);
        try {
          await simulation.runUntil(SIMULATION_START + DAYS * DAY_MS);
          const gaps = {
            shorts: await measureGaps(database, SHORTS),
            tweets: await measureGaps(database, TWEETS),
          };
          const found = {
            shorts: await measureDiscoveryDelaysMs(database, SHORTS, SIMULATION_START + WARM_UP_MS),
            tweets: await measureDiscoveryDelaysMs(database, TWEETS, SIMULATION_START + WARM_UP_MS),
          };
          if (IS_LONG) {
            const tables = [formatUses(simulation), formatGaps(gaps), formatDelays(found)];
            console.log(tables.join("\n"));
          }
          const statuses = await simulation.status();
          for (const { source, bucket, perDay, limit } of simulation.uses) {
            for (const [, used] of perDay) {
              expect(used).toBeLessThanOrEqual(limit * (1 - QUOTA_RESERVE_RATIO));
            }
            // The database counts at least the requests that were served.
            const counted = statuses.find((status) => status.source === source);
            const days = listWholeQuotaDays(SIMULATION_START, simulation.clock.now + DAY_MS);
            const served = perDay.get(days.at(-1) ?? "") ?? 0;
            const used = counted?.buckets.find((status) => status.bucket === bucket)?.used ?? -1;
            expect(used).toBeGreaterThanOrEqual(served);
          }
          for (const aged of [...gaps.shorts, ...gaps.tweets]) {
            const { to } = AGE_CLASSES.find(({ name }) => name === aged.class) ?? {};
            // A tenth more by jitter, a cycle, and the wait for a full batch.
            const every = (1.1 * computeIntervalMs("counts", to ?? 0)) / HOUR_MS;
            if (Number.isNaN(aged.longestHours)) continue;
            expect(aged.longestHours).toBeLessThan(every + 1);
            expect(aged.medianHours).toBeLessThanOrEqual(every + 0.2);
          }
          // The next profile shows that there is a new item.
          for (const afterMs of [...found.shorts, ...found.tweets]) {
            expect(afterMs).toBeLessThan(1.1 * computeIntervalMs("profile", 0) + 3 * plan.stepMs);
          }
          expect(found.tweets.length).toBeGreaterThan(0);
          expect(found.shorts.length).toBeGreaterThan(0);

          simulation.sleepFor(OUTAGE_MS);
          const back = simulation.clock.now;
          await simulation.runUntil(back + DAY_MS);
          for (const { limit, perHour } of simulation.uses) {
            const paced = (limit * (1 - QUOTA_RESERVE_RATIO)) / 24;
            // A list that has begun is read to its end, and delays what follows.
            const allowed = Math.max(20, paced / 6) + paced + 5;
            expect(Math.max(...perHour.filter(Number.isFinite))).toBeLessThanOrEqual(allowed);
          }
          const due = await simulation.state.listDue("video", "counts", back + DAY_MS, 1000);
          const late = due.filter(({ dueAt }) => dueAt < back + DAY_MS - 6 * HOUR_MS);
          expect(late).toEqual([]);
          if (IS_LONG) console.log(formatUses(simulation));
        } finally {
          await simulation.close();
        }
      });
    },
    IS_LONG ? 7_200_000 : 120_000,
  );
});
