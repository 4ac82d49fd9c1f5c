/** What the client makes of odd responses: refusals, garbage, too many bytes. */
import { describe, expect, test } from "bun:test";
import {
  ConnectionError,
  createClient,
  type Client,
  type FetchLike,
} from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";

/** The methods of the parts of the client: `video.short`. */
type MethodName = {
  [Part in "video" | "microblog" | "creators" | "lists"]: `${Part}.${keyof Client[Part] & string}`;
}["video" | "microblog" | "creators" | "lists"];

type Options = Partial<Parameters<typeof createClient>[0]>;

const ACCOUNT = '{"balance":1}';

/** A client that gets these responses, one after the other; the last one again and again. */
function createTestClient(responses: readonly (() => Response)[], options: Options = {}) {
  const requests: Record<string, string>[] = [];
  const fetch: FetchLike = async (url, init) => {
    const respond = responses[requests.length] ?? responses.at(-1);
    requests.push({ url, ...init.headers });
    if (respond === undefined) throw new Error("There is no response");
    return respond();
  };
  const settings = { baseUrl: "http://127.0.0.1:1", apiKey: "cm_1", pauseMaxMs: 0 };
  return { ...createClient({ ...settings, fetch, ...options }), requests };
}

const respondWith =
  (body: string, init: ResponseInit = {}) =>
  () =>
    new Response(body, init);

const listKeys = (requests: readonly Record<string, string>[]) =>
  requests.map((headers) => headers["idempotency-key"]);

describe("an error response", () => {
  test.each([429, 503])("%d tells the pause and the headers", async (status) => {
    const headers = {
      "retry-after": "7",
      ratelimit: '"default";r=0;t=7',
      "ratelimit-policy": '"default";q=60;w=60',
    };
    const { account } = createTestClient([respondWith("", { status, headers })], { retries: 0 });
    const error = await catchError(() => account());
    expect(error).toMatchObject({ name: "MetricsError", status, retryAfterMs: 7000 });
    const { headers: received } = error as { headers?: Headers };
    expect(received?.get("RateLimit")).toBe('"default";r=0;t=7');
    expect(received?.get("RateLimit-Policy")).toBe('"default";q=60;w=60');
  });

  test("has no pause if the service asks for none", async () => {
    const { account } = createTestClient([respondWith("", { status: 404 })]);
    expect(await catchError(() => account())).toMatchObject({ retryAfterMs: null });
  });

  test.each([
    ["<html>", 418, "Status 418"],
    ['{"error":"Gone","message":"m"}', 410, "Status 410"],
    ["", 451, "Status 451"],
    ["", 404, "Not Found"],
  ])("%j with the status %d has the code %s", async (body, status, code) => {
    const { account, requests } = createTestClient([respondWith(body, { status })]);
    expect(await catchError(() => account())).toMatchObject({ name: "MetricsError", status, code });
    expect(requests).toHaveLength(1);
  });

  test("408 is sent again with the same key; a change is not", async () => {
    const timeout = respondWith("", { status: 408 });
    const { account, requests } = createTestClient([timeout, timeout, respondWith(ACCOUNT)]);
    expect((await account()).body.balance).toBe(1);
    const keys = listKeys(requests);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    const { creators, requests: changes } = createTestClient([timeout]);
    expect(await catchError(() => creators.add("esa"))).toMatchObject({ status: 408 });
    expect(changes).toHaveLength(1);
  });

  test.each([500, 502, 503, 504])("%d to a change is not sent again", async (status) => {
    const init = { status, headers: { "retry-after": "0" } };
    const { creators, requests } = createTestClient([respondWith("<html>", init)]);
    expect(await catchError(() => creators.add("esa"))).toMatchObject({ status });
    expect(await catchError(() => creators.remove("esa"))).toMatchObject({ status });
    expect(requests).toHaveLength(2);
  });

  test("429 to a change is sent again: it says that nothing was changed", async () => {
    const { creators, requests } = createTestClient([
      respondWith("", { status: 429, headers: { "retry-after": "0" } }),
      respondWith('{"total_creators":1}'),
    ]);
    await creators.add("esa");
    expect(requests).toHaveLength(2);
  });
});

