import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ConnectionError,
  createClient,
  type Client,
  MetricsError,
  type FetchLike,
} from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

const DAYS = 5;
const DAY_MS = 86_400_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const at = (day: number) => new Date(NOW - day * DAY_MS).toISOString();
  const days = Array.from({ length: DAYS }, (_, day) => day);
  await service.observe(
    ...days.map((day) => ({
      kind: "channel",
      observedAt: at(day),
      id: "UC1",
      username: "Soup",
      subscribers: 100 - day,
    })),
    ...days.map((day) => ({
      kind: "user",
      observedAt: at(day),
      username: "Nasa",
      followers_count: 50 - day,
    })),
    ...days.map((nth) => ({
      kind: "short",
      observedAt: at(0),
      channel: "UC1",
      id: `s${nth}`,
      publishedAt: at(nth),
      views: nth,
    })),
    ...days.map((nth) => ({
      kind: "tweet",
      observedAt: at(0),
      username: "Nasa",
      id: `t${nth}`,
      created_at: new Date(NOW - nth * 3_600_000).toISOString(),
      likes: nth,
    })),
  );
  await service.refreshFigures();
});
afterAll(() => service.close());

const createTestClient = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: service.address, apiKey: service.key, ...options });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Reads what is new of all creators, and finds items by identifier. */
async function readItemsOfAll({ video, microblog }: Client): Promise<void> {
  const [channel] = await collect(video.channelTable(["trend", "subscribers"], { limit: 1 }));
  expect(channel).toMatchObject({
    id: "UC1",
    trend: [96, 97, 98, 99, 100].map((value) => ({ value })),
    subscribers: 100,
  });
  expect(await collect(microblog.userTable(["verified"]))).toEqual([
    { username: "Nasa", verified: null },
  ]);
  const shorts = await collect(
    video.shortTable({ channels: ["soup"], fields: ["views"], limit: 2 }),
  );
  expect(shorts).toEqual([0, 1, 2, 3, 4].map((nth) => ({ id: `s${nth}`, views: nth })));
  const tweets = await collect(microblog.tweetTable({ usernames: ["nasa"], limit: 3 }));
  expect(tweets.map(({ id }) => id)).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  expect((await video.shortDetails(["s1", "no"])).body.results).toMatchObject([
    { id: "s1", found: true, channel: "Soup", details: { id: "s1" } },
    { id: "no", found: false, error: { error: "Short no not found" } },
  ]);
  expect((await microblog.tweetDetails(["t1"])).body.results).toMatchObject([{ found: true }]);
  const [row] = await collect(video.compareShorts(["s1", "s2"], { by: "age" }));
  expect(row).toEqual({ hours: 24, values: [1, null] });
  expect(await collect(microblog.compareTweets(["t1"], { count: "likes" }))).toHaveLength(1);
}

