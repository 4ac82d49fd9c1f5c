/** Holds the time zones of `Intl` and the buckets in them to the time zone files of the system. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { findBucketEnd, findBucketStart, HISTORY_INTERVALS } from "../../core/buckets.ts";
import { DAY_MS } from "../../core/time.ts";
import { getTimeZone } from "../../core/zones.ts";
import { findOffset, nameLocalBucket, readTransitions } from "../model/time-zones.ts";
import { ZONES } from "../support/zones.ts";

const FOLDER = "/usr/share/zoneinfo";
const hasZones = existsSync(`${FOLDER}/tzdata.zi`);

const loaded = new Map<string, ReturnType<typeof readTransitions>>();
function loadTransitions(zone: string) {
  const known = loaded.get(zone);
  if (known !== undefined) return known;
  const transitions = readTransitions(readFileSync(`${FOLDER}/${zone}`));
  loaded.set(zone, transitions);
  return transitions;
}

/** All zones of the time zone database, without its links, which are other names of them. */
const listNames = () =>
  Array.from(
    readFileSync(`${FOLDER}/tzdata.zi`, "utf8").matchAll(/^Z (\S+)/gm),
    ([, name = ""]) => name,
  ).filter((name) => name !== "Factory");

/** Compares the offsets around each transition in some years, and once a year. */
function findDifference(zone: string, firstYear: number, lastYear: number): string | undefined {
  const transitions = loadTransitions(zone);
  const { findSpan } = getTimeZone(zone);
  const years = Array.from({ length: lastYear - firstYear + 1 }, (_, index) =>
    Date.UTC(firstYear + index, 3, 3),
  );
  const [first, last] = [Date.UTC(firstYear, 0), Date.UTC(lastYear + 1, 0)];
  const changes = transitions.filter(({ at }) => at > first && at < last);
  const instants = [...changes.flatMap(({ at }) => [at - 1, at]), ...years];
  const wrong = instants.find((at) => findSpan(at).offset !== findOffset(transitions, at));
  return wrong === undefined ? undefined : `${zone} ${new Date(wrong).toISOString()}`;
}

describe.skipIf(!hasZones)("getTimeZone() and the time zone files of the system", () => {
  test("have the same transitions from 1970 to 2040, but where versions of the database differ", () => {
    const names = listNames();
    const differences = names.map((name) => findDifference(name, 1970, 2040));
    expect(names.length).toBeGreaterThan(300);
    expect(differences.filter((zone) => zone !== undefined).length).toBeLessThan(
      0.03 * names.length,
    );
  }, 60_000);

  test("have the same transitions from 1850 to 2100, in the zones of the tests", () => {
    expect(ZONES.flatMap((name) => findDifference(name, 1850, 2099) ?? [])).toEqual([]);
  }, 60_000);

  test("no zone has two transitions in three days: the search would miss both", () => {
    for (const name of listNames()) {
      const instants = loadTransitions(name).map(({ at }) => at);
      const gaps = instants.map((at, index) => at - (instants[index - 1] ?? -Infinity));
      expect([name, Math.min(...gaps.slice(1)) > 3 * DAY_MS]).toEqual([name, true]);
    }
  });
});

describe.skipIf(!hasZones)("findBucketStart() and findBucketEnd()", () => {
  /** Any instant from 1900 to 2100, or one near a transition. */
  const cases = fc.constantFrom(...ZONES).chain((zone) => {
    const transitions = loadTransitions(zone).map(({ at }) => at);
    const near = fc
      .tuple(fc.constantFrom(...transitions), fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }))
      .map(([at, distance]) => (at === -Infinity ? 0 : at) + distance);
    return fc.record({
      zone: fc.constant(zone),
      at: fc.oneof(fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) }), near),
      interval: fc.constantFrom(...HISTORY_INTERVALS),
    });
  });

  test("part time where the hour, date, week or month of the files changes", () => {
    fc.assert(
      fc.property(cases, ({ zone, at, interval }) => {
        if (interval === "raw") return;
        const transitions = loadTransitions(zone);
        const name = (instant: number) => nameLocalBucket(transitions, instant, interval);
        const start = findBucketStart(at, interval, zone);
        const end = findBucketEnd(start, interval, zone);
        expect(start <= at && at < end).toBe(true);
        expect([name(start), name(end - 1)]).toEqual([name(at), name(at)]);
        expect(name(start - 1)).not.toBe(name(at));
        expect(name(end)).not.toBe(name(at));
      }),
      { numRuns: 5000 },
    );
  }, 60_000);
});
