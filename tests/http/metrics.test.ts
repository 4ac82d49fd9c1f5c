/** The endpoints of metrics by status, and the setting that turns derived figures off. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { METRICS } from "../../core/metrics/catalog.ts";
import { ESTIMATES } from "../../core/metrics/estimate-catalog.ts";
import type { ChannelMetrics, ShortMetrics } from "../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import {
  assertSortIsGiven,
  hideDerivedFigures,
  isDerivedFigure,
} from "../../server/http/derived-figures.ts";
import { catchDomainError } from "../support/domain-error.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

/** A channel that YouTube rounds: by 1,000 a day past 1,000,000, a step of 10,000 in 10 days. */
const CHANNEL = Array.from({ length: 121 }, (_, index) => {
  const hours = (120 - index) * 6;
  const count = 1_010_000 - hours * (1000 / 24) * 2;
  const step = count < 1_000_000 ? 1000 : 10_000;
  return {
    kind: "channel",
    observedAt: formatInstant(NOW - hours * HOUR_MS),
    id: "UC1",
    username: "Soup",
    subscribers: Math.floor(count / step) * step,
    viewCount: 5_000_000 - hours,
  };
});

/** A user whose followers grow by 11 a day, and are known exactly. */
const USER = Array.from({ length: 31 }, (_, day) => ({
  kind: "user",
  observedAt: formatInstant(NOW - (30 - day) * DAY_MS),
  username: "NASA",
  followers_count: 860 + day * 11,
}));

/** Seven shorts, a day apart, seen each 12 hours; the last has three times as many views. */
const SHORTS = Array.from({ length: 7 }, (_, index) =>
  [0, 12, 24].map((age) => ({
    kind: "short",
    id: `s${index}`,
    channel: "UC1",
    publishedAt: formatInstant(NOW - (7 - index) * DAY_MS),
    observedAt: formatInstant(NOW - (7 - index) * DAY_MS + age * HOUR_MS),
    views: age * 100 * (index === 6 ? 3 : 1),
    likes: age * 5,
    comments: age,
    shares: index === 6 ? 24 : null,
  })),
).flat();

const TWEET = {
  kind: "tweet",
  id: "t1",
  username: "NASA",
  created_at: formatInstant(NOW - HOUR_MS),
  observedAt: formatInstant(NOW),
  likes: 3,
};

const LINES = [...CHANNEL, ...USER, ...SHORTS, TWEET];

const PATHS = [
  "/api/video/soup/metrics",
  "/api/video/soup/short/s6/metrics",
  "/api/microblog/nasa/metrics",
  "/api/microblog/nasa/tweet/t1/metrics",
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(...LINES);
}, 60_000);
afterAll(() => service.close());

const read = async <Body>(path: string, { get } = service): Promise<Body> =>
  (await (await get(path)).json()) as Body;

describe("GET /api/video/{channel}/metrics", () => {
  test("200: has all metrics of the catalog in its order, and estimates of rounded subscribers", async () => {
    const response = await service.get("/api/video/SOUP/metrics");
    expect([response.status, response.headers.get("x-credits-cost")]).toEqual([200, "1"]);
    expect(response.headers.get("x-observed-at")).toBe(formatInstant(NOW));
    const body = (await response.json()) as ChannelMetrics;
    expect(Object.keys(body)).toEqual([
      "channel",
      "observedAt",
      "metrics",
      ...Object.keys(ESTIMATES),
    ]);
    expect(Object.keys(body.metrics)).toEqual(Object.keys(METRICS.channel));
    expect(body).toMatchObject({
      channel: "Soup",
      observedAt: formatInstant(NOW),
      metrics: {
        weeklySubscriberGain: 14_000,
        weeklySubscriberGainPercent: 1.4056,
        dailyViewGain: 24,
        dailyViewGainPercent: 0.0005,
        dailyVideoGain: null,
      },
      roundingStep: 10_000,
      milestone: { milestone: 1_000_000, at: formatInstant(NOW - 5 * DAY_MS) },
    });
    // It grows by 2,000 a day, and has just reached 1,010,000.
    expect(body.trend?.perDay).toBeWithin(1950, 2050);
    expect(body.trend?.estimate).toBeWithin(1_010_000, 1_011_000);
    expect(body.projection?.milestone).toBe(2_000_000);
    expect(Object.values(body.projection ?? {})[1]).toStartWith("2028-03");
  });
});

