/** Holds the usage by the days of a time zone, which SQL groups, to the buckets of core. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { findLocalBucket } from "../../../core/buckets.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { listDayHours, parseUsageDays } from "../../../core/usage.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { withAccounts } from "../../support/store/debits.ts";

/** Their days begin with hours of UTC. The clocks of Troll change by two hours. */
const ZONES = [
  "UTC",
  "Africa/Casablanca",
  "America/Havana",
  "America/Los_Angeles",
  "America/Sao_Paulo",
  "Antarctica/Troll",
  "Europe/Lisbon",
  "Pacific/Apia",
  "Pacific/Kiritimati",
];

/** The years in which Apia skipped a day, and Brazil still changed its clocks. */
const FIRST_HOUR = Date.UTC(2011, 0) / HOUR_MS;
const HOURS = 2 * 366 * 24;

/** The requests of each hour. */
const countRequests = (hour: number) => (hour % 7) + 1;

const ADD_USAGE = `
  WITH RECURSIVE hours (hour) AS (
    SELECT ${FIRST_HOUR}
    UNION ALL
    SELECT hour + 1 FROM hours WHERE hour < ${FIRST_HOUR + HOURS - 1}
  )
  INSERT INTO usage (account, hour, key, endpoint, requests, credits)
  SELECT ?, hour, 1, '/a', hour % 7 + 1, hour % 7 + 1
  FROM hours`;

const ranges = fc.record({
  zone: fc.constantFrom(...ZONES),
  first: fc.integer({ min: 5, max: 360 }),
  days: fc.integer({ min: 1, max: 366 }),
});

const formatDay = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

describe("usage()", () => {
  test("groups by the days of a time zone as findLocalBucket() does, and selects whole ones", async () => {
    await withAccounts([0, 0], async (database, [account = 0, other = 0]) => {
      const { usage } = createLedgerStore(database);
      await database.write([account, other].map((id) => ({ sql: ADD_USAGE, args: [id] })));
      await fc.assert(
        fc.asyncProperty(ranges, async ({ zone, first, days }) => {
          const firstDay = FIRST_HOUR / 24 + first;
          const query = { zone, from: formatDay(firstDay), to: formatDay(firstDay + days - 1) };
          fc.pre(zone !== "Pacific/Apia" || !Object.values(query).includes("2011-12-30"));
          const range = parseUsageDays(new URLSearchParams(query), 0);
          const [since = 0, until = 0] = [listDayHours(range)[0], listDayHours(range).at(-1)];
          const expected = new Map<number, number>();
          for (let hour = since; hour < until; hour++) {
            const day = findLocalBucket(hour * HOUR_MS, "day", zone).local / DAY_MS;
            expected.set(day, (expected.get(day) ?? 0) + countRequests(hour));
          }
          const grouping = { hasKey: false, hasEndpoint: false, period: "day" } as const;
          const rows = await usage(account, range, grouping, 1000);
          expect(rows.map(({ period, requests }) => [period, requests])).toEqual([...expected]);
          const [total] = await usage(
            account,
            range,
            { ...grouping, hasKey: true, period: undefined },
            9,
          );
          expect(total?.requests).toBe(
            [...expected.values()].reduce((sum, count) => sum + count, 0),
          );
        }),
        { numRuns: 150 },
      );
    });
  }, 60_000);
});
