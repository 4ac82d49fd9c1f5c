import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";
import type { QuotaBucket, TaskName } from "../../server/collectors/collector.ts";
import { computeIntervalMs } from "../../server/collectors/poll-schedule.ts";
import { createQuotaBudget, findQuotaReset } from "../../server/collectors/quota-budget.ts";
import { DAY_MS, formatInstant } from "../../core/time.ts";

const PACIFIC = "America/Los_Angeles";
const HOUR_MS = 3_600_000;

/** The bucket of lists; profiles and counts share another one. */
const LISTS = "lists";
const BUCKET = "general";

/** Creates the budget of a source that polls one target with each unit. */
function createBudget({
  now = 0,
  unitsPerDay = 1000,
  zone = "UTC" as QuotaBucket["zone"],
  profiles = 0,
  ages = {} as Partial<Record<TaskName, readonly number[]>>,
}) {
  const days: string[] = [];
  const state = {
    reserveUnits: async ({ day }: { readonly day: string }) => days.push(day) > 0,
    readUsedUnits: async () => 0,
    countTargets: async (_platform: string, task: TaskName) =>
      task === "profile" ? profiles : (ages[task] ?? []).length,
    countByAge: async (
      _platform: string,
      task: TaskName,
      ranges: readonly Readonly<Record<"from" | "to", number>>[],
    ) =>
      ranges.map(
        ({ from, to }) => (ages[task] ?? []).filter((age) => age >= from && age < to).length,
      ),
  };
  const collector = createBlueskyCollector({ baseUrl: "http://127.0.0.1", credential: "" });
  const bucket = { unitsPerDay, zone };
  const { profile, items, counts } = collector.tasks;
  const single = {
    ...collector,
    buckets: { [LISTS]: bucket, [BUCKET]: bucket },
    tasks: {
      profile: { ...profile, batchSize: 1, bucket: BUCKET },
      items: { ...items, batchSize: 1, bucket: LISTS },
      counts: { ...counts, batchSize: 1, bucket: BUCKET },
    },
  };
  return { days, ...createQuotaBudget(state, single, () => now) };
}

/** Returns the quota day that a unit is counted for at an instant. */
async function reserveDay(now: number, zone: QuotaBucket["zone"]): Promise<string> {
  const { days, reserveUnit } = createBudget({ now, zone });
  await reserveUnit(BUCKET);
  return days.join();
}

describe("reserveUnit()", () => {
  test.each([
    ["the day that the Pacific still has", "2026-11-20T07:59:59.999Z", PACIFIC, "2026-11-19"],
    ["the day from midnight on", "2026-11-20T08:00:00.000Z", PACIFIC, "2026-11-20"],
    ["midnight an hour earlier in summer", "2026-07-01T07:00:00.000Z", PACIFIC, "2026-07-01"],
    ["the last moment of a summer's day", "2026-07-01T06:59:59.999Z", PACIFIC, "2026-06-30"],
    ["the day of UTC", "2026-11-20T00:00:00.000Z", "UTC", "2026-11-20"],
    ["the last moment of a year", "2026-12-31T23:59:59.999Z", "UTC", "2026-12-31"],
    ["a leap day", "2028-02-29T12:00:00.000Z", "UTC", "2028-02-29"],
    ["a year in four digits", "0987-01-02T12:00:00.000Z", "UTC", "0987-01-02"],
  ] as const)("counts a unit in %s", async (_what, at, zone, day) => {
    expect(await reserveDay(Date.parse(at), zone)).toBe(day);
  });
});

