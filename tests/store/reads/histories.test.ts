/** Holds the pages of histories, which are read in steps, to a naive model over all observations. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { HISTORY_INTERVALS } from "../../../core/buckets.ts";
import { DomainError } from "../../../core/errors.ts";
import { parseHistoryRequest } from "../../../core/histories.ts";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import { parseObservation } from "../../../core/observations.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { modelHistory, type ModelPoint, type ModelRange } from "../../model/histories.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";

const COUNTS = ENTITY_FIELDS.short.counts;

const computeHistory = (points: readonly ModelPoint[], range: ModelRange) =>
  modelHistory(points, COUNTS, range);

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
  .map((rows) => rows.map(([age, counts]): ModelPoint => ({ at: NOW - age, counts })));

/** Two years by the hour; likes are known in the first month only, comments since the last one. */
const LONG_HISTORY: readonly ModelPoint[] = Array.from({ length: 2 * 8760 }, (_, hour) => ({
  at: NOW - hour * HOUR_MS,
  counts: {
    views: 1_000_000 - 10 * hour,
    likes: hour > 2 * 8760 - 720 ? hour : null,
    comments: hour < 720 ? hour : null,
    shares: null,
  },
}));

/** The clocks of two of them are changed in the time of the points. */
const ZONES = ["America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"] as const;

const requests = fc.record({
  interval: fc.constantFrom(...HISTORY_INTERVALS),
  zone: fc.constantFrom(undefined, ...ZONES),
  from: fc.nat(95 * DAY_MS),
  days: fc.integer({ min: 1, max: 100 }),
  limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1000)),
});

async function observe(database: Database, points: readonly ModelPoint[]): Promise<void> {
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

/** Reads all pages of a history. */
async function walkHistory(database: Database, query: Record<string, string>) {
  const { shortHistory } = createVideoReads(database);
  const pages: unknown[][] = [];
  let cursor: string | null = null;
  do {
    const parameters = new URLSearchParams(cursor === null ? query : { ...query, cursor });
    const request = parseHistoryRequest(parameters, NOW);
    const { body } = await shortHistory("someone", "s", request);
    pages.push(body.history);
    cursor = body.pagination.nextCursor;
    expect(body.pagination.hasMore).toBe(cursor !== null);
    if (cursor !== null) {
      const { after = Number.NaN } = parseHistoryRequest(
        new URLSearchParams({ ...query, cursor }),
        NOW,
      );
      expect(formatInstant(after)).toBe(body.history.at(-1)?.timestamp ?? "");
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
            for (const { interval, zone, from: age, days, limit } of queries) {
              const grouping = zone === undefined ? { interval } : { interval, zone };
              const from = NOW - age;
              const to = from + days * DAY_MS;
              const pages = await walkHistory(database, {
                ...grouping,
                from: formatInstant(from),
                to: formatInstant(to),
                limit: String(limit),
              });
              // The first observation of the short, which tells no counts, is older than all of them.
              expect(pages.flat()).toEqual(computeHistory(points, { ...grouping, from, to }));
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
        expect(pages.flat()).toEqual(computeHistory(LONG_HISTORY, { interval, from, to }));
      });
    },
  );

  test("lists the last 30 days by default, until the oldest bucket leaves them", async () => {
    await withDatabase(async (database) => {
      await observe(database, LONG_HISTORY);
      const request = { ...parseHistoryRequest(new URLSearchParams(), NOW), isRecent: true };
      const { body, validDuring } = await createVideoReads(database).shortHistory(
        "c",
        "s",
        request,
      );
      const from = NOW - 30 * DAY_MS;
      const range = { interval: "day", from, to: NOW + 1 } as const;
      expect(body.history).toEqual(computeHistory(LONG_HISTORY, range) as never);
      expect(body).toMatchObject({ channel: "Someone", short_id: "s", interval: "day" });
      const oldest = Date.parse(body.history[0]?.timestamp ?? "");
      // The last instant of a day.
      expect(validDuring).toEqual({ from: NOW, to: oldest + 31 * DAY_MS - 1 });
    });
  });

  test("lists the last 30 days in a time zone, until its oldest bucket leaves them", async () => {
    await withDatabase(async (database) => {
      await observe(database, LONG_HISTORY);
      const zone = "Asia/Kathmandu";
      const query = new URLSearchParams({ zone });
      const request = { ...parseHistoryRequest(query, NOW), isRecent: true };
      const { body, validDuring } = await createVideoReads(database).shortHistory(
        "c",
        "s",
        request,
      );
      const range = { interval: "day", zone, from: NOW - 30 * DAY_MS, to: NOW + 1 } as const;
      expect(body.history).toEqual(computeHistory(LONG_HISTORY, range) as never);
      expect(body).toMatchObject({ interval: "day", zone });
      const oldest = Date.parse(body.history[0]?.timestamp ?? "");
      expect(new Date(oldest).toISOString().slice(11)).toBe("18:15:00.000Z");
      expect(validDuring).toEqual({ from: NOW, to: oldest + 31 * DAY_MS - 1 });
    });
  });

  test("reports what was not found as the details do", async () => {
    await withDatabase(async (database) => {
      await observe(database, []);
      const video = createVideoReads(database);
      const microblog = createMicroblogReads(database);
      const request = parseHistoryRequest(new URLSearchParams(), NOW);
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