describe("GET /api/video/{channel}/short/{short_id}/metrics", () => {
  test("200: compares a breakout with the six shorts before it", async () => {
    expect(await read<ShortMetrics>("/api/video/soup/short/s6/metrics")).toEqual({
      channel: "Soup",
      short_id: "s6",
      observedAt: formatInstant(NOW),
      metrics: {
        ageHours: 24,
        viewsPerHour: 300,
        viewsPerDay: 7200,
        engagement: 0.0233,
        likeRate: 0.0167,
        ageMultiple: 3,
      },
      ageComparison: { comparedItems: 6, median: 2400 },
    });
    expect(await read<ShortMetrics>("/api/video/soup/short/s4/metrics")).toMatchObject({
      metrics: { engagement: null, ageMultiple: null },
      ageComparison: { comparedItems: 4, median: null },
    });
  });
});

describe("GET /api/microblog/{username}/metrics", () => {
  test("200: has the gains of details, and a projection of exact followers", async () => {
    expect(await read("/api/microblog/nasa/metrics")).toMatchObject({
      username: "NASA",
      metrics: { dailyFollowerGain: 11, monthlyFollowerGainPercent: 38.3721 },
      roundingStep: null,
      trend: null,
      // 810 more, by 11 a day.
      projection: { milestone: 2000, from: "2027-02-02T03:16:21.818Z" },
      milestone: { milestone: 1000, at: formatInstant(NOW - 17 * DAY_MS) },
    });
  });
});

describe("GET /api/microblog/{username}/tweet/{tweet_id}/metrics", () => {
  test("200: without impressions, all but the age is null", async () => {
    expect(await read("/api/microblog/nasa/tweet/t1/metrics")).toEqual({
      username: "NASA",
      tweet_id: "t1",
      observedAt: formatInstant(NOW),
      metrics: {
        ageHours: 1,
        impressionsPerHour: null,
        impressionsPerDay: null,
        engagement: null,
        likeRate: null,
        ageMultiple: null,
      },
      ageComparison: { comparedItems: 0, median: null },
    });
  });
});

describe("all endpoints of metrics", () => {
  test("400: they have no parameters, and it costs nothing", async () => {
    for (const path of [...PATHS, "/api/metrics"]) {
      const response = await service.get(`${path}?format=csv`);
      expect([response.status, response.headers.get("x-credits-cost")]).toEqual([400, null]);
    }
  });

  test("401 and 402: they need a key, and a credit", async () => {
    const { key: poor } = await service.createAccountWithKey(1);
    for (const path of PATHS) expect((await service.get(path, "")).status).toBe(401);
    expect((await service.get("/api/metrics", "")).status).toBe(401);
    const statuses = [];
    for (const path of PATHS) statuses.push((await service.get(path, poor)).status);
    expect(statuses).toEqual([200, 402, 402, 402]);
    expect((await service.get("/api/metrics", poor)).status).toBe(200);
  });

  test("200 or 402: concurrent and repeated reads spend exactly the credits of the account", async () => {
    const { key, account } = await service.createAccountWithKey(30);
    const init = (index: number) => ({ headers: { "idempotency-key": `retry-${index % 2}` } });
    const responses = await Promise.all([
      ...Array.from({ length: 40 }, (_, index) => service.get(PATHS[index % 4] ?? "", key)),
      // Of a key that is sent again, only the first request pays.
      ...Array.from({ length: 4 }, (_, index) =>
        service.get(PATHS[index % 2] ?? "", key, init(index)),
      ),
    ]);
    const costs = responses.map(({ headers }) => Number(headers.get("x-credits-cost") ?? 0));
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(30);
    expect(responses.every(({ status }) => status === 200 || status === 402)).toBe(true);
    expect(await service.readSums(account)).toEqual({ balance: 0, debited: 30, refunded: 0 });
  });

  test("404: what is unknown is charged", async () => {
    for (const path of [
      "/api/video/nobody/metrics",
      "/api/video/soup/short/nothing/metrics",
      "/api/microblog/nobody/metrics",
      "/api/microblog/nasa/tweet/7/metrics",
    ]) {
      const response = await service.get(path);
      expect([response.status, response.headers.get("x-credits-cost")]).toEqual([404, "1"]);
    }
  });

  test("are fresh after an import, also of an earlier item", async () => {
    const own = await startTestService();
    await own.observe(...LINES);
    const path = "/api/video/soup/short/s6/metrics";
    expect((await read<ShortMetrics>(path, own)).metrics.ageMultiple).toBe(3);
    for (const index of [0, 1, 2, 3]) {
      const observedAt = formatInstant(NOW - (6 - index) * DAY_MS);
      const corrected = { id: `s${index}`, channel: "UC1", observedAt, views: 3600 };
      await own.observe({ kind: "short", ...corrected });
    }
    expect((await read<ShortMetrics>(path, own)).metrics.ageMultiple).toBe(2);
    await own.close();
  });
});

