/** What the client refuses before it sends a request: options and arguments. */
import { describe, expect, spyOn, test } from "bun:test";
import { createClient, type Client, type FetchLike } from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";

type Options = Partial<Parameters<typeof createClient>[0]>;

const createTestClient = (options: object = {}) =>
  createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "cm_1", retries: 0, ...options });

/** A client whose requests are kept, and get a response that is an account and a list. */
function createRecordingClient(options: Options = {}) {
  const urls: string[] = [];
  const fetch: FetchLike = async (url) => {
    urls.push(url);
    return new Response('{"balance":1,"channels":[]}');
  };
  return { ...createTestClient({ fetch, ...options }), urls };
}

/** What callers without types pass. */
const odd = (value: unknown) => value as never;

describe("createClient()", () => {
  test.each<[string, Record<string, unknown>]>([
    ["retries", { retries: Number.NaN }],
    ["retries", { retries: -1 }],
    ["retries", { retries: 1.5 }],
    ["retries", { retries: Infinity }],
    ["retries", { retries: "3" }],
    ["cachedResponses", { cachedResponses: Number.NaN }],
    ["responseMaxBytes", { responseMaxBytes: Infinity }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: "5" }],
    ["timeoutMs", { timeoutMs: null }],
    ["timeoutMs", { timeoutMs: 30 * 86_400_000 }],
    ["deadlineMs", { deadlineMs: 0 }],
    ["deadlineMs", { deadlineMs: 30 * 86_400_000 }],
    ["pauseMaxMs", { pauseMaxMs: -1 }],
    ["pauseMaxMs", { pauseMaxMs: Infinity }],
    ["fetch", { fetch: 5 }],
    ["fetch", { fetch: null }],
    ["baseUrl", { baseUrl: undefined }],
    ["baseUrl", { baseUrl: Object.create(null) }],
    ["baseUrl", { baseUrl: "127.0.0.1:3000" }],
    ["baseUrl", { baseUrl: "ftp://127.0.0.1" }],
    ["baseUrl", { baseUrl: "http://[" }],
    ["baseUrl", { baseUrl: "http://user:password@127.0.0.1" }],
    ["baseUrl", { baseUrl: "http://127.0.0.1/?a=b" }],
    ["apiKey", { apiKey: undefined }],
    ["apiKey", { apiKey: null }],
    ["apiKey", { apiKey: "" }],
    ["apiKey", { apiKey: 5 }],
    ["apiKey", { apiKey: "cm_é" }],
    ["apiKey", { apiKey: "cm_1\n" }],
  ])("throws a RangeError about %s for %o", (name, options) => {
    expect(() => createTestClient(options)).toThrow(RangeError);
    expect(() => createTestClient(options)).toThrow(`${name} must be `);
  });

  test.each([undefined, null, 5, "cm_1"])("throws a RangeError about options for %p", (options) => {
    expect(() => createClient(odd(options))).toThrow(RangeError);
    expect(() => createClient(odd(options))).toThrow("options must be an object, got ");
  });

  test("shows no API key in a message", () => {
    expect(() => createTestClient({ apiKey: "cm_secret é" })).toThrow('got "…"');
    expect(() => createTestClient({ apiKey: undefined })).toThrow("got undefined");
  });

  test("takes undefined for every option that can be left out", async () => {
    const { video, urls } = createRecordingClient({
      timeoutMs: undefined,
      deadlineMs: undefined,
      pauseMaxMs: undefined,
      responseMaxBytes: undefined,
      cachedResponses: undefined,
    });
    const none = { signal: undefined, idempotencyKey: undefined };
    await video.channels({ limit: undefined, cursor: undefined }, none).pages().next();
    expect(urls).toEqual(["http://127.0.0.1:1/api/video/channels?limit=100"]);
  });

  test("needs no crypto.randomUUID(), which pages without TLS don't have", async () => {
    const { account } = createRecordingClient();
    const randomUUID = spyOn(crypto, "randomUUID");
    // The key is made before the first await, so that nobody else calls it in between.
    const reading = account();
    const count = randomUUID.mock.calls.length;
    randomUUID.mockRestore();
    await reading;
    expect(count).toBe(0);
  });
});

