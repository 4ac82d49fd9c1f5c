/** Which scheduled backups are kept, and how they are named. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import {
  formatBackupName,
  isCutOff,
  parseBackupName,
  selectKeptBackups,
} from "../../../server/composition/backups/kept-backups.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

const DAY_FORMAT = new Intl.DateTimeFormat("en-CA", { timeZone: "UTC", dateStyle: "short" });

/** The first day of the period of a time, found by walking back from it day by day. */
const PERIODS = {
  day: (time: number) => DAY_FORMAT.format(time),
  week: (time: number) => {
    let day = time;
    while (new Date(day).getUTCDay() !== 1) day -= DAY_MS;
    return DAY_FORMAT.format(day);
  },
  month: (time: number) => DAY_FORMAT.format(time).slice(0, 7),
};

/** A naive model: a backup is kept if it is the newest of its period, and few later ones have any. */
function isKept(time: number, times: readonly number[]): boolean {
  const isKeptFor = (period: keyof typeof PERIODS, count: number) => {
    const later = times.filter((other) => other > time).map(PERIODS[period]);
    return !later.includes(PERIODS[period](time)) && new Set(later).size < count;
  };
  return isKeptFor("day", 7) || isKeptFor("week", 4) || isKeptFor("month", 6);
}

const sort = (times: Iterable<number>) => Array.from(times).toSorted((a, b) => a - b);

/** Backups of up to two years, some of them minutes apart. */
const TIMES = fc
  .array(fc.oneof(fc.nat(2 * 365 * 24 * 60), fc.nat(60 * 24)), { maxLength: 60 })
  .map((minutes) => [...new Set(minutes)].map((minute) => START + minute * 60_000));

describe("selectKeptBackups()", () => {
  test("keeps what a naive model keeps, of any series in any order", () => {
    fc.assert(
      fc.property(TIMES, (times) => {
        expect(sort(selectKeptBackups(times))).toEqual(
          sort(times.filter((time) => isKept(time, times))),
        );
      }),
      { numRuns: 500 },
    );
  });

  test("keeps the same whether it deletes after each backup or once at the end", () => {
    fc.assert(
      fc.property(TIMES, (times) => {
        let left: ReadonlySet<number> = new Set();
        for (const time of sort(times)) left = selectKeptBackups(Array.of(time).concat(...left));
        expect(sort(left)).toEqual(sort(selectKeptBackups(times)));
      }),
      { numRuns: 300 },
    );
  });

  test("keeps 7 daily, 4 weekly and 6 monthly of a year of nightly backups", () => {
    const nights = Array.from({ length: 334 }, (_, day) => START + day * DAY_MS + 3 * HOUR_MS);
    const kept = sort(selectKeptBackups(nights)).map(PERIODS.day);
    expect(kept).toEqual([
      // The ends of months.
      "2026-06-30",
      "2026-07-31",
      "2026-08-31",
      "2026-09-30",
      "2026-10-31",
      // The ends of weeks, which are Sundays; the current week has its newest day.
      "2026-11-15",
      "2026-11-22",
      // The last week.
      "2026-11-24",
      "2026-11-25",
      "2026-11-26",
      "2026-11-27",
      "2026-11-28",
      "2026-11-29",
      "2026-11-30",
    ]);
  });

  test("keeps all as long as none are made, and keeps none of none", () => {
    expect(selectKeptBackups([]).size).toBe(0);
    expect([...selectKeptBackups([START])]).toEqual([START]);
  });
});

const ID = "1f0a9c3e";
const NAME = `scheduled-${ID}-2026-11-20T030000Z.db`;

describe("formatBackupName()", () => {
  test("parseBackupName() reads it back to the second", () => {
    fc.assert(
      fc.property(fc.integer({ min: START, max: START + 9e11 }), (time) => {
        const name = formatBackupName(ID, time);
        expect(parseBackupName(name)).toEqual({ databaseId: ID, time: time - (time % 1000) });
        expect(isCutOff(ID, name)).toBe(false);
        expect(isCutOff(ID, `${name}.part-replica`)).toBe(true);
      }),
    );
  });

  test.each([
    "metrics-2026-11-20T030000Z.db",
    "scheduled-2026-11-20T030000Z.db",
    "scheduled-1F0A9C3E-2026-11-20T030000Z.db",
    "scheduled-1f0a9c3e0-2026-11-20T030000Z.db",
    `${NAME}.part`,
    "scheduled-1f0a9c3e-2026-11-20.db",
    "scheduled-1f0a9c3e-2026-13-20T030000Z.db",
    "scheduled-1f0a9c3e-2026-02-30T030000Z.db",
    "scheduled-1f0a9c3e-2026-11-20T240000Z.db",
    `my-${NAME}`,
    `${NAME}~`,
    `${NAME}\n`,
  ])("parseBackupName() takes %j for no scheduled backup", (name) => {
    expect(parseBackupName(name)).toBeUndefined();
  });
});

describe("isCutOff()", () => {
  test.each(["", "-journal", "-wal", "-shm", "-merge", "-replica"])(
    "takes .part%s for a remainder of a scheduled backup of the same database only",
    (suffix) => {
      expect(isCutOff(ID, `${NAME}.part${suffix}`)).toBe(true);
      expect(isCutOff("00000000", `${NAME}.part${suffix}`)).toBe(false);
    },
  );

  test.each([
    NAME,
    "other.db.part",
    "scheduled-a.db.part",
    `${NAME}.part1.rar`,
    `${NAME}.part.gz`,
    `${NAME}.part.part`,
    `${NAME}.partial`,
    `${NAME}.part-`,
    `${NAME}.part-merged`,
    `${NAME}-journal`,
    `${NAME}.part\n`,
  ])("takes %j for no remainder", (name) => expect(isCutOff(ID, name)).toBe(false));
});
