import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { groupIntoBuckets, HISTORY_INTERVALS } from "../../core/buckets.ts";
import { ENTITY_FIELDS } from "../../core/kinds.ts";
import {
  parseHistoryRequest,
  createComparisonTable,
  createHistoryItems,
  createHistoryPage,
  type HistoryRequest,
} from "../../core/histories.ts";
import { createFollowersPage } from "../../core/responses/microblog.ts";
import { formatInstant } from "../../core/time.ts";
import { modelHistory } from "../model/histories.ts";
import { catchDomainError } from "../support/domain-error.ts";

const DAY = 86_400_000;

const histories = fc.uniqueArray(fc.nat(90 * DAY), { maxLength: 60 }).chain((instants) =>
  fc.tuple(
    ...instants.map((at) =>
      fc.record({
        at: fc.constant(at),
        counts: fc.array(fc.option(fc.nat(9)), { minLength: 3, maxLength: 3 }),
      }),
    ),
  ),
);

const ranges = fc
  .record({
    interval: fc.constantFrom(...HISTORY_INTERVALS),
    // The clocks of two of them were set back in these days, by half an hour and by an hour.
    zone: fc.constantFrom(undefined, "America/Santo_Domingo", "Australia/Hobart", "Asia/Kolkata"),
    from: fc.integer({ min: -40 * DAY, max: 95 * DAY }),
    days: fc.oneof(fc.integer({ min: 1, max: 130 }), fc.constantFrom(1 / DAY, 1.5)),
  })
  .map(({ interval, zone, from, days }) => {
    const range = { interval, from, to: from + days * DAY };
    return Object.assign(range, zone === undefined ? {} : { zone });
  });

/** Followers at noon of the days from 1970-01-01 on. */
const points = [10, 13, null, 12, 20].map((followers, day) => ({
  at: (day + 0.5) * DAY,
  counts: [followers, null, day],
}));

function parseQuery(query: string): HistoryRequest {
  const parameters = new URLSearchParams(`from=1970-01-01&${query}`);
  return parseHistoryRequest(parameters, 0);
}

const createPage = (query: string) => createHistoryPage("user", points, parseQuery(query));
const changesOf = (query: string) =>
  createPage(query).history.map(({ change }) => change.followers_count);

describe("createHistoryItems()", () => {
  test("names the counts and the changes of each bucket", () => {
    const bucket = { start: 0, observedAt: 5, counts: [7, null, 2] };
    expect(createHistoryItems("user", [bucket], [[1, 2, null]])).toEqual([
      {
        timestamp: "1970-01-01T00:00:00.000Z",
        observedAt: "1970-01-01T00:00:00.005Z",
        followers_count: 7,
        following_count: null,
        tweet_count: 2,
        change: { followers_count: 1, following_count: 2, tweet_count: null },
      },
    ]);
  });

  test("has null for counts and changes that are not there", () => {
    const [item] = createHistoryItems("user", [{ start: 0, observedAt: 5, counts: [] }], []);
    const unknown = { followers_count: null, following_count: null, tweet_count: null };
    expect(item).toMatchObject({ ...unknown, change: unknown });
  });
});

