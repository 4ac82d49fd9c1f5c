import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  AGE_SPANS,
  chanceOf,
  dueAfterFailure,
  itemEveryMs,
  itemGoneEveryMs,
  listEveryMs,
  nextDue,
  paceOf,
  stretchOf,
  timesPerDay,
  tokensAt,
} from "../../core/schedule.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("itemEveryMs()", () => {
  test.each([
    ["just published", 0, HOUR / 2],
    ["of half a day", DAY / 2, HOUR / 2],
    ["of a day", DAY, HOUR],
    ["of a week", 7 * DAY, 7 * HOUR],
    ["of 30 days", 30 * DAY, 30 * HOUR],
    ["of a year", 365 * DAY, 14 * DAY],
    ["of ten years", 3650 * DAY, 14 * DAY],
    ["from the future, by a wrong clock", -DAY, HOUR / 2],
  ])("an item %s", (_, ageMs, everyMs) => {
    expect(itemEveryMs(ageMs)).toBe(everyMs);
  });

  test("never grows shorter as an item grows older", () => {
    const age = fc.integer({ min: 0, max: 400 * DAY });
    fc.assert(
      fc.property(age, age, (a, b) => {
        expect(itemEveryMs(Math.max(a, b))).toBeGreaterThanOrEqual(itemEveryMs(Math.min(a, b)));
      }),
    );
  });
});

describe("listEveryMs()", () => {
  test.each([
    ["just now", 0, 6 * HOUR],
    ["six days ago", 6 * DAY, 6 * HOUR],
    ["a week ago", 7 * DAY, 7 * HOUR],
    ["a month ago", 30 * DAY, DAY],
    ["never", Infinity, DAY],
  ])("a list whose newest item was published %s", (_, ageMs, everyMs) => {
    expect(listEveryMs(ageMs)).toBe(everyMs);
  });
});

describe("timesPerDay()", () => {
  test.each([
    ["items", itemEveryMs],
    ["lists", listEveryMs],
  ])("is what %s of all ages call for, or up to a tenth more", (_, every) => {
    const ages = fc.array(fc.integer({ min: 0, max: 400 * DAY }), { maxLength: 50 });
    fc.assert(
      fc.property(ages, (all) => {
        const counts = AGE_SPANS.map(
          ({ from, to }) => all.filter((age) => age >= from && age < to).length,
        );
        const real = all.reduce((sum, age) => sum + DAY / every(age), 0);
        expect(timesPerDay(counts, every)).toBeGreaterThanOrEqual(real - 1e-9);
        expect(timesPerDay(counts, every)).toBeLessThanOrEqual(real * 1.1 + 1e-9);
      }),
    );
  });

  test("the spans cover every age once", () => {
    const bounds = AGE_SPANS.flatMap(({ from, to }) => [from, to]);
    expect(bounds.at(0)).toBe(0);
    expect(bounds.at(-1)).toBe(Infinity);
    for (let index = 1; index < AGE_SPANS.length; index++) {
      expect(AGE_SPANS[index]?.from).toBe(AGE_SPANS[index - 1]?.to ?? -1);
    }
  });
});

describe("stretchOf()", () => {
  test.each([
    ["a quota that reaches", { needed: 100, fixed: 10, available: 1000 }, 1],
    ["one that is just enough", { needed: 990, fixed: 10, available: 1000 }, 1],
    ["half of what is needed", { needed: 2000, fixed: 0, available: 1000 }, 2],
    ["nothing to do", { needed: 0, fixed: 0, available: 1000 }, 1],
    ["no quota, and nothing to do", { needed: 0, fixed: 0, available: 0 }, 1],
    ["what is fixed takes all", { needed: 100, fixed: 5000, available: 1000 }, 1],
    ["what is fixed takes all, much else", { needed: 1000, fixed: 5000, available: 1000 }, 10],
  ])("%s", (_, quota, stretch) => {
    expect(stretchOf(quota)).toBe(stretch);
  });

  test("with it, what is needed fits into what is left", () => {
    const units = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(units, units, units, (needed, fixed, available) => {
        fc.pre(fixed < available * 0.9);
        const stretch = stretchOf({ needed, fixed, available });
        expect(fixed + needed / stretch).toBeLessThanOrEqual(Math.max(available, 1) + 1e-6);
      }),
    );
  });
});

describe("nextDue()", () => {
  test("what was added together is spread over its whole interval", () => {
    const due = Array.from({ length: 1000 }, (_, index) =>
      nextDue({ now: 0, everyMs: HOUR, isFirst: true, chance: chanceOf(`channel ${index}`) }),
    );
    const perTenth = Map.groupBy(due, (at) => Math.floor((10 * at) / HOUR));
    expect(Math.min(...due)).toBeGreaterThanOrEqual(0.1 * HOUR);
    expect(Math.max(...due)).toBeLessThanOrEqual(HOUR);
    for (let tenth = 1; tenth < 10; tenth++) {
      expect(perTenth.get(tenth)?.length ?? 0).toBeGreaterThan(60);
      expect(perTenth.get(tenth)?.length ?? 0).toBeLessThan(170);
    }
  });

  test("later it stays within a tenth of its interval", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const due = nextDue({ now: 0, everyMs: HOUR, isFirst: false, chance: chanceOf(text) });
        expect(Math.abs(due - HOUR)).toBeLessThanOrEqual(HOUR / 10 + 1);
      }),
    );
  });
});

describe("dueAfterFailure()", () => {
  test("waits longer after each failure, and no longer than the interval", () => {
    const after = (failures: number) =>
      dueAfterFailure({ now: 0, everyMs: DAY, failures, chance: 0.5 });
    expect([1, 2, 3, 4].map(after)).toEqual([5, 10, 20, 40].map((minutes) => minutes * 60_000));
    expect(after(50)).toBe(DAY);
    expect(after(5000)).toBe(DAY);
  });
});

describe("itemGoneEveryMs()", () => {
  test("is a day, then twice as long each time, up to 30 days", () => {
    const days = [1, 2, 3, 4, 5, 6, 7, 50, 5000].map((times) => itemGoneEveryMs(times) / DAY);
    expect(days).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30]);
  });
});

describe("paceOf() and tokensAt()", () => {
  const day = 10_000;

  test("nine tenths of a day's quota come back in a day", () => {
    expect(paceOf(day).perMs * DAY).toBeCloseTo(9000);
  });

  test("after a stop of any length there is only so much at once", () => {
    const pace = paceOf(day);
    expect(tokensAt({ tokens: 0, at: 0 }, pace, 100 * DAY)).toBe(pace.burst);
    expect(pace.burst).toBeLessThan(day / 24 / 4);
  });

  test("so much at once is what ten minutes bring, and 20 at least", () => {
    const { perMs, burst } = paceOf(200_000);
    expect(burst).toBeCloseTo(600_000 * perMs);
    expect(paceOf(100).burst).toBe(20);
  });

  test("a clock that goes back brings nothing", () => {
    expect(tokensAt({ tokens: 3, at: DAY }, paceOf(day), 0)).toBe(3);
  });
});

describe("chanceOf()", () => {
  test("is from 0 to below 1, and the same for the same text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(chanceOf(text)).toBeGreaterThanOrEqual(0);
        expect(chanceOf(text)).toBeLessThan(1);
        expect(chanceOf(text)).toBe(chanceOf(text));
      }),
    );
  });
});