describe("createClient()", () => {
  test("has a method for every operation, with the result that the service documents", async () => {
    const requested = new Set<string>();
    const recordingFetch: FetchLike = (url, init) => {
      requested.add(`${init.method} ${new URL(url).pathname}`);
      return service.send(new URL(url).pathname + new URL(url).search, init as RequestInit);
    };
    const client = createTestClient({ fetch: recordingFetch });
    const { video, microblog, creators, lists, account, metrics, rotateKey } = client;
    expect((await video.allChannels()).body.channels).toHaveLength(1);
    expect((await video.channel("soup")).body).toMatchObject({ id: "UC1", subscribers: 100 });
    expect((await video.short("soup", "s3")).body.metrics.views).toBe(3);
    expect((await collect(video.shorts("soup", { limit: 2 }))).map(({ id }) => id)).toEqual([
      "s0",
      "s1",
      "s2",
      "s3",
      "s4",
    ]);
    expect((await collect(video.channels())).map(({ id }) => id)).toEqual(["UC1"]);
    expect(
      (await collect(video.history("soup", { limit: 2 }))).map(({ subscribers }) => subscribers),
    ).toEqual([96, 97, 98, 99, 100]);
    expect(await collect(video.shortHistory("soup", "s1", { interval: "raw" }))).toHaveLength(1);
    expect((await video.details(["soup", "no"])).body.results).toMatchObject([
      { found: true, details: { id: "UC1" } },
      { found: false, error: { error: "Channel no not found" } },
    ]);
    expect(await collect(video.compare(["soup", "no"], { limit: 3 }))).toHaveLength(DAYS);
    expect((await microblog.user("nasa")).body.followers_count).toBe(50);
    expect((await microblog.tweet("nasa", "t2")).body.tweet.metrics.likes).toBe(2);
    expect((await collect(microblog.tweets("nasa", { limit: 2 }))).map(([id]) => id)).toEqual([
      "t0",
      "t1",
      "t2",
      "t3",
      "t4",
    ]);
    expect(
      (await collect(microblog.followers("nasa", { limit: 2, days: 14 }))).map(
        ({ followers }) => followers,
      ),
    ).toEqual([50, 49, 48, 47, 46]);
    expect((await collect(microblog.users())).map(({ username }) => username)).toEqual(["Nasa"]);
    expect(await collect(microblog.history("nasa"))).toHaveLength(DAYS);
    expect(await collect(microblog.tweetHistory("nasa", "t1"))).toHaveLength(1);
    expect((await video.metrics("soup")).body.metrics.dailySubscriberGain).toBe(1);
    expect((await video.shortMetrics("soup", "s1")).body.metrics.ageHours).not.toBeUndefined();
    expect((await microblog.metrics("nasa")).body.metrics.dailyFollowerGainPercent).toBe(2.0408);
    expect((await microblog.tweetMetrics("nasa", "t1")).body.tweet_id).toBe("t1");
    expect((await metrics()).body.derivedMetrics).toEqual(["video", "microblog"]);
    expect((await microblog.details(["nasa"])).body.results).toHaveLength(1);
    expect(await collect(microblog.compare(["nasa"]))).toHaveLength(DAYS);
    await readItemsOfAll(client);
    expect((await creators.add("esa")).body.total_creators).toBe(1);
    expect((await creators.list()).body.total_creators).toBe(1);
    expect((await creators.remove("ESA")).body.creator).toBe("esa");
    const names = { channels: ["soup"], users: ["nasa", "esa"] };
    expect((await lists.put("Rivals", names)).body.total_users).toBe(2);
    expect((await lists.list()).body.total_lists).toBe(1);
    expect(await collect(video.channels({ list: "rivals" }))).toHaveLength(1);
    expect((await video.details({ list: "Rivals" })).cost).toBe(1);
    expect(await collect(microblog.users({ list: "Rivals" }))).toHaveLength(1);
    expect(await collect(microblog.compare({ list: "Rivals" }))).toHaveLength(DAYS);
    expect((await lists.change("Rivals", { remove: { users: ["ESA"] } })).body.users).toEqual([
      "nasa",
    ]);
    expect((await lists.read("rivals")).body.name).toBe("Rivals");
    expect((await lists.delete("Rivals")).body.channels).toEqual(["soup"]);
    expect((await account({ by: "endpoint" })).body.usage.length).toBeGreaterThan(10);
    expect((await rotateKey("1h")).body).toMatchObject({ id: 2, old_id: 1 });
    const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    for (const [path, operations] of Object.entries(document.paths)) {
      // An administrator's session and pictures are for the pages.
      if (!path.startsWith("/api/") || /^\/api\/(?:session|pictures)/.test(path)) continue;
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      for (const method of Object.keys(operations)) {
        const isRequested = [...requested].some((request) => {
          const [sent, sentPath = ""] = request.split(" ");
          return sent === method.toUpperCase() && pattern.test(sentPath);
        });
        expect([method, path, isRequested]).toEqual([method, path, true]);
      }
    }
  });

  test("gives the cost, what is left, and when the entity was observed, with each result", async () => {
    const { key } = await service.createAccountWithKey(9);
    const client = createTestClient({ apiKey: key });
    expect(await client.video.channel("soup")).toMatchObject({
      cost: 1,
      creditsRemaining: 8,
      observedAt: new Date(NOW).toISOString(),
    });
    expect(await client.video.details(["soup", "no", "soup"])).toMatchObject({
      cost: 3,
      creditsRemaining: 5,
    });
    const costs: (number | null)[] = [];
    for await (const page of client.video.shorts("soup", { limit: 2 }).pages())
      costs.push(page.cost);
    expect(costs).toEqual([1, 1, 1]);
    expect(await client.account()).toMatchObject({
      cost: 0,
      creditsRemaining: null,
      body: { balance: 2 },
    });
  });

  test("finds names of any characters", async () => {
    const name = "🍲".repeat(200);
    const at = { observedAt: "2026-11-20" };
    const own = await startTestService();
    await own.observe(
      { kind: "channel", ...at, id: "UC2", username: name },
      { kind: "short", ...at, channel: "UC2", id: "a/b?c#d%e", publishedAt: "2026-11-19" },
    );
    const { video } = createTestClient({ baseUrl: own.address, apiKey: own.key });
    expect((await video.channel(name)).body.username).toBe(name);
    expect((await video.details([name])).body.results).toMatchObject([{ found: true }]);
    expect((await video.short(name, "a/b?c#d%e")).body.id).toBe("a/b?c#d%e");
    expect((await collect(video.channels({ search: name.slice(0, 100) }))).length).toBe(1);
    await own.close();
  });

  test("reads no page that is not asked for", async () => {
    const { key } = await service.createAccountWithKey(9);
    const { video, account } = createTestClient({ apiKey: key });
    const shorts = video.shorts("soup", { limit: 2 });
    for await (const { id } of shorts) if (id === "s0") break;
    expect((await account()).body.balance).toBe(8);
  });

  test("pages() reads a page that failed again, when it is asked for the next", async () => {
    let isDown = false;
    const client = createTestClient({
      retries: 0,
      fetch: async (url, init) => {
        if (isDown) throw new Error("down");
        return fetch(url, init as RequestInit);
      },
    });
    const pages = client.video.shorts("soup", { limit: 2 }).pages();
    const readIds = async () => (await pages.next()).value?.body.shorts.map(({ id }) => id);
    expect(await readIds()).toEqual(["s0", "s1"]);
    isDown = true;
    expect(await catchError(readIds)).toBeInstanceOf(ConnectionError);
    isDown = false;
    expect(await readIds()).toEqual(["s2", "s3"]);
    expect(await readIds()).toEqual(["s4"]);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  test("throws errors by the name that the service gives them", async () => {
    const poor = await service.createAccountWithKey(1);
    const reader = await service.createAccountWithKey(9, { scopes: ["read"] });
    const client = createTestClient({ retries: 0 });
    const errors = await Promise.all([
      catchError(() => client.video.channel("nobody")),
      catchError(() => client.video.short("soup", "none")),
      catchError(() => client.microblog.user("nobody")),
      catchError(() => client.microblog.tweet("nasa", "none")),
      catchError(() => collect(client.video.shorts("soup", { limit: 0 }))),
      catchError(() => createTestClient({ apiKey: poor.key }).video.details(["a", "b"])),
      catchError(() => createTestClient({ apiKey: reader.key }).creators.list()),
      catchError(() => createTestClient({ apiKey: "cm_wrong" }).account()),
    ]);
    expect(errors.every((error) => error instanceof MetricsError)).toBe(true);
    expect(errors).toMatchObject([
      { code: "Channel Not Found", status: 404, message: "Channel nobody not found" },
      { code: "Short Not Found", status: 404 },
      { code: "User Not Found", status: 404 },
      { code: "Tweet Not Found", status: 404 },
      { code: "Invalid Request", status: 400, message: expect.stringContaining("limit must be") },
      { code: "Insufficient Credits", status: 402 },
      { code: "Forbidden", status: 403 },
      { code: "Invalid API Key", status: 401 },
    ]);
  });
});
