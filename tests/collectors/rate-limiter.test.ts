import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { createBlueskyCollector } from "../../server/collectors/bluesky/collector.ts";
import { createSourceRateLimiter } from "../../server/collectors/rate-limiter.ts";
import type { QuotaBucket } from "../../server/collectors/collector.ts";
import { createYoutubeCollector } from "../../server/collectors/youtube/collector.ts";
import { createXCollector } from "../../server/collectors/x/collector.ts";

const BUCKET = "general";

/** Creates a rate limiter of one bucket, with a clock that only the test moves. */
function createLimiter(bucket: QuotaBucket, isPaced = true) {
  const clock = { now: Date.parse("2026-11-20T12:00:00.000Z") };
  const collector = {
    ...createBlueskyCollector({ baseUrl: "http://127.0.0.1", credential: "" }),
    buckets: { [BUCKET]: bucket },
  };
  const rateLimiter = createSourceRateLimiter(collector, () => clock.now);
  return {
    clock,
    rateLimiter,
    /** Sends as many requests as it allows within a time. @returns Their number. */
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

describe("readyAt() with a pace", () => {
  test("spreads 9/10 of a day's quota over the day", () => {
    const { requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    const hours = Array.from({ length: 24 }, () => requestsWithin(HOUR_MS));
    expect(Math.max(...hours.slice(1))).toBeLessThanOrEqual(376);
    expect(hours.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(9100);
    expect(hours.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(8900);
  });

  test.each([HOUR_MS, 2 * DAY_MS, 400 * DAY_MS])(
    "allows no larger burst after %d ms without requests",
    (awayMs) => {
      const { clock, requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
      requestsWithin(HOUR_MS);
      clock.now += awayMs;
      // The burst of ten minutes, and then the pace of an hour.
      expect(requestsWithin(HOUR_MS)).toBeLessThanOrEqual(63 + 375 + 1);
    },
  );

  test.each([
    ["ten minutes", 200_000, 1250],
    ["20 units at least", 100, 20],
  ])("allows a burst of %s", (_, unitsPerDay, burst) => {
    expect(createLimiter({ unitsPerDay, zone: "UTC" }).requestsWithin(1)).toBe(burst);
  });

  test("limits the debt after many unpaced requests to one burst", () => {
    const { clock, rateLimiter } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    for (let requests = 0; requests < 9000; requests++) rateLimiter.take(BUCKET);
    expect(rateLimiter.readyAt(BUCKET, { isPaced: true }) - clock.now).toBeLessThan(11 * MINUTE_MS);
  });
});

describe("a rate limit window", () => {
  const collectors = [
    createYoutubeCollector({ baseUrl: "http://127.0.0.1", credential: "simulated-key" }),
    createXCollector({ baseUrl: "http://127.0.0.1", credential: "simulated-token" }),
    createBlueskyCollector({ baseUrl: "http://127.0.0.1", credential: "" }),
  ];
  const windowed = collectors.flatMap(({ source, buckets }) =>
    Object.entries(buckets).flatMap(([name, bucket]) =>
      bucket.window === undefined ? [] : [{ name: `${source} ${name}`, bucket, ...bucket.window }],
    ),
  );

  test.each(windowed)("of $name is never overstepped", (window) => {
    for (const isPaced of [true, false]) {
      const { requestsWithin } = createLimiter(window.bucket, isPaced);
      for (let windows = 0; windows < 4; windows++) {
        expect(requestsWithin(window.durationMs)).toBeLessThanOrEqual(0.9 * window.requests);
      }
    }
  });

  test("begins with its first request, and is full again after its end", () => {
    const window = { requests: 10, durationMs: 15 * MINUTE_MS, headerPrefix: "limit" };
    const { clock, rateLimiter, requestsWithin } = createLimiter(
      { unitsPerDay: 1e9, zone: "UTC", window },
      false,
    );
    clock.now += 7 * MINUTE_MS;
    expect(requestsWithin(MINUTE_MS)).toBe(9);
    expect(rateLimiter.readyAt(BUCKET, { isPaced: false })).toBe(clock.now + 14 * MINUTE_MS);
    clock.now += 14 * MINUTE_MS;
    expect(requestsWithin(MINUTE_MS)).toBe(9);
  });
});

describe("pause()", () => {
  test("delays paced and unpaced requests until its end", () => {
    const { clock, rateLimiter } = createLimiter({ unitsPerDay: 1e9, zone: "UTC" });
    const until = clock.now + HOUR_MS;
    rateLimiter.pause(BUCKET, until);
    expect(rateLimiter.readyAt(BUCKET, { isPaced: true })).toBe(until);
    expect(rateLimiter.readyAt(BUCKET, { isPaced: false })).toBe(until);
    expect(rateLimiter.pausedUntil(BUCKET)).toBe(until);
    clock.now = until;
    expect(rateLimiter.readyAt(BUCKET, { isPaced: false })).toBe(until);
    expect(rateLimiter.pausedUntil(BUCKET)).toBeUndefined();
  });
});

describe("a clock that goes back by a year", () => {
  test("delays requests by one window at most", () => {
    const window = { requests: 10, durationMs: 15 * MINUTE_MS, headerPrefix: "limit" };
    const { clock, requestsWithin } = createLimiter({ unitsPerDay: 1e9, zone: "UTC", window });
    expect(requestsWithin(MINUTE_MS)).toBe(9);
    clock.now -= 365 * DAY_MS;
    expect(requestsWithin(15 * MINUTE_MS)).toBe(0);
    expect(requestsWithin(MINUTE_MS)).toBe(9);
  });

  test("adds no tokens, and they refill as before", () => {
    const { clock, requestsWithin } = createLimiter({ unitsPerDay: 10_000, zone: "UTC" });
    requestsWithin(HOUR_MS);
    clock.now -= 365 * DAY_MS;
    const hour = requestsWithin(HOUR_MS);
    expect(hour).toBeGreaterThan(370);
    expect(hour).toBeLessThanOrEqual(376);
  });
});
