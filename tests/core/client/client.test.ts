import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ConnectionError,
  createClient,
  MetricsError,
  type FetchLike,
} from "../../../core/client/mod.ts";
import { startLossyProxy } from "../../support/network/lossy-proxy.ts";
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
});
afterAll(() => service.close());

const createTestClient = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: service.address, apiKey: service.key, ...options });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function catchError(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

describe("createClient()", () => {
  test("has a method for every operation, with the result that the service documents", async () => {
    const requested = new Set<string>();
    const recordingFetch: FetchLike = (url, init) => {
      requested.add(`${init.method} ${new URL(url).pathname}`);
      return service.send(new URL(url).pathname + new URL(url).search, init as RequestInit);
    };
    const { video, microblog, creators, account } = createTestClient({ fetch: recordingFetch });
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
    expect((await microblog.details(["nasa"])).body.results).toHaveLength(1);
    expect(await collect(microblog.compare(["nasa"]))).toHaveLength(DAYS);
    expect((await creators.add("esa")).body.total_creators).toBe(1);
    expect((await creators.list()).body.total_creators).toBe(1);
    expect((await creators.remove("ESA")).body.creator).toBe("esa");
    expect((await account({ by: "endpoint" })).body.usage.length).toBeGreaterThan(10);
    const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    for (const [path, operations] of Object.entries(document.paths)) {
      if (!path.startsWith("/api/")) continue;
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
    const costs: number[] = [];
    for await (const page of client.video.shorts("soup", { limit: 2 }).pages())
      costs.push(page.cost);
    expect(costs).toEqual([1, 1, 1]);
    expect(await client.account()).toMatchObject({
      cost: 0,
      creditsRemaining: null,
      body: { balance: 2 },
    });
  });

  test("reads no page that is not asked for", async () => {
    const { key } = await service.createAccountWithKey(9);
    const { video, account } = createTestClient({ apiKey: key });
    const shorts = video.shorts("soup", { limit: 2 });
    for await (const { id } of shorts) if (id === "s0") break;
    expect((await account()).body.balance).toBe(8);
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

  test("pays once for each of 1,000 reads of which every tenth response is lost", async () => {
    const { key, account } = await service.createAccountWithKey(2000);
    const proxy = await startLossyProxy(service.address, /GET \/api\/video\/soup/);
    const client = createTestClient({ apiKey: key, baseUrl: proxy.url, retries: 20 });
    const work = Array.from({ length: 8 }, async (_, worker) => {
      for (let nth = worker; nth < 1000; nth += 8) {
        if (nth % 10 === 0) proxy.state.responsesToDrop++;
        expect((await client.video.channel("soup")).body.id).toBe("UC1");
      }
    });
    await Promise.all(work);
    expect(proxy.state.droppedResponses).toBeGreaterThan(90);
    expect(await service.readSums(account)).toMatchObject({ balance: 1000 });
    proxy.close();
  }, 120_000);

  test("repeats what is refused or fails for now, after the time that the service says", async () => {
    const responses = [
      new Response('{"error":"Too Many Requests"}', {
        status: 429,
        headers: { "retry-after": "0" },
      }),
      new Response("", { status: 503, headers: { "retry-after": "0" } }),
      new Response('{"creators":[],"total_creators":0}'),
    ];
    const keys: unknown[] = [];
    const fetch: FetchLike = async (_, { headers }) => {
      keys.push(headers["idempotency-key"]);
      return responses.shift() ?? new Response("", { status: 500 });
    };
    const client = createTestClient({ fetch });
    expect((await client.creators.list()).body).toEqual({ creators: [], total_creators: 0 });
    expect(new Set(keys).size).toBe(1);
    responses.push(new Response('{"error":"Service Unavailable","message":"m"}', { status: 503 }));
    const once = createTestClient({ fetch, retries: 0 });
    expect(await catchError(() => once.creators.add("x"))).toMatchObject({
      code: "Service Unavailable",
      message: "m",
    });
  });

  test("does not repeat a change whose response was lost", async () => {
    let attempts = 0;
    const client = createTestClient({
      fetch: async () => {
        attempts++;
        throw new Error("reset");
      },
    });
    const error = await catchError(() => client.creators.add("x"));
    expect([error instanceof ConnectionError, attempts]).toEqual([true, 1]);
  });

  test("ends at the deadline of an attempt, and when the caller aborts", async () => {
    const never: FetchLike = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        const given: AbortSignal = signal;
        given.addEventListener("abort", () => reject(given.reason));
      });
    const slow = createTestClient({ fetch: never, timeoutMs: 20, retries: 1 });
    expect(await catchError(() => slow.video.channel("soup"))).toMatchObject({
      name: "ConnectionError",
      message: expect.stringContaining("No response within 20 ms"),
    });
    const controller = new AbortController();
    const patient = createTestClient({ fetch: never });
    const reading = catchError(() => patient.video.channel("x", { signal: controller.signal }));
    controller.abort(new Error("enough"));
    expect(await reading).toEqual(new Error("enough"));
    const aborted = catchError(() => patient.video.channel("x", { signal: controller.signal }));
    expect(await aborted).toEqual(new Error("enough"));
  });

  test("keeps responses by their ETag if it may, and drops the oldest", async () => {
    const statuses: number[] = [];
    const fetchAndRecord: FetchLike = async (url, init) => {
      const response = await fetch(url, init as RequestInit);
      statuses.push(response.status);
      return response;
    };
    const client = createTestClient({ fetch: fetchAndRecord, cachedResponses: 1 });
    const first = await client.video.channel("soup");
    const second = await client.video.channel("soup");
    expect(second.body).toEqual(first.body);
    await client.microblog.user("nasa");
    await client.video.channel("soup");
    expect(statuses).toEqual([200, 304, 200, 200]);
  });
});
