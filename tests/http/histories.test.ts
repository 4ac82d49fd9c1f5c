import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, formatInstant, HOUR_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;

const DAYS = 3;
const INSTANTS = Array.from({ length: DAYS * 24 }, (_, hour) => NOW - hour * HOUR_MS);

/** An observation of each kind every hour, and the path of its history. */
const KINDS = {
  channel: { path: "/api/video/soup/history", counts: ["subscribers", "videoCount", "viewCount"] },
  short: {
    path: "/api/video/soup/short/s1/history",
    counts: ["views", "likes", "comments", "shares"],
  },
  user: {
    path: "/api/microblog/SOMEONE/history",
    counts: ["followers_count", "following_count", "tweet_count"],
  },
  tweet: {
    path: "/api/microblog/someone/tweet/7/history",
    counts: ["likes", "retweets", "replies", "quotes", "impressions"],
  },
} as const;

const IDENTITIES = {
  channel: { id: "UC1", username: "Soup" },
  short: { id: "s1", channel: "UC1", publishedAt: formatInstant(NOW) },
  user: { username: "Someone" },
  tweet: { id: "7", username: "Someone", created_at: formatInstant(NOW) },
};

const CASES = Object.entries(KINDS);

beforeAll(async () => {
  service = await startTestService();
  const observations = CASES.flatMap(([kind, { counts }]) =>
    INSTANTS.map((at, hour) => ({
      kind,
      observedAt: formatInstant(at),
      ...IDENTITIES[kind as keyof typeof IDENTITIES],
      ...Object.fromEntries(counts.map((name, index) => [name, 1000 * (index + 1) - hour])),
    })),
  );
  await service.observe(...observations);
});
afterAll(() => service.close());

async function fetchJson(path: string) {
  const response = await service.get(path);
  return { status: response.status, response, body: Object(await response.json()) };
}

