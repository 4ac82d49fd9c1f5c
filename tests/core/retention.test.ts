import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import {
  formatRetentionRule,
  parseRetentionPolicy,
  applyRetentionBounds,
  RETENTION_SYNTAX,
  computeRetentionBounds,
} from "../../core/retention.ts";
import { DAY_MS, formatDay } from "../../core/time.ts";
import { applyRetentionRule } from "../model/retention.ts";
import { NOW } from "../support/arbitraries/values.ts";

/** The days that a rule may name. */
const DAYS_RANGE = { min: 40, max: 36_500 };

const days = fc.oneof(
  fc.integer({ min: DAYS_RANGE.min, max: 60 }),
  fc.integer({ min: DAYS_RANGE.min, max: DAYS_RANGE.max }),
);
const rules: fc.Arbitrary<Parameters<typeof computeRetentionBounds>[0]> = fc
  .tuple(days, fc.oneof(days, fc.constant(Infinity)))
  .map(([a, b]) => ({ rawDays: Math.min(a, b), dailyDays: Math.max(a, b) }));

/** Histories around the bounds: several observations a day, oldest first. */
const histories = fc
  .uniqueArray(
    fc
      .tuple(fc.integer({ min: -3, max: 70 }), fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1))
      .map(([ago, ms]) => (Math.floor(NOW / DAY_MS) - ago) * DAY_MS + ms),
    { maxLength: 60 },
  )
  .map((instants) => instants.toSorted((a, b) => a - b).map((at) => ({ at })));

const clocks = fc.integer({ min: NOW - 5 * DAY_MS, max: NOW + 40 * DAY_MS });

describe("parseRetentionPolicy()", () => {
  test("reads a rule for each kind", () => {
    expect(parseRetentionPolicy("channel=90d/day, short=40d,tweet=90d/day/365d")).toEqual({
      channel: { rawDays: 90, dailyDays: Infinity },
      short: { rawDays: 40, dailyDays: 40 },
      tweet: { rawDays: 90, dailyDays: 365 },
    });
  });

  test("reads what formatRetentionRule() returns", () => {
    fc.assert(
      fc.property(fc.constantFrom(...ENTITY_KINDS), rules, (kind, rule) => {
        expect(parseRetentionPolicy(`${kind}=${formatRetentionRule(rule)}`)).toEqual({
          [kind]: rule,
        });
      }),
    );
    expect(formatRetentionRule(undefined)).toBe("all");
  });

  test.each([
    [""],
    ["channel"],
    ["channel=90"],
    ["channel=39d"],
    ["channel=39d/day"],
    ["channel=36501d"],
    ["channel=090d"],
    ["channel=90d/week"],
    ["channel=90d/day/"],
    ["channel=90d/day/90d"],
    ["channel=90d/day/40d"],
    ["channel=90d/365d"],
    ["channel=9e1d"],
    ["channel=90d,"],
    ["channel=90d,channel=90d"],
    ["video=90d"],
    ["Channel=90d"],
    ["-channel=90d"],
    ["channel = 90d"],
    ["toString=90d"],
  ])("rejects %j", (text) => {
    expect(parseRetentionPolicy(text)).toBeUndefined();
  });
});

describe("RETENTION_SYNTAX", () => {
  test("names only forms that parseRetentionPolicy() reads, the kinds and the days", () => {
    const [forms = "", ...others] = RETENTION_SYNTAX.split(", separated by commas, ");
    expect(forms).toBe("KIND=90d, KIND=90d/day or KIND=90d/day/365d");
    for (const form of forms.split(/, | or /)) {
      expect(parseRetentionPolicy(form.replace("KIND", "short"))).toHaveProperty("short");
    }
    expect(others).toEqual([
      "each kind (channel, short, user, tweet) once, days from 40 to 36500, " +
        "the second more than the first",
    ]);
  });
});

describe("computeRetentionBounds()", () => {
  test("returns midnights UTC, that many days before today", () => {
    expect(computeRetentionBounds({ rawDays: 40, dailyDays: 41 }, NOW)).toEqual({
      rawFrom: Date.parse("2026-10-11"),
      dailyFrom: Date.parse("2026-10-10"),
    });
  });

  test("returns no instant before the year 0", () => {
    const { dailyFrom } = computeRetentionBounds({ rawDays: 40, dailyDays: Infinity }, NOW);
    expect(new Date(dailyFrom).toISOString()).toBe("0000-01-01T00:00:00.000Z");
  });
});