describe("a response that is not of the service", () => {
  const GARBAGE: readonly [string, Record<string, string>?][] = [
    [""],
    ["<html>Sign in to the hotel</html>"],
    ['{"balance":'],
    ["null"],
    ["{}"],
    ["[]"],
    ["5"],
    ['"balance"'],
    [ACCOUNT, { "x-credits-cost": "one" }],
    [ACCOUNT, { "x-credits-cost": "-1" }],
    [ACCOUNT, { "x-credits-remaining": "1.5" }],
    [ACCOUNT, { "x-credits-remaining": "" }],
  ];

  test.each(GARBAGE)("%j is read again, with the same key", async (body, headers = {}) => {
    const garbage = respondWith(body, { headers });
    const { account, requests } = createTestClient([garbage, respondWith(ACCOUNT)]);
    expect((await account()).body).toEqual(JSON.parse(ACCOUNT));
    const keys = listKeys(requests);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });

  test.each(GARBAGE)("%j is a ConnectionError in the end", async (body, headers = {}) => {
    const { account, requests } = createTestClient([respondWith(body, { headers })]);
    const error = await catchError(() => account());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(/^ConnectionError: GET \/api\/account got /);
    const [key] = listKeys(requests);
    expect(error).toMatchObject({ idempotencyKey: key });
    expect(requests).toHaveLength(4);
  });

  test("to a change is not sent again", async () => {
    const { creators, requests } = createTestClient([respondWith("<html>")]);
    expect(await catchError(() => creators.add("esa"))).toBeInstanceOf(ConnectionError);
    expect(requests).toHaveLength(1);
  });

  const READS: Readonly<Record<MethodName, (client: Client) => Promise<unknown>>> = {
    "video.channels": ({ video }) => video.channels().pages().next(),
    "video.channelTable": ({ video }) => video.channelTable(["trend"]).pages().next(),
    "video.shortTable": ({ video }) => video.shortTable().pages().next(),
    "video.shortDetails": ({ video }) => video.shortDetails(["x"]),
    "video.compareShorts": ({ video }) => video.compareShorts(["x"]).pages().next(),
    "video.allChannels": ({ video }) => video.allChannels(),
    "video.channel": ({ video }) => video.channel("x"),
    "video.shorts": ({ video }) => video.shorts("x")[Symbol.asyncIterator]().next(),
    "video.short": ({ video }) => video.short("x", "y"),
    "video.history": ({ video }) => video.history("x").pages().next(),
    "video.shortHistory": ({ video }) => video.shortHistory("x", "y").pages().next(),
    "video.metrics": ({ video }) => video.metrics("x"),
    "video.shortMetrics": ({ video }) => video.shortMetrics("x", "y"),
    "video.details": ({ video }) => video.details(["x"]),
    "video.compare": ({ video }) => video.compare(["x"]).pages().next(),
    "microblog.users": ({ microblog }) => microblog.users().pages().next(),
    "microblog.userTable": ({ microblog }) => microblog.userTable(["trend"]).pages().next(),
    "microblog.tweetTable": ({ microblog }) => microblog.tweetTable().pages().next(),
    "microblog.tweetDetails": ({ microblog }) => microblog.tweetDetails(["x"]),
    "microblog.compareTweets": ({ microblog }) => microblog.compareTweets(["x"]).pages().next(),
    "microblog.user": ({ microblog }) => microblog.user("x"),
    "microblog.tweets": ({ microblog }) => microblog.tweets("x").pages().next(),
    "microblog.followers": ({ microblog }) => microblog.followers("x").pages().next(),
    "microblog.tweet": ({ microblog }) => microblog.tweet("x", "y"),
    "microblog.history": ({ microblog }) => microblog.history("x").pages().next(),
    "microblog.tweetHistory": ({ microblog }) => microblog.tweetHistory("x", "y").pages().next(),
    "microblog.metrics": ({ microblog }) => microblog.metrics("x"),
    "microblog.tweetMetrics": ({ microblog }) => microblog.tweetMetrics("x", "y"),
    "microblog.details": ({ microblog }) => microblog.details(["x"]),
    "microblog.compare": ({ microblog }) => microblog.compare(["x"]).pages().next(),
    "creators.list": ({ creators }) => creators.list(),
    "creators.add": ({ creators }) => creators.add("x"),
    "creators.remove": ({ creators }) => creators.remove("x"),
    "lists.list": ({ lists }) => lists.list(),
    "lists.read": ({ lists }) => lists.read("x"),
    "lists.put": ({ lists }) => lists.put("x", {}),
    "lists.change": ({ lists }) => lists.change("x", { name: "y" }),
    "lists.delete": ({ lists }) => lists.delete("x"),
  };

  test.each(Object.entries(READS))("is a ConnectionError of %s()", async (_, read) => {
    const bodies = ["null", "{}", "[]", '{"channels":5,"shorts":{},"tweets":null,"followers":{}}'];
    for (const body of bodies) {
      const { requests: _requests, ...client } = createTestClient([respondWith(body)]);
      expect(await catchError(() => read(client))).toBeInstanceOf(ConnectionError);
    }
  });

  test.each(["null", "5", "{}", '{"nextCursor":5}', '{"has_more":true}', '{"has_more":"no"}'])(
    "has the pagination %s",
    async (pagination) => {
      const body = `{"shorts":[],"pagination":${pagination}}`;
      const { video } = createTestClient([respondWith(body)]);
      const pages = video.shorts("x").pages();
      expect(await catchError(() => pages.next())).toBeInstanceOf(ConnectionError);
    },
  );
});

