/** What charts are made of: labels that do not overlap, views, rows with gaps, ages. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { spreadLabels } from "../../server/pages/charts/label-positions.ts";
import {
  arrangeRows,
  describeScale,
  findKnownRow,
  type PlotData,
} from "../../server/pages/charts/plot-data.ts";
import { changeView, formatView, parseView } from "../../server/pages/charts/view.ts";
import { createFileName, formatAge } from "../../server/pages/format.ts";
import { findCommonAge } from "../../server/pages/items/common-age.ts";
import { createAgeAxis } from "../../server/pages/ranges.ts";

describe("spreadLabels()", () => {
  test("leaves labels that do not overlap, and moves the others as little as they need", () => {
    expect(spreadLabels([50, 10, 90], 15, 0, 100)).toEqual([50, 10, 90]);
    expect(spreadLabels([52, 50, 51], 15, 0, 100)).toEqual([66, 36, 51]);
    expect(spreadLabels([99, 100], 15, 0, 100)).toEqual([85, 100]);
  });

  test("keeps the order, the distance and the bounds of any labels that have room", () => {
    const positions = fc.array(fc.double({ min: -50, max: 400, noNaN: true }), { maxLength: 10 });
    fc.assert(
      fc.property(positions, (all) => {
        const spread = spreadLabels(all, 15, 10, 210);
        const order = all
          .map((_, index) => index)
          .toSorted((a, b) => (all[a] ?? 0) - (all[b] ?? 0));
        const sorted = order.map((index) => spread[index] ?? NaN);
        for (const [index, y] of sorted.entries()) {
          expect(y).toBeWithin(10 - 1e-9, 210 + 1e-9);
          if (index > 0) expect(y - (sorted[index - 1] ?? NaN)).toBeGreaterThanOrEqual(15 - 1e-9);
        }
      }),
    );
  });
});

describe("a view", () => {
  const whole = { from: Date.parse("2026-10-21"), to: Date.parse("2026-11-20") };

  test("is read from the address as it was written", () => {
    for (const [text, scale, known] of [
      ["2026-11-01..2026-11-10", "utc", whole],
      ["2026-11-01T05:30Z..2026-11-10", "local", whole],
      ["6..48.25", "age", { from: 0, to: 7 * DAY_MS }],
    ] as const) {
      const view = parseView(text, scale, known);
      expect([text, view && formatView(view, scale)]).toEqual([text, text]);
    }
  });

  test("of another time, of nothing and of all is all", () => {
    const texts = ["", "x", "1..2", "2026-11-10..2026-11-01", "2020-01-01..2020-02-01"];
    texts.push("2026-11-01", "2026-11-01..2026-11-02..2026-11-03", "2020-01-01..2030-01-01");
    for (const text of texts) {
      expect([text, parseView(text, "utc", whole)]).toEqual([text, undefined]);
    }
    expect(parseView("-1..2", "age", whole)).toBeUndefined();
  });

  test("that is partly known is cut to that", () => {
    expect(parseView("2026-01-01..2026-11-01", "utc", whole)).toEqual({
      from: whole.from,
      to: Date.parse("2026-11-01"),
    });
  });

  test("is zoomed and moved inside of what is known", () => {
    const zoomed = changeView(whole, undefined, { factor: 0.5, count: 31 });
    expect(zoomed && formatView(zoomed, "utc")).toBe("2026-10-28T12:00Z..2026-11-12T12:00Z");
    const moved = changeView(whole, zoomed, { factor: 1, shift: 9, count: 31 });
    expect(moved).toEqual({ from: whole.to - 15 * DAY_MS, to: whole.to });
    expect(changeView(whole, moved, { factor: 4, count: 31 })).toBeUndefined();
    const least = changeView(whole, undefined, { factor: 0, count: 30 });
    expect((least?.to ?? 0) - (least?.from ?? 0)).toBe(3 * DAY_MS);
    const noon = Date.parse("2026-11-05T12:00Z");
    const short = { from: noon - 5000, to: noon + 5000 };
    const widen = (count: number) => changeView(whole, short, { factor: 1, count });
    expect(widen(30)).toEqual({ from: noon - 1.5 * DAY_MS, to: noon + 1.5 * DAY_MS });
    // The address has whole minutes.
    expect(widen(1e9)).toEqual({ from: noon - 60_000, to: noon + 60_000 });
  });
});

/** A chart by hours since publication of items with these values. */
const createAgeData = (hours: readonly number[], ...items: (number | null)[][]): PlotData => ({
  ...createAgeAxis(hours.map((hour) => ({ hours: hour }))),
  title: "Views",
  series: items.map((values, nth) => ({ label: `item ${nth}`, values })),
  isLog: false,
  isDark: false,
  group: "",
});

describe("arrangeRows()", () => {
  const hours = [0, 1, 2, 3, 10, 11];
  const data = createAgeData(hours, [1, null, 3, null, null, 9], [0, 1, 2, 3, null, null]);

  test("draws items by age over hours at which others were observed, but not over a gap", () => {
    const { times, drawn } = arrangeRows(data);
    expect(times).toEqual(hours.map((hour) => hour * 3600));
    expect(drawn).toEqual([
      [1, undefined, 3, null, null, 9],
      [0, 1, 2, 3, null, null],
    ]);
  });

  test("leaves 0 out of a logarithmic chart only, and findKnownRow() finds what a line shows", () => {
    const rows = arrangeRows({ ...data, isLog: true });
    expect(rows.known[1]?.[0]).toBe(0);
    expect(rows.drawn[1]?.[0]).toBeNull();
    expect([0, 1, 2, 3].map((row) => findKnownRow(rows, 0, row))).toEqual([0, 0, 2, 3]);
    expect(describeScale(data)).toContain("without 1 value of 0");
    expect(describeScale(createAgeData([1], [5]))).toBe("log scale");
  });
});

describe("findCommonAge()", () => {
  const rows = [0, 24, 47, 48, 60].map((hours) => ({ hours }));

  test("finds the counts at the age of the youngest item, but none from before a gap", () => {
    const [young, old, first] = [
      [0, 1, 2, 3, null],
      [0, 1, 9, null, 20],
      [5, null, null, null, 6],
    ] as const;
    const series = [young, old, first].map((values) => ({ values }));
    const common = findCommonAge(series, rows);
    expect(common?.hours).toBe(48);
    expect(series.map(({ values }) => common?.findCount(values))).toEqual([3, 9, null]);
  });

  test("finds no age of one item, or of none that is known", () => {
    expect(findCommonAge([{ values: [1] }], rows)).toBeUndefined();
    expect(findCommonAge([{ values: [null] }, { values: [] }], rows)).toBeUndefined();
  });
});

test("formatAge() writes hours and days as people say them", () => {
  const ages = [0, 0.5, 6, 24, 30, 24 * 7, 49.25].map((hours) => formatAge(hours * HOUR_MS));
  expect(ages).toEqual(["0 h", "30 min", "6 h", "1 d", "1 d 6 h", "7 d", "2 d 1 h 15 min"]);
});

test("createFileName() leaves nothing that has a meaning to a system of files", () => {
  expect(createFileName("channel ../a/b\u202E <x>:30d")).toBe("channel-a-b-x-30d");
  expect(createFileName("short 七分鐘-views-2026-10-01..2026-10-15")).toBe(
    "short-七分鐘-views-2026-10-01-2026-10-15",
  );
  expect(createFileName("w".repeat(300))).toHaveLength(100);
});