describe("applyRetentionRule()", () => {
  test("keeps raw points, then the newest of each day, then only the newest of all", () => {
    const at = (text: string) => ({ at: Date.parse(text) });
    const raw = [at("2026-10-11T00:00Z"), at("2026-10-11T00:01Z")];
    const daily = [at("2026-10-10T00:00Z"), at("2026-10-10T23:59Z")];
    const older = [at("2026-10-09T23:59Z")];
    const all = [...older, ...daily, ...raw];
    const rule = { rawDays: 40, dailyDays: 41 };
    expect(applyRetentionRule(all, rule, NOW)).toEqual([...daily.slice(1), ...raw]);
    expect(applyRetentionRule([...older, ...daily], rule, NOW)).toEqual(daily.slice(1));
    expect(applyRetentionRule(older, rule, NOW)).toEqual(older);
    expect(applyRetentionRule([], rule, NOW)).toEqual([]);
  });

  test("keeps the order, the newest point and all raw points", () => {
    fc.assert(
      fc.property(histories, rules, clocks, (history, rule, now) => {
        const kept = applyRetentionRule(history, rule, now);
        expect(history.filter((point) => kept.includes(point))).toEqual(kept);
        expect(kept.at(-1)).toBe(history.at(-1));
        const isRaw = ({ at }: { at: number }) => at >= now - rule.rawDays * DAY_MS;
        expect(kept.filter(isRaw)).toEqual(history.filter(isRaw));
      }),
    );
  });

  test("keeps the newest point of each day that is no longer raw", () => {
    fc.assert(
      fc.property(histories, rules, clocks, (history, { rawDays }, now) => {
        const { rawFrom } = computeRetentionBounds({ rawDays, dailyDays: Infinity }, now);
        const past = (points: readonly { at: number }[]) =>
          points.filter(({ at }) => at < rawFrom).map(({ at }) => at);
        const newest = new Map(past(history).map((at) => [formatDay(Math.floor(at / DAY_MS)), at]));
        const kept = applyRetentionRule(history, { rawDays, dailyDays: Infinity }, now);
        expect(past(kept)).toEqual([...newest.values()]);
      }),
    );
  });

  test("gives the same result however often it was applied before", () => {
    fc.assert(
      fc.property(histories, rules, clocks, clocks, (history, rule, a, b) => {
        const [earlier, later] = [Math.min(a, b), Math.max(a, b)];
        const before = applyRetentionRule(history, rule, earlier);
        expect(applyRetentionRule(before, rule, later)).toEqual(
          applyRetentionRule(history, rule, later),
        );
      }),
    );
  });
});

describe("applyRetentionBounds()", () => {
  test("compares the last point with the one after the part", () => {
    const at = Date.parse("2026-10-10T12:00Z");
    const bounds = { rawFrom: at + DAY_MS, dailyFrom: at };
    expect(applyRetentionBounds([{ at }], bounds)).toEqual([{ at }]);
    expect(applyRetentionBounds([{ at }], bounds, at + 1)).toEqual([]);
    expect(applyRetentionBounds([{ at }], bounds, at + DAY_MS)).toEqual([{ at }]);
    expect(applyRetentionBounds([{ at }], { ...bounds, dailyFrom: at + 1 }, at + DAY_MS)).toEqual(
      [],
    );
    expect(applyRetentionBounds([{ at }], { rawFrom: at, dailyFrom: at }, at + 1)).toEqual([
      { at },
    ]);
    expect(applyRetentionBounds([], bounds, at)).toEqual([]);
  });

  test("keeps of the parts what applyRetentionRule() keeps of the whole", () => {
    fc.assert(
      fc.property(histories, rules, clocks, fc.integer({ min: 1, max: 7 }), (...given) => {
        const [history, rule, now, length] = given;
        const bounds = computeRetentionBounds(rule, now);
        const starts = Array.from(history.keys()).filter((index) => index % length === 0);
        const kept = starts.map((start) =>
          applyRetentionBounds(
            history.slice(start, start + length),
            bounds,
            history[start + length]?.at,
          ),
        );
        expect(kept.flat()).toEqual(applyRetentionRule(history, rule, now));
      }),
    );
  });
});