describe("a method", () => {
  test.each(["", ".", "..", "\ud800"])("rejects the name %j before it sends", async (name) => {
    const { video, microblog, urls } = createRecordingClient();
    const reads: [string, () => Promise<unknown>][] = [
      ["channel", () => video.channel(name)],
      ["id", () => video.short("soup", name)],
      ["username", () => microblog.tweet(name, "t1")],
      ["channel", () => video.shorts(name).pages().next()],
      ["username", () => microblog.tweets(name).pages().next()],
      ["id", () => microblog.tweetHistory("nasa", name).pages().next()],
    ];
    for (const [argument, read] of reads) {
      // The call itself does not throw: its promise is rejected.
      const error = await read().then(undefined, (reason: unknown) => reason);
      expect(error).toBeInstanceOf(RangeError);
      expect(String(error)).toStartWith(`RangeError: ${argument} must be text`);
    }
    expect(urls).toEqual([]);
  });

  test.each(["a,b", "", "\ud800"])("compare() rejects the name %j", async (name) => {
    const { video, microblog, urls } = createRecordingClient();
    for (const list of [video.compare(["x", name]), microblog.compare([name])]) {
      expect(await catchError(() => list.pages().next())).toBeInstanceOf(RangeError);
    }
    expect(urls).toEqual([]);
  });

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ["channel", ({ video }) => video.channel(odd(undefined))],
    ["channel", ({ video }) => video.channel(odd(5))],
    ["channel", ({ video }) => video.channel(odd(Symbol("x")))],
    ["channel", ({ video }) => video.shorts(odd({})).pages().next()],
    ["id", ({ microblog }) => microblog.tweet("nasa", odd(1n))],
    ["options", ({ video }) => video.channel("soup", odd(null))],
    ["options", ({ video }) => video.channel("soup", odd("key"))],
    ["options", ({ video }) => video.shorts("soup", {}, odd(null)).pages().next()],
    ["options", ({ account }) => account({}, odd([]))],
    ["idempotencyKey", ({ account }) => account({}, { idempotencyKey: odd(null) })],
    ["idempotencyKey", ({ account }) => account({}, { idempotencyKey: odd(7) })],
    ["idempotencyKey", ({ creators }) => creators.add("esa", { idempotencyKey: "" })],
    ["signal", ({ account }) => account({}, { signal: odd({}) })],
    ["signal", ({ account }) => account({}, { signal: odd(null) })],
    ["query", ({ account }) => account(odd("by=key"))],
    ["query", ({ video }) => video.channels(odd(null)).pages().next()],
    [
      "query",
      ({ microblog }) =>
        microblog
          .tweets("nasa", odd([1]))
          .pages()
          .next(),
    ],
    [
      "cursor",
      ({ video }) =>
        video
          .shorts("soup", { cursor: odd(null) })
          .pages()
          .next(),
    ],
    ["limit", ({ video }) => video.shorts("soup", { limit: Number.NaN }).pages().next()],
    [
      "limit",
      ({ video }) =>
        video
          .channels({ limit: odd({}) })
          .pages()
          .next(),
    ],
    ["channels", ({ video }) => video.details(odd("soup"))],
    ["channels", ({ video }) => video.details([odd(5)])],
    ["usernames", ({ microblog }) => microblog.details(odd(null))],
    ["usernames", ({ microblog }) => microblog.compare(odd(null)).pages().next()],
    [
      "A name in channels",
      ({ video }) =>
        video
          .compare([odd(5)])
          .pages()
          .next(),
    ],
    ["creator", ({ creators }) => creators.remove(odd(undefined))],
  ])("rejects odd arguments with a RangeError that names %s", async (argument, call) => {
    const { urls, ...client } = createRecordingClient();
    const error = await catchError(() => call(client));
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).toStartWith(`RangeError: ${argument} must be `);
    expect(urls).toEqual([]);
  });
});