test("GET /api/metrics lists every metric, for nothing", async () => {
  const response = await service.get("/api/metrics");
  expect(response.headers.get("x-credits-cost")).toBeNull();
  const body = (await response.json()) as { metrics: { kind: string; name: string }[] };
  const names = Object.entries(METRICS).flatMap(([kind, metrics]) =>
    Object.keys(metrics).map((name) => `${kind} ${name}`),
  );
  expect(body.metrics.map(({ kind, name }) => `${kind} ${name}`)).toEqual(names);
  expect(body).toMatchObject({ derivedMetrics: ["video", "microblog"] });
});

describe("DERIVED_METRICS", () => {
  test("turns derived figures of a platform to null, and leaves counts, gains and ages", async () => {
    const own = await startTestService({ DERIVED_METRICS: "microblog" });
    await own.observe(...LINES);
    expect(await read("/api/video/soup/metrics", own)).toMatchObject({
      metrics: { weeklySubscriberGain: 14_000, weeklySubscriberGainPercent: null },
      roundingStep: 10_000,
      trend: null,
      projection: null,
      milestone: null,
    });
    const short = await read<ShortMetrics>("/api/video/soup/short/s6/metrics", own);
    const { ageHours, ...others } = short.metrics;
    expect([ageHours, short.ageComparison]).toEqual([24, null]);
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
    expect(await read("/api/microblog/nasa/metrics", own)).toMatchObject({
      metrics: { monthlyFollowerGainPercent: 38.3721 },
      milestone: { milestone: 1000 },
    });
    expect(await read("/api/metrics", own)).toMatchObject({ derivedMetrics: ["microblog"] });
    await own.close();
  });

  test("isDerivedFigure() knows metrics, estimates and nothing else", () => {
    expect(isDerivedFigure("short", "ageMultiple")).toBe(true);
    expect(isDerivedFigure("user", "projection")).toBe(true);
    for (const name of ["roundingStep", "dailyFollowerGain", "followers_count", "constructor"]) {
      expect(isDerivedFigure("user", name)).toBe(false);
    }
    expect(hideDerivedFigures("user", { trend: 1, views: 2 }, ["microblog"])).toEqual({
      trend: 1,
      views: 2,
    });
  });

  test("assertSortIsGiven() refuses to sort by what is not given, and says why", () => {
    assertSortIsGiven("channel", "dailySubscriberGainPercent", ["video"]);
    assertSortIsGiven("channel", "dailySubscriberGain", []);
    const error = catchDomainError(() =>
      assertSortIsGiven("channel", "dailySubscriberGainPercent", ["microblog"]),
    );
    expect(error?.message).toBe(
      'sort must be a figure that this service gives, got "dailySubscriberGainPercent": its operator ' +
        "turned derived figures of video off (DERIVED_METRICS)",
    );
  });
});
