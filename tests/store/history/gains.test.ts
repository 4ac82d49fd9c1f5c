/** Holds the gains of channels, stored and read, to those that core computes from all points. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { GAIN_DEFINITIONS } from "../../../core/growth.ts";
import { parseObservation } from "../../../core/observations.ts";
import { applyRetentionRule } from "../../model/retention.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { readGains } from "../../../server/store/history/gains.ts";
import { applyRetention } from "../../../server/store/history/retention.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { modelGains } from "../../model/gains.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";

interface Point {
  readonly at: number;
  readonly subscribers: number | null;
  readonly viewCount: number | null;
  readonly videoCount?: number | null;
}

const countOrNull = fc.option(fc.nat(1000), { freq: 4 });

/** Points of 70 days, in any order. */
const histories = fc.uniqueArray(
  fc.record({
    at: fc.integer({ min: 0, max: 140 }).map((halfDays) => NOW - (halfDays * DAY_MS) / 2),
    subscribers: countOrNull,
    viewCount: countOrNull,
    videoCount: countOrNull,
  }),
  { selector: ({ at }) => at, minLength: 1, maxLength: 60 },
);

async function observe(database: Database, points: readonly Point[]): Promise<void> {
  const lines = points.map(({ at, ...counts }) => ({
    kind: "channel",
    id: "c",
    observedAt: formatInstant(at),
    ...counts,
  }));
  await writeObservations(
    database,
    lines.map((line) => parseObservation(line, NOW)),
  );
}

/** The gains of all points, by name. */
function computeAllGains(points: readonly Point[]) {
  return Object.entries(GAIN_DEFINITIONS.channel).map(([name, { count, period }]) => {
    const counts = points.map((point) => ({
      at: point.at,
      count: point[count as "subscribers" | "viewCount" | "videoCount"] ?? null,
    }));
    return [name, modelGains(counts)[period]];
  });
}

/** The stored gains, and those that are read when a list shows them, by name. */
async function readAllGains(database: Database) {
  const { gains, otherGains } = KIND_TABLES.channel;
  const [row] = await database.queryRows("SELECT * FROM channels WHERE id = 'c'");
  const stored = gains.map(({ name }) => [name, row?.[toColumnName(name)] ?? null]);
  const key = Number(row?.["key"]);
  const counts = KIND_TABLES.channel.counts.map(
    (name) => row?.[toColumnName(name)] as number | null,
  );
  const others = await readGains(database, { ...KIND_TABLES.channel, gains: otherGains }, [
    { key, at: Number(row?.["observed_at"]), counts },
  ]);
  return [...stored, ...Object.entries(others.get(key) ?? {})];
}

describe("computeGainsAfterWrite()", () => {
  test("equals core after each write, in whatever order observations come", async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 20 }), async (points, size) => {
        await withDatabase(async (database) => {
          for (let from = 0; from < points.length; from += size) {
            await observe(database, points.slice(from, from + size));
            expect(await readAllGains(database)).toEqual(
              computeAllGains(points.slice(0, from + size)),
            );
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  test("finds baselines before many chunks without a known count", async () => {
    const points = Array.from({ length: 70 * 24 }, (_, hour) => ({
      at: NOW - hour * HOUR_MS,
      // Unknown for the 20 days before the ends of the weekly and the monthly range.
      subscribers: hour > 0 && hour < 50 * 24 && hour % 337 !== 0 ? null : 10_000 - hour,
      viewCount: hour % 2 === 0 ? 1_000_000 - hour : null,
    })).toReversed();
    await withDatabase(async (database) => {
      await observe(database, points.slice(0, -1));
      await observe(database, points.slice(-1));
      expect(await readAllGains(database)).toEqual(computeAllGains(points));
    });
  });

  test("equals core after a correction of a baseline and of the newest observation", async () => {
    const point = (days: number, subscribers: number) => {
      return { at: NOW - days * DAY_MS, subscribers, viewCount: null };
    };
    const written: Point[] = [];
    await withDatabase(async (database) => {
      for (const next of [point(0, 50), point(1, 20), point(1, 30), point(0, 60), point(8, 5)]) {
        written.splice(0, written.length, ...written.filter(({ at }) => at !== next.at), next);
        await observe(database, [next]);
        expect(await readAllGains(database)).toEqual(computeAllGains(written));
      }
    });
  });
});

describe("computeGainsAfterWrite() with a history of many chunks", () => {
  test("equals core after a late observation, where counts were unknown for days", async () => {
    const hourly = Array.from({ length: 40 * 24 }, (_, hour): Point => {
      const isHidden = hour <= 9 * 24 && hour > 6 * 24;
      const at = NOW - hour * 3_600_000;
      return { at, subscribers: isHidden ? null : 100_000 - hour, viewCount: 7 * hour };
    });
    await withDatabase(async (database) => {
      const written = hourly.toReversed();
      await observe(database, written);
      expect(await readAllGains(database)).toEqual(computeAllGains(written));
      for (const daysAgo of [13.5, 35, 7.01, 1.5, 29.9]) {
        const late = { at: NOW - daysAgo * DAY_MS + 60_000, subscribers: 5, viewCount: null };
        written.push(late);
        await observe(database, [late]);
        expect(await readAllGains(database)).toEqual(
          computeAllGains(written.toSorted((a, b) => a.at - b.at)),
        );
      }
    });
  });

  test("reads the histories of many entities in steps, and each is right", async () => {
    await withDatabase(async (database) => {
      const days = [40, 31, 30, 14, 8, 7, 2, 1];
      const lines = Array.from({ length: 450 }, (_, index) =>
        days.map((day) => ({
          kind: "channel",
          id: `c${index}`,
          observedAt: formatInstant(NOW - day * DAY_MS),
          viewCount: 1000 * (index + 1) - day,
        })),
      ).flat();
      const newest = Array.from({ length: 450 }, (_, index) => ({
        kind: "channel",
        id: `c${index}`,
        observedAt: formatInstant(NOW),
        subscribers: index,
        viewCount: 1000 * (index + 1),
      }));
      for (const part of [lines, newest]) {
        await writeObservations(
          database,
          part.map((line) => parseObservation(line, NOW)),
        );
      }
      const wrong = await queryRows(
        database,
        `SELECT id
        FROM channels
        WHERE (daily_view_gain, weekly_view_gain, monthly_view_gain, daily_subscriber_gain) IS NOT (1, 7, 30, NULL)`,
      );
      expect(wrong).toEqual([]);
    });
  });
});

describe("updateGainsAfterPruning()", () => {
  test("equals core for what retention leaves of a channel that was last observed long ago", async () => {
    const rule = { rawDays: 40, dailyDays: 80 };
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 0, max: 60 }), async (points, ageDays) => {
        const sorted = points.toSorted((a, b) => a.at - b.at);
        const now = NOW + ageDays * DAY_MS;
        const options = { policy: { channel: rule }, now, isDryRun: false, pauseRatio: 0 };
        await withDatabase(async (database) => {
          await observe(database, points);
          for await (const _ of applyRetention(database, options)) continue;
          expect(await readAllGains(database)).toEqual(
            computeAllGains(applyRetentionRule(sorted, rule, now)),
          );
        });
      }),
      { numRuns: 60 },
    );
  });
});