describe("readSlowdownFactors()", () => {
  /** The units of 1000 that are planned, and the polls of a new item a day. */
  const PLANNED = 855;
  const POLLS_OF_NEW = 48;

  test.each([
    ["a quota that suffices", { unitsPerDay: 1000, profiles: 5, items: 10 }, 1],
    ["a quota that does not", { unitsPerDay: 1000, profiles: 0, items: 100 }, 4800 / PLANNED],
    ["profiles that use a part", { unitsPerDay: 1000, profiles: 10, items: 100 }, 4800 / 615],
    ["nothing to do", { unitsPerDay: 1000, profiles: 0, items: 0 }, 1],
    ["no quota, and nothing to do", { unitsPerDay: 0, profiles: 0, items: 0 }, 1],
    ["profiles that use everything", { unitsPerDay: 1000, profiles: 999, items: 1 }, 1],
    [
      "profiles that use everything, and more",
      { unitsPerDay: 1000, profiles: 999, items: 10 },
      480 / 85.5,
    ],
  ])("returns the factor of %s", async (_, { unitsPerDay, profiles, items }, factor) => {
    const ages = { counts: Array.from({ length: items }, () => 0) };
    const { counts } = await createBudget({ unitsPerDay, profiles, ages }).readSlowdownFactors();
    expect(counts).toBeCloseTo(factor, 9);
  });

  test("makes the polls fit the quota", async () => {
    const numbers = fc.integer({ min: 0, max: 1000 });
    await fc.assert(
      fc.asyncProperty(numbers, numbers, numbers, async (quota, profiles, items) => {
        const unitsPerDay = 30 * quota + 100;
        fc.pre(24 * profiles < unitsPerDay * 0.7);
        const ages = { counts: Array.from({ length: items }, () => 0) };
        const { counts } = await createBudget({
          unitsPerDay,
          profiles,
          ages,
        }).readSlowdownFactors();
        expect(24 * profiles + (POLLS_OF_NEW * items) / counts).toBeLessThanOrEqual(
          unitsPerDay * 0.9,
        );
      }),
    );
  });

  test.each([
    ["items", "counts"],
    ["lists", "items"],
  ] as const)("counts the polls of %s of all ages, or up to a tenth more", async (_, task) => {
    const ages = fc.array(fc.integer({ min: 0, max: 400 * DAY_MS }), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(ages, async (all) => {
        const polls = all.reduce((sum, age) => sum + DAY_MS / computeIntervalMs(task, age), 0);
        const budget = createBudget({ unitsPerDay: 2, ages: { [task]: all } });
        const factor = (await budget.readSlowdownFactors())[task];
        expect(factor).toBeGreaterThanOrEqual(Math.max(1, polls / 0.95) - 1e-9);
        expect(factor).toBeLessThanOrEqual(Math.max(1, (polls * 1.1) / 0.95) + 1e-9);
      }),
    );
  });
});

describe("findQuotaReset()", () => {
  test.each([
    ["midnight of UTC", "2026-11-20T12:00:00.000Z", "UTC", "2026-11-21T00:00:00.000Z"],
    ["the day after, at midnight", "2026-11-20T00:00:00.000Z", "UTC", "2026-11-21T00:00:00.000Z"],
    ["midnight in winter", "2026-11-20T07:59:59.999Z", PACIFIC, "2026-11-20T08:00:00.000Z"],
    ["midnight in summer", "2026-07-01T12:00:00.000Z", PACIFIC, "2026-07-02T07:00:00.000Z"],
    [
      "the end of a day of 23 hours",
      "2026-03-08T08:00:00.000Z",
      PACIFIC,
      "2026-03-09T07:00:00.000Z",
    ],
    [
      "the end of a day of 25 hours",
      "2026-11-01T07:00:00.000Z",
      PACIFIC,
      "2026-11-02T08:00:00.000Z",
    ],
    [
      "it in the hour that comes twice",
      "2026-11-01T09:30:00.000Z",
      PACIFIC,
      "2026-11-02T08:00:00.000Z",
    ],
    [
      "a midnight that does not exist",
      "2026-09-05T12:00:00.000Z",
      "America/Santiago",
      "2026-09-06T04:00:00.000Z",
    ],
  ])("returns %s", (_what, at, zone, next) => {
    expect(formatInstant(findQuotaReset(Date.parse(at), zone))).toBe(next);
  });

  test("returns the first instant of another day, and no later one", async () => {
    const instants = fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2100-01-01") });
    await fc.assert(
      fc.asyncProperty(instants, fc.constantFrom(PACIFIC, "UTC"), async (at, zone) => {
        const next = findQuotaReset(at, zone);
        expect(next - at).toBeWithin(1, DAY_MS + HOUR_MS + 1);
        const day = await reserveDay(at, zone);
        expect(await reserveDay(next - 1, zone)).toBe(day);
        expect((await reserveDay(next, zone)) > day).toBe(true);
      }),
    );
  });
});
