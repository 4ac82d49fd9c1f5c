import { describe, expect, test } from "bun:test";
import { computeIntervalMs, QUOTA_RESERVE_RATIO } from "../../server/collectors/poll-schedule.ts";
import { HOUR_MS } from "../../core/time.ts";
import { SOURCES } from "../../server/collectors/sources.ts";
import { findSource, SOURCE_NAMES } from "../support/platforms/source-names.ts";
import { readDoc } from "../support/docs.ts";

test("each source has a fake platform", () => {
  expect(SOURCES.map(({ name }) => name)).toEqual([...SOURCE_NAMES]);
});

describe("server/COLLECTING.md", () => {
  test("says how often an item of each age is polled", async () => {
    const text = await readDoc("server/COLLECTING.md");
    const hours = Object.fromEntries(
      [12, 24, 7 * 24, 30 * 24, 90 * 24, 336 * 24].map((age) => [
        age,
        computeIntervalMs("counts", age * HOUR_MS) / HOUR_MS,
      ]),
    );
    expect(hours).toEqual({ 12: 0.5, 24: 1, 168: 7, 720: 30, 2160: 90, 8064: 14 * 24 });
    const lists = [6 * 24, 7 * 24, 24 * 24, Infinity].map(
      (age) => computeIntervalMs("items", age * HOUR_MS) / HOUR_MS,
    );
    expect(lists).toEqual([6, 7, 24, 24]);
    for (const row of [
      "| a list of shorts or tweets | when the profile shows another number of them |",
      "| a list whose newest item is up to 6 days old | also every 6 hours |",
      "| a list whose newest item is a week old | also every 7 hours |",
      "| a list whose newest item is 24 days old or older, or that is empty | also every day |",
      "| a short or tweet up to 12 hours old | every 30 minutes |",
      "| a day old | every hour |",
      "| a week old | every 7 hours |",
      "| 30 days old | every 30 hours |",
      "| 90 days old | every 90 hours |",
      "| 336 days old or older | every 14 days |",
    ]) {
      expect(text).toContain(row);
    }
  });

  test("says the quota of each source", async () => {
    const text = await readDoc("server/COLLECTING.md");
    const english = (count: number) => count.toLocaleString("en");
    const connection = { baseUrl: "http://127.0.0.1", credential: "" };
    const [tube, xSource, sky] = await Promise.all(
      (["youtube", "x", "bluesky"] as const).map(async (name) =>
        (await findSource(name).loadCollector())(connection),
      ),
    );
    const allowed = (units = 0) => english(units * (1 - QUOTA_RESERVE_RATIO));
    expect(text).toContain(allowed(tube?.buckets["general"]?.unitsPerDay));
    for (const bucket of Object.values(xSource?.buckets ?? {})) {
      expect(text).toContain(allowed(bucket.window?.requests));
    }
    expect(text).toContain(allowed(sky?.buckets["general"]?.unitsPerDay));
    expect(text).toContain(allowed(sky?.buckets["general"]?.window?.requests));
  });
});
