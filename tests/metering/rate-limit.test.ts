import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { createAbortLimiter, createRateLimiter } from "../../server/metering/rate-limit.ts";

const MINUTE_MS = 60_000;

test("createRateLimiter() keeps every key that has used its requests, however many there are", () => {
  const clock = { now: 0 };
  const admit = createRateLimiter(1, () => clock.now);
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(true);
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(false);
  clock.now = MINUTE_MS;
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(true);
});

test("createRateLimiter() keeps a key across the end of a window", () => {
  const clock = { now: 0 };
  const admit = createRateLimiter(1, () => clock.now);
  clock.now = MINUTE_MS - 1;
  expect(admit(1).isAdmitted).toBe(true);
  // Key 2 begins the next window.
  clock.now = MINUTE_MS;
  expect(admit(2).isAdmitted).toBe(true);
  clock.now = 2 * MINUTE_MS - 2;
  expect(admit(1).isAdmitted).toBe(false);
  clock.now = 2 * MINUTE_MS - 1;
  expect(admit(1).isAdmitted).toBe(true);
});

test("createRateLimiter() gives no token for a clock that goes back a day, and none on its return", () => {
  const clock = { now: 86_400_000 };
  const admit = createRateLimiter(1, () => clock.now);
  expect(admit(1).isAdmitted).toBe(true);
  clock.now = 0;
  for (const key of [2, 1]) expect(admit(key).isAdmitted).toBe(key === 2);
  clock.now = 86_400_000;
  expect(admit(2).isAdmitted).toBe(true);
  expect(admit(2).isAdmitted).toBe(false);
});

test("createAbortLimiter() rejects a key once its clients have left too often, until a token is back", () => {
  const clock = { now: 0 };
  const { countAbort, getRetryAfterS, maxPerMinute } = createAbortLimiter(() => clock.now);
  for (let nth = 1; nth < maxPerMinute; nth++) countAbort(1);
  expect(getRetryAfterS(1)).toBe(0);
  countAbort(1);
  expect([getRetryAfterS(1), getRetryAfterS(2)]).toEqual([1, 0]);
  clock.now = MINUTE_MS / maxPerMinute;
  expect(getRetryAfterS(1)).toBe(0);
  countAbort(1);
  expect(getRetryAfterS(1)).toBe(1);
});

test("createRateLimiter() takes as long for a request among 20,000 active keys as among 100", () => {
  const few = measureFastestRoundMs(100);
  const many = measureFastestRoundMs(20_000);
  // A map of 20,000 fits the processor's caches less well. Walking it takes 500 times as long.
  expect(many / few).toBeLessThan(25);
});

test("createRateLimiter() holds the keys of two windows at most", () => {
  const clock = { now: 0 };
  const admit = createRateLimiter(1, () => clock.now);
  const perWindow = 5000;
  const before = countLiveObjects();
  for (let key = 0; key < 20 * perWindow; key++) {
    if (key % perWindow === 0) clock.now += MINUTE_MS;
    admit(key);
  }
  const held = countLiveObjects() - before;
  expect(held).toBeLessThan(3 * perWindow);
  expect(admit(20 * perWindow - 1).isAdmitted).toBe(false);
});

/** The shortest time of 20 rounds of 20,000 requests by so many keys within one minute. */
function measureFastestRoundMs(keys: number): number {
  const admit = createRateLimiter(1000, () => 0);
  for (let key = 0; key < keys; key++) admit(key);
  const rounds = Array.from({ length: 20 }, () => {
    const start = performance.now();
    for (let index = 0; index < 20_000; index++) admit(index % keys);
    return performance.now() - start;
  });
  return Math.min(...rounds);
}

/** The plain objects that are reachable. A bucket is one. */
function countLiveObjects(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts["Object"] ?? 0;
}
