/** What the client refuses before a request, and what it makes of odd responses. */
import { describe, expect, spyOn, test } from "bun:test";
import { createClient, type FetchLike } from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";

type Options = Partial<Parameters<typeof createClient>[0]>;

const createTestClient = (options: Options = {}) =>
  createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "cm_1", retries: 0, ...options });

/** Responds, and keeps the addresses that were requested. */
function createFetch(respond: () => Response) {
  const urls: string[] = [];
  const fetch: FetchLike = async (url) => {
    urls.push(url);
    return respond();
  };
  return { fetch, urls };
}

describe("createClient()", () => {
  test.each<[string, Options]>([
    ["retries", { retries: Number.NaN }],
    ["retries", { retries: -1 }],
    ["retries", { retries: 1.5 }],
    ["retries", { retries: Infinity }],
    ["cachedResponses", { cachedResponses: Number.NaN }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: 30 * 86_400_000 }],
    ["baseUrl", { baseUrl: "127.0.0.1:3000" }],
    ["baseUrl", { baseUrl: "ftp://127.0.0.1" }],
    ["baseUrl", { baseUrl: "http://[" }],
    ["baseUrl", { baseUrl: "http://user:password@127.0.0.1" }],
    ["baseUrl", { baseUrl: "http://127.0.0.1/?a=b" }],
    ["apiKey", { apiKey: "cm_é" }],
    ["apiKey", { apiKey: "cm_1\n" }],
  ])("throws a RangeError about %s for %o", (name, options) => {
    expect(() => createTestClient(options)).toThrow(RangeError);
    expect(() => createTestClient(options)).toThrow(`${name} must be `);
  });

  test("sets no timer for timeoutMs: Infinity", async () => {
    const timer = spyOn(globalThis, "setTimeout");
    const { fetch } = createFetch(() => new Response("{}"));
    await createTestClient({ fetch, timeoutMs: Infinity }).account();
    const count = timer.mock.calls.length;
    timer.mockRestore();
    expect(count).toBe(0);
  });

  test("takes undefined for every option that can be left out", async () => {
    const { fetch, urls } = createFetch(() => new Response('{"channels":[]}'));
    const { video } = createTestClient({ fetch, timeoutMs: undefined, cachedResponses: undefined });
    const none = { signal: undefined, idempotencyKey: undefined };
    await video.channels({ limit: undefined, cursor: undefined }, none).pages().next();
    expect(urls).toEqual(["http://127.0.0.1:1/api/video/channels?limit=100"]);
  });

  test("ends a request at its time and at an abort, with a fetch that ignores the signal", async () => {
    const stuck: FetchLike = () => new Promise(() => undefined);
    const stuckBody: FetchLike = async () => ({
      status: 200,
      headers: new Headers(),
      text: () => new Promise(() => undefined),
    });
    for (const fetch of [stuck, stuckBody]) {
      const error = await catchError(() => createTestClient({ fetch, timeoutMs: 5 }).account());
      expect(error).toMatchObject({
        name: "ConnectionError",
        message: "GET /api/account failed: Error: No response within 5 ms",
      });
      const controller = new AbortController();
      const { signal } = controller;
      const reading = catchError(() => createTestClient({ fetch }).account({}, { signal }));
      controller.abort(new Error("enough"));
      expect(await reading).toEqual(new Error("enough"));
    }
  });

  test("needs no crypto.randomUUID(), which pages without TLS don't have", async () => {
    const randomUUID = spyOn(crypto, "randomUUID");
    const { fetch } = createFetch(() => new Response("{}"));
    await createTestClient({ fetch }).account();
    const count = randomUUID.mock.calls.length;
    randomUUID.mockRestore();
    expect(count).toBe(0);
  });

  test.each(["", ".", "..", "\ud800"])("rejects the name %j before it sends", async (name) => {
    const { fetch, urls } = createFetch(() => new Response("{}"));
    const { video, microblog } = createTestClient({ fetch });
    const reads = [
      () => video.channel(name),
      () => video.short("soup", name),
      () => microblog.tweet(name, "t1"),
      () => video.shorts(name).pages().next(),
      () => microblog.tweets(name).pages().next(),
      () => microblog.tweetHistory("nasa", name).pages().next(),
    ];
    for (const read of reads) {
      // The call itself does not throw: its promise is rejected.
      const error = await read().then(undefined, (reason: unknown) => reason);
      expect(error).toBeInstanceOf(RangeError);
    }
    expect(urls).toEqual([]);
  });

  test.each(["a,b", "", "\ud800"])("compare() rejects the name %j", async (name) => {
    const { fetch, urls } = createFetch(() => new Response("{}"));
    const { video, microblog } = createTestClient({ fetch });
    for (const list of [video.compare(["x", name]), microblog.compare([name])]) {
      expect(await catchError(() => list.pages().next())).toBeInstanceOf(RangeError);
    }
    expect(urls).toEqual([]);
  });

  test.each([500, 502, 503, 504])("does not repeat a change after %d", async (status) => {
    const headers = { "retry-after": "0" };
    const { fetch, urls } = createFetch(() => new Response("<html>", { status, headers }));
    const { creators } = createTestClient({ fetch, retries: 3 });
    expect(await catchError(() => creators.add("esa"))).toMatchObject({ status });
    expect(await catchError(() => creators.remove("esa"))).toMatchObject({ status });
    expect(urls).toHaveLength(2);
  });

  test("repeats a change after 429, which says that it was not carried out", async () => {
    const headers = { "retry-after": "0" };
    const { fetch, urls } = createFetch(() =>
      urls.length === 1 ? new Response("", { status: 429, headers }) : new Response("{}"),
    );
    await createTestClient({ fetch, retries: 3 }).creators.add("esa");
    expect(urls).toHaveLength(2);
  });

  test.each(["1.5", "-5", "soon 5", "Fri Nov 20 2026", ""])(
    "waits as if there were no Retry-After for %j",
    async (retryAfter) => {
      const headers = { "retry-after": retryAfter };
      const { fetch, urls } = createFetch(() =>
        urls.length === 1 ? new Response("", { status: 503, headers }) : new Response("{}"),
      );
      const timer = spyOn(globalThis, "setTimeout");
      await createTestClient({ fetch, retries: 1, timeoutMs: 7777 }).account();
      const pauses = timer.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms !== 7777);
      timer.mockRestore();
      expect(pauses).toHaveLength(1);
      expect(pauses[0]).toBeGreaterThanOrEqual(100);
      expect(pauses[0]).toBeLessThanOrEqual(200);
    },
  );
});
