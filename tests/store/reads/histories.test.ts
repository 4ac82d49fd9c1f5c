/** Holds the pages of histories, which are read in steps, to a naive model over all observations. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { HISTORY_INTERVALS, type HistoryInterval } from "../../../core/buckets.ts";
import { DomainError } from "../../../core/errors.ts";
import { decodeHistoryCursor, parseHistoryRequest } from "../../../core/history-request.ts";
import { parseObservation, type Counts } from "../../../core/observations.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { writeObservations } from "../../../server/store/observations/write.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";

const COUNTS = ["views", "likes", "comments", "shares"];

interface Point {
  readonly at: number;
  readonly counts: Counts;
}

const countOrNull = fc.option(fc.nat(50));
const pointCounts = fc.record({
  views: fc.nat(1_000_000),
  likes: countOrNull,
  comments: countOrNull,
  shares: fc.constant(null),
});

/** Up to a hundred points of the last 90 days. */
const shortHistories = fc
  .uniqueArray(fc.tuple(fc.nat(90 * DAY_MS), pointCounts), {
    selector: ([age]) => age,
    minLength: 1,
    maxLength: 100,
  })
  .map((rows) => rows.map(([age, counts]): Point => ({ at: NOW - age, counts })));

/** Two years by the hour; likes are known in the first month only, comments since the last one. */
const LONG_HISTORY: readonly Point[] = Array.from({ length: 2 * 8760 }, (_, hour) => ({
  at: NOW - hour * HOUR_MS,
  counts: {
    views: 1_000_000 - 10 * hour,
    likes: hour > 2 * 8760 - 720 ? hour : null,
    comments: hour < 720 ? hour : null,
    shares: null,
  },
}));

const requests = fc.record({
  interval: fc.constantFrom(...HISTORY_INTERVALS),
  from: fc.nat(95 * DAY_MS),
  days: fc.integer({ min: 1, max: 100 }),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1000)),
});

async function observe(database: Database, points: readonly Point[]): Promise<void> {
  const observedAt = formatInstant(NOW - 100 * DAY_MS);
  const common = { kind: "short", channel: "c", id: "s", publishedAt: observedAt };
  const lines = [
    { kind: "channel", observedAt, id: "c", username: "Someone" },
    ...points.map(({ at, counts }) => ({ ...common, observedAt: formatInstant(at), ...counts })),
  ];
  await writeObservations(
    database,
    lines.map((line) => parseObservation(line, NOW)),
  );
}

/** The start of a bucket by the calendar of `Date`. */
function findStart(at: number, interval: HistoryInterval): string {
  const date = new Date(at);
  if (interval !== "raw") date.setUTCMinutes(0, 0, 0);
  if (interval !== "raw" && interval !== "hour") date.setUTCHours(0);
  if (interval === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (interval === "month") date.setUTCDate(1);
  return date.toISOString();
}

/** The history that a request selects, computed from all points at once. */
function computeHistory(
  all: readonly Point[],
  from: number,
  to: number,
  interval: HistoryInterval,
) {
  const sorted = all.toSorted((a, b) => a.at - b.at);
  const group = (points: readonly Point[]) => [
    ...new Map(points.map((point) => [findStart(point.at, interval), point])),
  ];
  const last: Record<string, number | null> = {};
  const listed = [false, true].flatMap((isSelected) =>
    group(sorted.filter(({ at }) => at < to && at >= from === isSelected)).map(
      ([timestamp, { at, counts }]) => {
        const change = COUNTS.map((name) => {
          const [count, previous] = [counts[name] ?? null, last[name] ?? null];
          last[name] = count ?? previous;
          return [name, count === null || previous === null ? null : count - previous];
        });
        const observedAt = new Date(at).toISOString();
        const item = { timestamp, observedAt, ...counts, change: Object.fromEntries(change) };
        return { isSelected, item };
      },
    ),
  );
  return listed.filter(({ isSelected }) => isSelected).map(({ item }) => item);
}

/** Reads all pages of a history. */
async function walkHistory(database: Database, query: Record<string, string>) {
  const { shortHistory } = createVideoReads(database);
  const pages: unknown[][] = [];
  let cursor: string | null = null;
  do {
    const parameters = new URLSearchParams(cursor === null ? query : { ...query, cursor });
    const request = parseHistoryRequest((name) => parameters.getAll(name), NOW);
    const { body } = await shortHistory("someone", "s", request);
    pages.push(body.history);
    cursor = body.pagination.nextCursor;
    expect(body.pagination.hasMore).toBe(cursor !== null);
    if (cursor !== null) {
      expect(formatInstant(decodeHistoryCursor(cursor))).toBe(body.history.at(-1)?.timestamp ?? "");
    }
  } while (cursor !== null);
  return pages;
}

describe("createVideoReads().shortHistory()", () => {
  test("lists the buckets of a naive computation, with any limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        shortHistories,
        fc.array(requests, { minLength: 1, maxLength: 10 }),
        async (points, queries) => {
          await withDatabase(async (database) => {
            await observe(database, points);
            for (const { interval, from: age, days, limit } of queries) {
              const from = NOW - age;
              const to = from + days * DAY_MS;
              const pages = await walkHistory(database, {
                interval,
                from: formatInstant(from),
                to: formatInstant(to),
                limit: String(limit),
              });
              // The first observation of the short, which tells no counts, is older than all of them.
              expect(pages.flat()).toEqual(computeHistory(points, from, to, interval));
              expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
            }
          });
        },
      ),
      { numRuns: 25 },
    );
  });

  test.each(HISTORY_INTERVALS)(
    "reads two years of hourly points in steps: %s",
    async (interval) => {
      await withDatabase(async (database) => {
        await observe(database, LONG_HISTORY);
        const from = NOW - 500 * DAY_MS;
        const to = NOW - 3 * DAY_MS;
        const query = { interval, from: formatInstant(from), to: formatInstant(to) };
        const pages = await walkHistory(database, query);
        expect(pages.flat()).toEqual(computeHistory(LONG_HISTORY, from, to, interval));
      });
    },
  );

  test("lists the last 30 days by default, until the oldest point leaves them", async () => {
    await withDatabase(async (database) => {
      await observe(database, LONG_HISTORY);
      const request = parseHistoryRequest(() => [], NOW);
      const { body, validDuring } = await createVideoReads(database).shortHistory(
        "c",
        "s",
        request,
      );
      const from = NOW - 30 * DAY_MS;
      expect(body.history).toEqual(computeHistory(LONG_HISTORY, from, NOW + 1, "day") as never);
      expect(body).toMatchObject({ channel: "Someone", short_id: "s", interval: "day" });
      expect(validDuring).toEqual({ from: NOW, to: NOW });
    });
  });

  test("reports what was not found as the details do", async () => {
    await withDatabase(async (database) => {
      await observe(database, []);
      const video = createVideoReads(database);
      const microblog = createMicroblogReads(database);
      const request = parseHistoryRequest(() => [], NOW);
      const results = await Promise.allSettled([
        video.channelHistory("nobody", request),
        video.shortHistory("nobody", "s", request),
        video.shortHistory("c", "no", request),
        microblog.userHistory("nobody", request),
        microblog.tweetHistory("nobody", "1", request),
      ]);
      const messages = results.map((result) =>
        result.status === "rejected" && result.reason instanceof DomainError
          ? result.reason.message
          : result,
      );
      expect(messages).toEqual([
        "Channel nobody not found",
        "Channel nobody not found",
        "Short no not found for channel c",
        "User nobody not found",
        "User nobody not found",
      ]);
    });
  });
});
