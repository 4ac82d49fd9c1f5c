import { afterAll, beforeAll, describe, expect, mock, test } from "bun:test";
import { DAY_MS } from "../../../core/time.ts";
import { renderResponse } from "../../../server/http/reads/rendered-response.ts";
import { createResponseCache } from "../../../server/http/reads/response-cache.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const isoAt = (offset: number) => new Date(NOW + offset).toISOString();
const fetchBody = async (path: string): Promise<unknown> => (await service.get(path)).json();

describe("a cached response", () => {
  test("is never stale: the next response has every new observation", async () => {
    for (let count = 1; count <= 20; count++) {
      await service.observe({
        kind: "user",
        observedAt: isoAt(count - 1000),
        username: "Nasa",
        followers_count: count,
      });
      for (const name of ["nasa", "NASA"]) {
        expect(await fetchBody(`/api/microblog/${name}/details`)).toMatchObject({
          followers_count: count,
        });
        expect(await fetchBody(`/api/microblog/${name}/followers`)).toMatchObject({
          pagination: { total: count },
        });
      }
    }
  });

  test("405: is not used for other methods, which are free", async () => {
    const { key, account } = await service.createAccountWithKey(9);
    const path = "/api/video/channels";
    for (let read = 0; read < 2; read++) expect((await service.get(path, key)).status).toBe(200);
    for (const method of ["POST", "PATCH", "DELETE"]) {
      const response = await service.get(path, key, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
    expect(await service.readSums(account)).toMatchObject({ debited: 2, balance: 7 });
  });

  test("is dropped when a tweet moves to another user", async () => {
    const tweet = (username: string, offset: number) => ({
      kind: "tweet",
      observedAt: isoAt(offset),
      username,
      id: "moving",
      created_at: isoAt(-DAY_MS),
    });
    await service.observe(tweet("giver", -3000), tweet("taker", -4000));
    const totals = async () => {
      const pages = await Promise.all(
        ["giver", "taker"].map((name) => service.get(`/api/microblog/${name}/tweets`)),
      );
      return pages.map(({ status }) => status);
    };
    expect(await totals()).toEqual([200, 404]);
    await service.observe(tweet("taker", -2000));
    expect(await totals()).toEqual([404, 200]);
  });

  test("is dropped when a short moves to another channel", async () => {
    const short = (channel: string, offset: number) => ({
      kind: "short",
      observedAt: isoAt(offset),
      channel,
      id: "wandering",
      publishedAt: isoAt(-DAY_MS),
    });
    for (const id of ["losing", "winning"]) {
      await service.observe({ kind: "channel", observedAt: isoAt(-9000), id });
    }
    await service.observe(short("losing", -3000));
    const lists = () =>
      Promise.all(
        ["losing", "winning"].map(
          async (name) => Object(await fetchBody(`/api/video/${name}/shorts`)).shorts.length,
        ),
      );
    expect(await lists()).toEqual([1, 0]);
    await service.observe(short("winning", -2000));
    expect(await lists()).toEqual([0, 1]);
    expect((await service.get("/api/video/losing/short/wandering")).status).toBe(404);
  });

  test("is dropped when a username moves to another channel", async () => {
    const channel = (id: string, offset: number, username?: string) => ({
      kind: "channel",
      observedAt: isoAt(offset),
      id,
      username,
    });
    await service.observe(channel("first", -5000, "Soup"), channel("second", -6000, "soup"));
    const idOf = async (name: string) => Object(await fetchBody(`/api/video/${name}/details`)).id;
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["first", "first"]);
    await service.observe(channel("second", -4000));
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["second", "second"]);
    await service.observe(channel("soup", -9000));
    expect([await idOf("soup"), await idOf("SOUP")]).toEqual(["soup", "second"]);
  });

  test("is dropped when the channel of a short is observed after it", async () => {
    const short = {
      kind: "short",
      observedAt: isoAt(-10),
      id: "s",
      channel: "late",
      publishedAt: isoAt(-99),
    };
    await service.observe(short);
    expect((await service.get("/api/video/late/shorts")).status).toBe(404);
    const count = async () => Object(await fetchBody("/api/video/channels")).channels.length;
    const before = await count();
    await service.observe({ kind: "channel", observedAt: isoAt(-9), id: "late" });
    expect(await count()).toBe(before + 1);
    expect(await fetchBody("/api/video/late/shorts")).toMatchObject({ shorts: [{ id: "s" }] });
    await service.observe({ ...short, observedAt: isoAt(-5), views: 7 });
    expect(await fetchBody("/api/video/late/shorts")).toMatchObject({ shorts: [{ views: 7 }] });
    expect(await fetchBody("/api/video/late/short/s")).toMatchObject({ metrics: { views: 7 } });
  });

  test("is dropped when time moves an item out of the days, to the millisecond", async () => {
    await service.observe(
      { kind: "tweet", observedAt: isoAt(-9), username: "old", id: "o", created_at: isoAt(-9) },
      { kind: "user", observedAt: isoAt(-9), username: "old", followers_count: 1 },
    );
    const totals = () =>
      Promise.all(
        ["tweets", "followers"].map(async (what) => {
          const page = await fetchBody(`/api/microblog/old/${what}?days=1`);
          return Object(page).pagination.total;
        }),
      );
    expect(await totals()).toEqual([1, 1]);
    service.clock.now = NOW - 9 + DAY_MS;
    expect(await totals()).toEqual([1, 1]);
    service.clock.now++;
    expect(await totals()).toEqual([0, 0]);
    service.clock.now = NOW;
    expect(await totals()).toEqual([1, 1]);
  });
});

