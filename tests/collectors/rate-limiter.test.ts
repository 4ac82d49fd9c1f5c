import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";
import { createSourceRateLimiter } from "../../server/collectors/rate-limiter.ts";
import type { QuotaBucket } from "../../server/collectors/collector.ts";
import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import { createXCollector } from "../../server/collectors/x/collector.ts";

const BUCKET = "general";

/** A pace under a clock that only the test moves; asked again and again where it lets itself be. */
function createLimiter(bucket: QuotaBucket, isPaced = true) {
  const clock = { now: Date.parse("2026-11-20T12:00:00.000Z") };
  const collector = {
    ...createBlueskyCollector({ baseUrl: "http://127.0.0.1" }),
    buckets: { [BUCKET]: bucket },
  };
  const rateLimiter = createSourceRateLimiter(collector, () => clock.now);
  return {
    clock,
    pace: rateLimiter,
    /** How many requests it allows within a time. */
    requestsWithin(ms: number): number {
      const end = clock.now + ms;
      let requests = 0;
      for (;;) {
        const at = Math.ceil(rateLimiter.readyAt(BUCKET, { isPaced }));
        if (at >= end) break;
        clock.now = Math.max(clock.now, at);
        rateLimiter.take(BUCKET);
        requests++;
      }
      clock.now = end;
      return requests;
    },
  };
}

describe("the pace of a source", () => {
  test("spreads nine tenths of a day's quota over the day", () => {
    const { requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    const hours = Array.from({ length: 24 }, () => requestsWithin(HOUR_MS));
    expect(Math.max(...hours.slice(1))).toBeLessThanOrEqual(376);
    expect(hours.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(9100);
    expect(hours.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(8900);
  });

  test.each([HOUR_MS, 2 * DAY_MS, 400 * DAY_MS])(
    "allows no burst after nothing was asked for %d ms",
    (awayMs) => {
      const { clock, requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
      requestsWithin(HOUR_MS);
      clock.now += awayMs;
      // What ten minutes give at once, and then what an hour gives.
      expect(requestsWithin(HOUR_MS)).toBeLessThanOrEqual(63 + 375 + 1);
    },
  );

  test("what was used by hand is not owed for longer than what may be used at once", () => {
    const { clock, pace } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    for (let requests = 0; requests < 9000; requests++) pace.take(BUCKET);
    expect(pace.readyAt(BUCKET, { isPaced: true }) - clock.now).toBeLessThan(11 * MINUTE_MS);
  });
});

describe("a window of requests", () => {
  const collectors = [
    createYoutubeCollector({ baseUrl: "http://127.0.0.1", apiKey: "simulated-key" }),
    createXCollector({ baseUrl: "http://127.0.0.1", bearerToken: "simulated-token" }),
    createBlueskyCollector({ baseUrl: "http://127.0.0.1" }),
  ];
  const windowed = collectors.flatMap(({ source, buckets }) =>
    Object.entries(buckets).flatMap(([name, bucket]) =>
      bucket.window === undefined ? [] : [{ name: `${source} ${name}`, bucket, ...bucket.window }],
    ),
  );

  test.each(windowed)("of $name is not overstepped, from the first request on", (window) => {
    for (const isPaced of [true, false]) {
      const { requestsWithin } = createLimiter(window.bucket, isPaced);
      for (let windows = 0; windows < 4; windows++) {
        expect(requestsWithin(window.durationMs)).toBeLessThanOrEqual(0.9 * window.requests);
      }
    }
  });

  test("begins with its first request, and is whole again when it is over", () => {
    const window = { requests: 10, durationMs: 15 * MINUTE_MS };
    const { clock, pace, requestsWithin } = createLimiter(
      { unitsPerDay: 1e9, zone: "UTC", window },
      false,
    );
    clock.now += 7 * MINUTE_MS;
    expect(requestsWithin(MINUTE_MS)).toBe(9);
    expect(pace.readyAt(BUCKET, { isPaced: false })).toBe(clock.now + 14 * MINUTE_MS);
    clock.now += 14 * MINUTE_MS;
    expect(requestsWithin(MINUTE_MS)).toBe(9);
  });
});

describe("a pause", () => {
  test("holds until it is over, paced or not", () => {
    const { clock, pace } = createLimiter({ unitsPerDay: 1e9, zone: "UTC" });
    const until = clock.now + HOUR_MS;
    pace.pause(BUCKET, until);
    expect(pace.readyAt(BUCKET, { isPaced: true })).toBe(until);
    expect(pace.readyAt(BUCKET, { isPaced: false })).toBe(until);
    expect(pace.pausedUntil(BUCKET)).toBe(until);
    clock.now = until;
    expect(pace.readyAt(BUCKET, { isPaced: false })).toBe(until);
    expect(pace.pausedUntil(BUCKET)).toBeUndefined();
  });
});

describe("a clock that is set back by a year", () => {
  test("holds nobody up for longer than a window", () => {
    const window = { requests: 10, durationMs: 15 * MINUTE_MS };
    const { clock, requestsWithin } = createLimiter({ unitsPerDay: 1e9, zone: "UTC", window });
    expect(requestsWithin(MINUTE_MS)).toBe(9);
    clock.now -= 365 * DAY_MS;
    expect(requestsWithin(15 * MINUTE_MS)).toBe(0);
    expect(requestsWithin(MINUTE_MS)).toBe(9);
  });

  test("brings no units, and lets them come as before", () => {
    const { clock, requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    requestsWithin(HOUR_MS);
    clock.now -= 365 * DAY_MS;
    const hour = requestsWithin(HOUR_MS);
    expect(hour).toBeGreaterThan(370);
    expect(hour).toBeLessThanOrEqual(376);
  });
});
