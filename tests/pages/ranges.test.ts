/** The ranges of charts, and where a chart has a gap. */
import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import {
  createTimeAxis,
  getRangeLabel,
  parseRange,
  planHistory,
} from "../../server/pages/ranges.ts";
import { NOW } from "../support/service.ts";

test("parseRange() takes no range that does not exist", () => {
  expect([parseRange("1y"), parseRange("2y"), parseRange(null, "all")]).toEqual([
    "1y",
    "30d",
    "all",
  ]);
});

test("parseRange() takes days that exist, in their order", () => {
  const days = "2026-10-01..2026-10-15";
  const wrong = [
    "2026-10-15..2026-10-01",
    "2026-02-30..2026-03-01",
    "2026-10-01",
    "..",
    `${days}..`,
    // Its end cannot be written.
    "2026-01-01..9999-12-31",
  ];
  expect([days, "2026-10-01..2026-10-01", ...wrong].map((text) => parseRange(text))).toEqual([
    days,
    "2026-10-01..2026-10-01",
    ...wrong.map(() => "30d" as const),
  ]);
  expect(getRangeLabel(parseRange(days))).toBe("1 Oct 2026 – 15 Oct 2026");
});

describe("planHistory()", () => {
  test("asks for the same during a day", () => {
    const plan = planHistory("7d", NOW);
    const query = { from: "2026-11-13", interval: "hour" as const };
    expect(plan).toEqual({ query, interval: "hour", stepMs: HOUR_MS });
    expect(planHistory("7d", NOW + 11 * HOUR_MS)).toEqual(plan);
  });

  test("begins the history of a short on the day of its publication, hour by hour", () => {
    expect(planHistory("all", NOW, NOW - 30 * HOUR_MS)).toMatchObject({
      query: { from: "2026-11-19", interval: "hour" },
    });
  });

  test("never asks for more buckets than a page of a history has", () => {
    for (const days of [1, 39, 41, 42, 900, 999, 1001, 6000]) {
      const { query, stepMs } = planHistory("all", NOW, NOW - days * DAY_MS);
      expect((NOW - Date.parse(query.from)) / stepMs).toBeLessThanOrEqual(1000);
    }
  });

  test("asks for the chosen days with the last one, in hours if they are a week", () => {
    expect(planHistory("2026-10-01..2026-10-07", NOW)).toEqual({
      query: { from: "2026-10-01", to: "2026-10-08", interval: "hour" },
      interval: "hour",
      stepMs: HOUR_MS,
    });
    const intervals = [
      "2026-10-01..2026-10-08",
      "2024-01-01..2026-09-26",
      "2024-01-01..2026-09-27",
    ];
    expect(intervals.map((range) => planHistory(parseRange(range), NOW).interval)).toEqual([
      "day",
      "day",
      "week",
    ]);
  });

  test("asks for chosen days before the publication of a short, too", () => {
    const { query } = planHistory("2026-10-01..2026-10-02", NOW, NOW);
    expect(query).toEqual({ from: "2026-10-01", to: "2026-10-03", interval: "hour" });
  });
});

/** The time axis of a history with these instants. */
function createAxis(instants: readonly number[], stepMs: number, since?: number, readAt = NOW) {
  const rows = instants.map((at) => ({ timestamp: new Date(at).toISOString() }));
  const interval = stepMs === HOUR_MS ? "hour" : "day";
  return createTimeAxis({ interval, stepMs }, rows, readAt, since);
}

describe("createTimeAxis()", () => {
  const hourly = Array.from({ length: 9 }, (_, hour) => NOW + hour * HOUR_MS);

  test("finds the newest bucket until its end", () => {
    const hour = Date.parse("2026-11-20T08:00:00Z");
    const instants = [hour - HOUR_MS, hour];
    const findAfter = (ms: number) =>
      createAxis(instants, HOUR_MS, undefined, hour + ms).unfinishedFrom;
    expect([0, HOUR_MS - 1, HOUR_MS].map(findAfter)).toEqual([hour, hour, Infinity]);
    expect(createAxis([], DAY_MS, undefined, hour).unfinishedFrom).toBe(Infinity);
  });

  test("takes two missing buckets as a gap, but not the usual distance", () => {
    const isGap = (hours: number) => hours * HOUR_MS > createAxis(hourly, HOUR_MS).getGapMs(NOW);
    expect([1, 3, 4].map(isGap)).toEqual([false, false, true]);
    const daily = hourly.map((_, day) => NOW + day * DAY_MS);
    expect(createAxis(daily, HOUR_MS).getGapMs(NOW)).toBe(3 * DAY_MS);
  });

  test("expects a short to be observed less often the older it is", () => {
    const { getGapMs } = createAxis(hourly, HOUR_MS, NOW - DAY_MS);
    expect(getGapMs(NOW)).toBe(4 * HOUR_MS);
    expect(getGapMs(NOW + 59 * DAY_MS)).toBe(10 * DAY_MS);
  });

  test("has no gap in an empty list or before a single instant", () => {
    expect(createAxis([], HOUR_MS).getGapMs(NOW)).toBe(1.5 * HOUR_MS);
  });
});
