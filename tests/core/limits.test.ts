/** Pins the limits, so that none changes by accident. */
import { expect, test } from "bun:test";
import * as limits from "../../core/limits.ts";

test("limits have the numbers of the specification", () => {
  expect(limits.SHORTS_LIMIT_RANGE).toEqual({ min: 1, max: 100, default: 20 });
  expect(limits.DAYS_FILTER_RANGE).toEqual({ min: 1, max: 14, default: 3 });
  expect(limits.PAGE_LIMIT_RANGE).toEqual({ min: 1, max: 100, default: 50 });
  expect(limits.PAGE_NUMBER_RANGE).toEqual({ min: 0, max: 2 ** 53 - 1, default: 0 });
});

test("the other limits keep their sizes", () => {
  expect(limits.INTEGER_MAX).toBe(2 ** 53 - 1);
  expect(limits.IDENTIFIER_MAX_CHARACTERS).toBe(256);
  expect(limits.LINK_MAX_CHARACTERS).toBe(2048);
  expect(limits.TEXT_MAX_CHARACTERS).toBe(65_536);
  expect(limits.OBSERVATION_LINE_MAX_BYTES).toBe(1024 * 1024);
  expect(limits.PICTURE_MAX_BYTES).toBe(1024 * 1024);
  expect(limits.PICTURE_MAX_PIXELS).toBe(2048 * 2048);
  expect(limits.ADMIN_SESSION_HOURS).toBe(12);
  expect(limits.ADMIN_SESSIONS_MAX).toBe(100);
  expect(limits.CLOCK_SKEW_MAX_MS).toBe(300_000);
  expect(limits.HISTORY_MAX_POINTS).toBe(1000);
  expect(limits.TWEET_RECORD_MAX_POINTS).toBe(250);
});