describe("createHistoryPage()", () => {
  test("selects the points from `from` on and before `to`, one by one", () => {
    const request = parseQuery("interval=raw");
    const select = (from: number, to: number) =>
      createHistoryPage("user", points, { ...request, from, to }).history.length;
    expect(select(1.5 * DAY, 3.5 * DAY)).toBe(2);
    expect(select(1.5 * DAY + 1, 3.5 * DAY + 1)).toBe(2);
  });

  test("selects whole buckets, and compares the first with what was known before it", () => {
    expect(changesOf("interval=day")).toEqual([null, 3, null, -1, 8]);
    const request = { ...parseQuery("interval=day"), from: 3.9 * DAY, to: 4 * DAY + 1 };
    const { history } = createHistoryPage("user", points, request);
    expect(history.map(({ change }) => change.followers_count)).toEqual([-1, 8]);
    expect(history.map(({ change }) => change.tweet_count)).toEqual([1, 1]);
  });

  test("has the newest known value of each count in a bucket", () => {
    // A Thursday begins the history, so its first week ends with the fourth day.
    const [first, second] = createPage("interval=week").history;
    expect(first).toMatchObject({ followers_count: 12, tweet_count: 3 });
    expect(second).toMatchObject({ followers_count: 20, change: { followers_count: 8 } });
    const unknown = [...points, { at: 6 * DAY, counts: [null, null, null] }];
    const { history } = createHistoryPage("user", unknown, parseQuery("interval=month"));
    const observedAt = "1970-01-07T00:00:00.000Z";
    expect(history).toMatchObject([{ followers_count: 20, observedAt }]);
  });

  test("equals a naive model, for any points in any order, range, interval, zone, limit and cursor", () => {
    fc.assert(
      fc.property(histories, ranges, fc.integer({ min: 1, max: 30 }), (random, range, limit) => {
        const counts = ENTITY_FIELDS.user.counts;
        const named = random.map(({ at, counts: values }) => ({
          at,
          counts: Object.fromEntries(counts.map((name, index) => [name, values[index] ?? null])),
        }));
        const expected = modelHistory(named, counts, range);
        const listed: object[] = [];
        let after: number | undefined;
        do {
          const request = { ...range, limit, ...(after === undefined ? {} : { after }) };
          const page = createHistoryPage("user", random, request);
          const { nextCursor } = page.pagination;
          listed.push(...page.history);
          const zone = range.zone === undefined ? "" : `&zone=${range.zone}`;
          const query = `interval=${range.interval}${zone}&cursor=${nextCursor}`;
          after = nextCursor === null ? undefined : parseQuery(query).after;
          expect(page.history.length).toBeLessThanOrEqual(limit);
        } while (after !== undefined);
        expect(listed).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test("continues at its cursor with the same items as one long page", () => {
    const first = createPage("interval=day&limit=2");
    expect(first.interval).toBe("day");
    expect(first.pagination.hasMore).toBe(true);
    const cursor = `cursor=${first.pagination.nextCursor}`;
    const rest = createPage(`interval=day&${cursor}`);
    expect(rest.pagination).toEqual({ hasMore: false, nextCursor: null });
    expect([...first.history, ...rest.history]).toEqual(createPage("interval=day").history);
  });
});

describe("createComparisonTable()", () => {
  test("has a row for each bucket, and null for an entity without points", () => {
    const request = parseQuery("interval=day&limit=2");
    const table = createComparisonTable([points, []], 0, request);
    expect(table.interval).toBe("day");
    expect(table.rows).toEqual([
      { timestamp: "1970-01-01T00:00:00.000Z", values: [10, null] },
      { timestamp: "1970-01-02T00:00:00.000Z", values: [13, null] },
    ]);
    expect(table.pagination.hasMore).toBe(true);
    const cursor = `cursor=${table.pagination.nextCursor}`;
    const next = createComparisonTable([points, []], 2, parseQuery(`interval=day&${cursor}`));
    expect(next.rows.map(({ values }) => values)).toEqual([
      [2, null],
      [3, null],
      [4, null],
    ]);
    expect(next.pagination).toEqual({ hasMore: false, nextCursor: null });
  });

  test("has one row for each bucket of any history, in order, and null where one has none", () => {
    const intervals = fc.constantFrom(...HISTORY_INTERVALS);
    fc.assert(
      fc.property(fc.array(histories, { maxLength: 4 }), intervals, (entities, interval) => {
        const grouped = entities.map((entity) => groupIntoBuckets(entity, interval));
        const starts = new Set(grouped.flat().map(({ start }) => start));
        const expected = [...starts]
          .toSorted((a, b) => a - b)
          .map((start) => ({
            timestamp: formatInstant(start),
            values: grouped.map(
              (buckets) => buckets.find((bucket) => bucket.start === start)?.counts[1] ?? null,
            ),
          }));
        const request = parseQuery(`interval=${interval}`);
        expect(createComparisonTable(entities, 1, request).rows).toEqual(expected);
      }),
    );
  });
});

describe("createFollowersPage()", () => {
  test("takes points in any order", () => {
    const request = { days: 14, page: 0, limit: 50 };
    const page = (given: typeof points) => createFollowersPage("NASA", given, request, 5 * DAY);
    expect(page(points.toReversed())).toEqual(page(points));
  });

  const now = 5 * DAY;
  const create = (days: number, page: number, limit: number) =>
    createFollowersPage("NASA", points, { days, page, limit }, now);

  test("lists known counts, newest first, with their changes", () => {
    expect(create(14, 0, 50)).toEqual({
      username: "NASA",
      followers: {
        USER: {
          metrics: [
            { followers: 20, change: 8, timestamp: "1970-01-05T12:00:00.000Z" },
            { followers: 12, change: -1, timestamp: "1970-01-04T12:00:00.000Z" },
            { followers: 13, change: 3, timestamp: "1970-01-02T12:00:00.000Z" },
            { followers: 10, change: 0, timestamp: "1970-01-01T12:00:00.000Z" },
          ],
        },
      },
      filter_days: 14,
      pagination: { page: 0, limit: 50, total: 4, page_count: 1, has_more: false },
    });
  });

  test("compares the oldest selected count with the one before the days", () => {
    const { followers, pagination } = create(2, 0, 50);
    expect(followers.USER.metrics.map(({ change }) => change)).toEqual([8, -1]);
    expect(pagination.total).toBe(2);
  });

  test("cuts pages that overlap nowhere", () => {
    const changes = [0, 1].map((page) =>
      create(14, page, 3).followers.USER.metrics.map(({ change }) => change),
    );
    expect(changes).toEqual([[8, -1, 3], [0]]);
    expect(create(4, 1, 2).followers.USER.metrics.map(({ change }) => change)).toEqual([3]);
    expect(catchDomainError(() => create(14, 2, 3))?.code).toBe("Page Out of Range");
  });
});