describe("responseMaxBytes", () => {
  const options = { responseMaxBytes: 13, retries: 3 };

  test("allows a body of so many bytes", async () => {
    expect(ACCOUNT).toHaveLength(13);
    const { account } = createTestClient([respondWith(ACCOUNT)], options);
    expect((await account()).body.balance).toBe(1);
  });

  test("ends a longer body where it becomes too long, and is not read again", async () => {
    let sent = 0;
    const endless = () =>
      new Response(
        new ReadableStream(
          {
            pull(controller) {
              sent += 10;
              controller.enqueue(new Uint8Array(10));
            },
          },
          { highWaterMark: 0 },
        ),
      );
    const { account, requests } = createTestClient([endless], options);
    expect(await catchError(() => account())).toMatchObject({
      name: "ConnectionError",
      message: "GET /api/account got a response with more bytes than responseMaxBytes",
      idempotencyKey: listKeys(requests)[0],
    });
    expect(requests).toHaveLength(1);
    expect(sent).toBeLessThanOrEqual(30);
  });

  test("counts bytes, not characters, and also ends the text of an own fetch", async () => {
    const { account } = createTestClient([respondWith('{"balance":"é"}')], options);
    expect(await catchError(() => account())).toBeInstanceOf(ConnectionError);
    const fetch: FetchLike = async () => ({
      status: 200,
      headers: new Headers(),
      text: async () => ACCOUNT + " ",
    });
    const own = createTestClient([], { ...options, fetch });
    expect(await catchError(() => own.account())).toBeInstanceOf(ConnectionError);
  });

  test.each([
    ["28 bytes are allowed", 28, "é"],
    ["27 bytes are too few", 27, undefined],
  ])("counts the bytes of a text without a stream: %s", async (_, responseMaxBytes, account) => {
    const text = '{"balance":1,"account":"é"}';
    expect(text).toHaveLength(27);
    const response = { status: 200, headers: new Headers(), text: async () => text };
    const client = createTestClient([], { responseMaxBytes, fetch: async () => response });
    const read = async () => (await client.account()).body.account;
    if (account === undefined) {
      const message = "GET /api/account got a response with more bytes than responseMaxBytes";
      expect(await catchError(read)).toMatchObject({ message });
    } else expect(await read()).toBe(account);
  });

  test("keeps the status of an error", async () => {
    const html = respondWith("<html>".repeat(9), { status: 404 });
    const { account } = createTestClient([html], options);
    expect(await catchError(() => account())).toMatchObject({ status: 404, code: "Not Found" });
  });

  test("reads characters that are cut between two chunks", async () => {
    const bytes = new TextEncoder().encode('{"balance":1,"account":"é🍲"}');
    const chunked = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
            controller.close();
          },
        }),
      );
    const { account } = createTestClient([chunked]);
    expect((await account()).body.account).toBe("é🍲");
  });
});

test("User-Agent names the client, where a runtime lets it", async () => {
  const { account, requests } = createTestClient([respondWith(ACCOUNT)]);
  await account();
  const isBrowser = globalThis.navigator?.userAgent?.startsWith("Mozilla/") ?? false;
  const named = isBrowser ? undefined : expect.stringMatching(/^creator-metrics-core\/\d+\.\d+/);
  expect(requests[0]?.["user-agent"]).toEqual(named);
});