describe("GET …/history", () => {
  test.each(CASES)("200: a bucket of a %s has its counts and changes by name", async (_, kind) => {
    const { path, counts } = kind;
    const from = NOW - DAY_MS;
    const { status, body } = await fetchJson(
      `${path}?interval=hour&limit=2&from=${formatInstant(from)}`,
    );
    expect(status).toBe(200);
    const item = (hours: number) => ({
      timestamp: formatInstant(from + hours * HOUR_MS),
      observedAt: formatInstant(from + hours * HOUR_MS),
      ...Object.fromEntries(counts.map((name, index) => [name, 1000 * (index + 1) - 24 + hours])),
      change: Object.fromEntries(counts.map((name) => [name, 1])),
    });
    expect(body.history).toEqual([item(0), item(1)]);
    expect(body.interval).toBe("hour");
  });

  test.each(CASES)(
    "200: pages of a %s joined by Link are the whole history",
    async (_, { path }) => {
      const whole = await fetchJson(`${path}?interval=raw`);
      expect(whole.body.history).toHaveLength(INSTANTS.length);
      expect(whole.body.pagination).toEqual({ hasMore: false, nextCursor: null });
      expect(whole.response.headers.get("link")).toBeNull();
      const items: unknown[] = [];
      let next: string | undefined = `${path}?interval=raw&limit=25`;
      while (next !== undefined) {
        const { body, response } = await fetchJson(next);
        items.push(...body.history);
        next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
        expect(body.pagination.hasMore).toBe(next !== undefined);
      }
      expect(items).toEqual(whole.body.history);
    },
  );

  test("200: the last 30 days by day, the first change unknown", async () => {
    const { body } = await fetchJson(KINDS.channel.path);
    expect(body.channel).toBe("Soup");
    expect(body.history.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(
      [3, 2, 1, 0].map(
        (days) => `${formatInstant(NOW - days * DAY_MS).slice(0, 10)}T00:00:00.000Z`,
      ),
    );
    expect(body.history[0].change).toEqual({
      subscribers: null,
      videoCount: null,
      viewCount: null,
    });
  });

  test.each(CASES)("200: a %s by day in a time zone, which the response names", async (_, kind) => {
    const { body } = await fetchJson(`${kind.path}?zone=asia/kathmandu&format=json`);
    expect([body.interval, body.zone]).toEqual(["day", "Asia/Kathmandu"]);
    expect(body.history.map(({ timestamp }: { timestamp: string }) => timestamp)).toEqual(
      [4, 3, 2, 1].map(
        (days) => `${formatInstant(NOW - days * DAY_MS).slice(0, 10)}T18:15:00.000Z`,
      ),
    );
    expect(Object.keys(body).slice(-4)).toEqual(["interval", "zone", "history", "pagination"]);
    const csv = await (await service.get(`${kind.path}?zone=Asia/Kathmandu&format=csv`)).text();
    expect(csv.split(/\r?\n/)[1]).toStartWith(body.history[0].timestamp);
    const utc = await fetchJson(kind.path);
    expect(utc.body).not.toHaveProperty("zone");
  });

  test("200: a bucket leaves the default range as time passes, whatever was cached", async () => {
    const url = `${KINDS.channel.path}?interval=raw`;
    const before = await fetchJson(url);
    service.clock.now = NOW + 28 * DAY_MS;
    const after = await fetchJson(url);
    service.clock.now = NOW;
    expect(after.body.history).toEqual(before.body.history.slice(23));
  });

  test("200: an observation changes the response, whatever was cached", async () => {
    const path = "/api/microblog/changing/history?interval=day";
    const observeChange = (at: number, counts: object) =>
      service.observe({
        kind: "user",
        observedAt: formatInstant(at),
        username: "Changing",
        ...counts,
      });
    await observeChange(NOW - DAY_MS, { followers_count: 70, following_count: 7 });
    await observeChange(NOW, { followers_count: 75, following_count: 8 });
    const before = await fetchJson(path);
    await observeChange(NOW + 1000, { followers_count: 77 });
    const { body } = await fetchJson(path);
    expect(body.history).toHaveLength(before.body.history.length);
    const { following_count } = before.body.history.at(-1);
    expect(following_count).toBe(8);
    expect(body.history.at(-1)).toMatchObject({ followers_count: 77, following_count });
  });

  test.each([
    ...CASES.map(([, { path }]) => [path] as const),
    ...CASES.map(
      ([, { path }]) =>
        [
          path.includes("short") || path.includes("tweet")
            ? path.replace(/.history$/, "")
            : path.replace("history", "details"),
        ] as const,
    ),
    ["/api/microblog/someone/followers"],
  ])("200: %s has the instant of the newest observation as X-Observed-At", async (path) => {
    const { response } = await fetchJson(path);
    expect(Date.parse(response.headers.get("x-observed-at") ?? "")).toBeGreaterThanOrEqual(NOW);
    const again = await service.get(path, service.key, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get("x-observed-at")).toBe(response.headers.get("x-observed-at"));
  });

  test("304: the response that the client has costs one credit", async () => {
    const { response } = await fetchJson(KINDS.tweet.path);
    const again = await service.get(KINDS.tweet.path, service.key, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect([again.status, again.headers.get("x-credits-cost")]).toEqual([304, "1"]);
  });

  test.each([
    ["/api/video/nobody/history", "Channel nobody not found"],
    ["/api/video/nobody/short/s1/history", "Channel nobody not found"],
    ["/api/video/soup/short/no/history", "Short no not found for channel soup"],
    ["/api/microblog/nobody/history", "User Not Found"],
    ["/api/microblog/someone/tweet/no/history", "Tweet Not Found"],
  ])("404: %s", async (path, error) => {
    const { status, body, response } = await fetchJson(path);
    expect([status, body.error]).toEqual([404, error]);
    expect(response.headers.get("x-credits-cost")).toBe("1");
  });

  test.each(CASES)("400: the cursor of another interval, of a %s", async (_, { path }) => {
    const hours = await fetchJson(`${path}?interval=hour&limit=1`);
    const cursor = hours.body.pagination.nextCursor;
    const { status, body } = await fetchJson(`${path}?interval=month&cursor=${cursor}`);
    expect([status, body.message ?? body.error]).toEqual([
      400,
      expect.stringContaining(`with the same interval (month), got "${cursor}"`),
    ]);
  });

  test.each(CASES)("400: the cursor of another zone, of a %s", async (_, { path }) => {
    const lisbon = await fetchJson(`${path}?zone=Europe/Lisbon&limit=1`);
    const cursor = lisbon.body.pagination.nextCursor;
    for (const [query, named] of [
      ["", "interval (day)"],
      ["&zone=Europe/London", "interval (day) and zone (Europe/London)"],
    ]) {
      const { status, body } = await fetchJson(`${path}?cursor=${cursor}${query}`);
      expect([status, body.message ?? body.error]).toEqual([
        400,
        expect.stringContaining(`with the same ${named}, got "${cursor}"`),
      ]);
    }
  });

  const WRONG_QUERIES = [
    "zone=",
    "zone=Mars/Phobos",
    "zone=%2B02:00",
    "zone=Europe%2FLisbon&zone=UTC",
    `zone=${"x".repeat(100)}`,
    "from=yesterday",
    "to=2026-02-30",
    "from=2026-02-02&to=2026-02-01",
    "interval=year",
    "interval=day&interval=day",
    "limit=1001",
    "limit=",
    "cursor=%F0%9F%98%80",
    "cursor=next",
    "interval=raw&cursor=null",
  ];

  test.each(
    CASES.flatMap(([kind, { path }]) => WRONG_QUERIES.map((query) => [kind, query, path] as const)),
  )("400: of a %s with %s, free and with what is allowed", async (_, query, path) => {
    const readBalance = async () => (await fetchJson("/api/account")).body.balance;
    const before = await readBalance();
    const { status, body } = await fetchJson(`${path}?${query}`);
    expect(status).toBe(400);
    expect(body.message ?? body.error).toMatch(/ must be | must be given once/);
    if (path.includes("microblog")) {
      const isLimit = query.startsWith("limit");
      expect(body.error).toBe(isLimit ? "Invalid Pagination Parameters" : "Invalid Request");
    }
    expect(await readBalance()).toBe(before);
  });
});