describe("ETag", () => {
  test("304: a client with the same response gets no body, at the same cost", async () => {
    await service.observe({
      kind: "user",
      observedAt: isoAt(-70),
      username: "tag",
      tweet_count: 1,
    });
    const { key, account } = await service.createAccountWithKey(10);
    const path = "/api/microblog/tag/details";
    const etag = (await service.get(path, key)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await service.get(path, key, { headers: { "if-none-match": known } });
      expect([response.status, await response.text()]).toEqual([304, ""]);
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.has("content-type")).toBe(false);
      expect(response.headers.get("x-credits-cost")).toBe("1");
    }
    expect(await service.readSums(account)).toMatchObject({ debited: 5 });
    await service.observe({
      kind: "user",
      observedAt: isoAt(-60),
      username: "tag",
      tweet_count: 2,
    });
    const headers = { "if-none-match": etag };
    const changed = await service.get(path, key, { headers });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  test("304: has the further headers of the response too", async () => {
    const published = { publishedAt: isoAt(-70), channel: "many" };
    await service.observe(
      { kind: "channel", observedAt: isoAt(-70), id: "many" },
      { kind: "short", observedAt: isoAt(-70), id: "many1", ...published },
      { kind: "short", observedAt: isoAt(-70), id: "many2", ...published },
      ...Array.from({ length: 1001 }, (_, index) => ({
        kind: "short",
        observedAt: isoAt(-2000 + index),
        id: "many3",
        ...published,
      })),
    );
    const headers = { "if-none-match": "*" };
    const page = await service.get("/api/video/many/shorts?limit=1", service.key, { headers });
    expect([page.status, page.headers.get("link")]).toEqual([304, expect.stringMatching(/next/)]);
    const long = await service.get("/api/video/many/short/many3", service.key, { headers });
    expect([long.status, long.headers.get("x-history-thinned")]).toEqual([304, "1"]);
  });
});

describe("createResponseCache()", () => {
  const render = (body: string, tags: string[]) => renderResponse({ body, tags });
  const now = () => 0;

  test("keeps the responses that were used last, within its bound", () => {
    const cache = createResponseCache(40_000);
    cache.invalidate({ sequence: 1, tags: undefined });
    const body = "x".repeat(1000);
    for (let index = 0; index < 100; index++) cache.set(`/${index}`, render(body, ["a"]), 1);
    const cachedIndexes = Array.from({ length: 100 }, (_, index) => index).filter(
      (index) => cache.get(`/${index}`, now) !== undefined,
    );
    expect(cachedIndexes.length).toBeGreaterThan(5);
    expect(cachedIndexes.length).toBeLessThan(15);
    expect(cachedIndexes.at(-1)).toBe(99);
    cache.set("/huge", render("x".repeat(40_000), ["a"]), 1);
    cache.set("/large", render("x".repeat(10_000), ["a"]), 1);
    expect([cache.get("/huge", now), cache.get("/large", now)]).toEqual([undefined, undefined]);
    expect(cache.get("/99", now)).toBeDefined();
  });

  test("get() reads the clock only for a response that is not valid at any time", () => {
    const cache = createResponseCache();
    cache.invalidate({ sequence: 1, tags: undefined });
    cache.set("/always", render("always", ["a"]), 1);
    cache.set(
      "/limited",
      renderResponse({ body: "x", tags: [], validDuring: { from: 1, to: 2 } }),
      1,
    );
    const readClock = mock(() => 2);
    expect(cache.get("/always", readClock)).toBeDefined();
    expect(readClock).toHaveBeenCalledTimes(0);
    expect(cache.get("/limited", readClock)).toBeDefined();
    expect(cache.get("/limited", () => 3)).toBeUndefined();
    expect(cache.get("/limited", readClock)).toBeUndefined();
  });

  test("load() shares a run between requests that saw the same changes", async () => {
    const cache = createResponseCache();
    let runs = 0;
    const read = async () => {
      await Bun.sleep(1);
      return render(`number ${++runs}`, ["a"]);
    };
    const sequences = [1, 1, 2, 2];
    const bodies = await Promise.all(
      sequences.map(async (sequence) => (await cache.load("/a", sequence, read)).body),
    );
    expect(bodies).toEqual(['"number 1"', '"number 1"', '"number 2"', '"number 2"']);
    expect((await cache.load("/a", 2, read)).body).toBe('"number 3"');
    const failed = () => cache.load("/a", 2, () => Promise.reject(new Error("It failed")));
    expect(await Promise.allSettled([failed(), failed()])).toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
    expect((await cache.load("/a", 2, read)).body).toBe('"number 4"');
  });

  test("set() ignores a response that was read before a known change", () => {
    const cache = createResponseCache();
    cache.invalidate({ sequence: 1, tags: [] });
    cache.invalidate({ sequence: 2, tags: ["a"] });
    cache.set("/a", render("old", ["a"]), 1);
    expect(cache.get("/a", now)).toBeUndefined();
    cache.set("/a", render("new", ["a"]), 2);
    cache.set("/b", render("other", ["b"]), 2);
    const cached = cache.get("/a", now);
    cache.invalidate({ sequence: 3, tags: ["a"] });
    expect([cache.get("/a", now), cached?.isInvalidated]).toEqual([undefined, true]);
    expect(cache.get("/b", now)?.body).toBe('"other"');
    cache.invalidate({ sequence: 900, tags: undefined });
    expect(cache.get("/b", now)).toBeUndefined();
  });
});
