import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import {
  AGE_RANGES,
  computeIntervalMs,
  firstDueAt,
  reschedule,
} from "../../server/collectors/poll-schedule.ts";
import type { TaskName } from "../../server/collectors/collector.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("computeIntervalMs() of counts", () => {
  test.each([
    ["just published", 0, HOUR_MS / 2],
    ["of half a day", DAY_MS / 2, HOUR_MS / 2],
    ["of a day", DAY_MS, HOUR_MS],
    ["of a week", 7 * DAY_MS, 7 * HOUR_MS],
    ["of 30 days", 30 * DAY_MS, 30 * HOUR_MS],
    ["of a year", 365 * DAY_MS, 14 * DAY_MS],
    ["of ten years", 3650 * DAY_MS, 14 * DAY_MS],
    ["from the future, by a wrong clock", -DAY_MS, HOUR_MS / 2],
  ])("an item %s", (_, ageMs, everyMs) => {
    expect(computeIntervalMs("counts", ageMs)).toBe(everyMs);
  });

  test("never grows shorter as an item grows older", () => {
    const age = fc.integer({ min: 0, max: 400 * DAY_MS });
    fc.assert(
      fc.property(age, age, (a, b) => {
        expect(computeIntervalMs("counts", Math.max(a, b))).toBeGreaterThanOrEqual(
          computeIntervalMs("counts", Math.min(a, b)),
        );
      }),
    );
  });
});

describe("computeIntervalMs() of items", () => {
  test.each([
    ["just now", 0, 6 * HOUR_MS],
    ["six days ago", 6 * DAY_MS, 6 * HOUR_MS],
    ["a week ago", 7 * DAY_MS, 7 * HOUR_MS],
    ["a month ago", 30 * DAY_MS, DAY_MS],
    ["never", Infinity, DAY_MS],
  ])("a list whose newest item was published %s", (_, ageMs, everyMs) => {
    expect(computeIntervalMs("items", ageMs)).toBe(everyMs);
  });
});

test("AGE_RANGES cover every age once", () => {
  const bounds = AGE_RANGES.flatMap(({ from, to }) => [from, to]);
  expect(bounds.at(0)).toBe(0);
  expect(bounds.at(-1)).toBe(Infinity);
  for (let index = 1; index < AGE_RANGES.length; index++) {
    expect(AGE_RANGES[index]?.from).toBe(AGE_RANGES[index - 1]?.to ?? -1);
  }
});

const slowdownFactors = { profile: 1, items: 1, counts: 1 };

/** Reschedules a target that is polled every hour, or an item of a day. @returns Milliseconds. */
function delayAfter(
  task: TaskName,
  result: Parameters<typeof reschedule>[3],
  { id = "a", now = DAY_MS, failures = 0, isFirst = false } = {},
) {
  const schedule = {
    collector: createYoutubeCollector({ baseUrl: "http://127.0.0.1", credential: "simulated" }),
    slowdownFactors,
    now,
  };
  const succeededAt = isFirst ? null : 0;
  const target = { id, sourceState: {}, owner: null, dueAt: now, publishedAt: now - DAY_MS };
  const update = reschedule(schedule, task, { ...target, succeededAt, failures }, result);
  return (update?.dueAt ?? Number.NaN) - now;
}

describe.each([
  [
    "firstDueAt()",
    (id: string) => firstDueAt({ id, publishedAt: -DAY_MS }, { now: 0, slowdownFactors }),
  ],
  ["reschedule()", (id: string) => delayAfter("counts", { isGone: false }, { id, isFirst: true })],
])("%s", (_, delayOf) => {
  test("spreads targets that were added together over their interval", () => {
    const due = Array.from({ length: 1000 }, (_item, index) => delayOf(`channel ${index}`));
    const perTenth = Map.groupBy(due, (at) => Math.floor((10 * at) / HOUR_MS));
    expect(Math.min(...due)).toBeGreaterThanOrEqual(0.1 * HOUR_MS);
    expect(Math.max(...due)).toBeLessThanOrEqual(HOUR_MS);
    for (let tenth = 1; tenth < 10; tenth++) {
      expect(perTenth.get(tenth)?.length ?? 0).toBeGreaterThan(60);
      expect(perTenth.get(tenth)?.length ?? 0).toBeLessThan(170);
    }
  });

  test("is the same for the same target", () => {
    fc.assert(fc.property(fc.string(), (id) => expect(delayOf(id)).toBe(delayOf(id))));
  });
});

describe("reschedule()", () => {
  test("stays within a tenth of the interval after the first time", () => {
    fc.assert(
      fc.property(fc.string(), (id) => {
        const delay = delayAfter("profile", { isGone: false }, { id });
        expect(Math.abs(delay - HOUR_MS)).toBeLessThanOrEqual(HOUR_MS / 10 + 1);
      }),
    );
  });

  /** The intervals of a target after failures in a row, which move by up to a tenth. */
  test.each([
    ["profile that fails", "profile", false, 60_000, [5, 10, 20, 40, 60, 60]],
    [
      "list that fails",
      "items",
      false,
      HOUR_MS,
      [1 / 12, 1 / 6, 1 / 3, 2 / 3, 4 / 3, 8 / 3, 16 / 3, 6],
    ],
    ["channel that is gone", "profile", true, DAY_MS, [1, 1, 1]],
    ["item that is gone", "counts", true, DAY_MS, [1, 2, 4, 8, 16, 30, 30]],
  ] as const)("polls a %s after longer and longer intervals", (_, task, isGone, unitMs, units) => {
    const last = units.at(-1) ?? 0;
    const expected = [...units, last, last];
    const failures = [...units.keys(), 50, 5000];
    const delays = failures.map((count) =>
      delayAfter(task, { failure: "No", isGone }, { failures: count }),
    );
    for (const [index, interval] of expected.entries()) {
      expect(Math.abs((delays[index] ?? 0) / unitMs - interval)).toBeLessThan(0.1001 * interval);
    }
  });
});
