/** How long the client waits: for a response, between attempts, in all; and aborts. */
import { describe, expect, test } from "bun:test";
import { ConnectionError, createClient, type FetchLike } from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";

type Options = Partial<Parameters<typeof createClient>[0]>;

const createTestClient = (options: Options) =>
  createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "cm_1", retries: 0, ...options });

const respondWithAccount = () => new Response('{"balance":1}');

/** Fetches that ignore their signal, and never give a response, or never its body. */
const STUCK: readonly FetchLike[] = [
  () => new Promise(() => undefined),
  async () => ({
    status: 200,
    headers: new Headers(),
    text: () => new Promise(() => undefined),
  }),
  async () => new Response(new ReadableStream()),
];

/** Refuses requests with these headers, and counts them. */
function createRefusal(headers: Record<string, string>) {
  const times: number[] = [];
  const fetch: FetchLike = async () => {
    times.push(performance.now());
    return new Response("", { status: 503, headers });
  };
  return { fetch, times };
}

describe("timeoutMs", () => {
  test("ends an attempt with a TimeoutError, which a refused connection is not", async () => {
    for (const fetch of STUCK) {
      const error = await catchError(() => createTestClient({ fetch, timeoutMs: 5 }).account());
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({
        name: "TimeoutError",
        message: "GET /api/account got no response in time (timeoutMs, 5 ms)",
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
    }
    const refused = await catchError(() => createTestClient({}).account());
    expect(refused).toMatchObject({ name: "ConnectionError" });
  });

  test("has no end if it is Infinity, for which no timer is set", async () => {
    const fetch: FetchLike = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return respondWithAccount();
    };
    const { account } = createTestClient({ fetch, timeoutMs: Infinity });
    expect((await account()).body.balance).toBe(1);
  });
});

describe("deadlineMs", () => {
  test("ends all attempts with a TimeoutError", async () => {
    let attempts = 0;
    const fetch: FetchLike = () => {
      attempts++;
      return new Promise(() => undefined);
    };
    const options = { fetch, timeoutMs: 20, deadlineMs: 30, retries: 9, pauseMaxMs: 0 };
    const start = performance.now();
    const error = await catchError(() => createTestClient(options).account());
    expect(error).toMatchObject({ name: "TimeoutError" });
    expect(performance.now() - start).toBeLessThan(9 * 20);
    expect(attempts).toBeLessThanOrEqual(3);
  });

  test("is named by the error if it is shorter than timeoutMs", async () => {
    for (const fetch of STUCK) {
      const { account } = createTestClient({ fetch, deadlineMs: 5, retries: 3 });
      expect(await catchError(() => account())).toMatchObject({
        name: "TimeoutError",
        message: "GET /api/account got no response in time (deadlineMs, 5 ms)",
      });
    }
  });

  test("ends at once with the last error if the pause would end after it", async () => {
    const { fetch, times } = createRefusal({ "retry-after": "60" });
    const { account } = createTestClient({ fetch, deadlineMs: 59_000, retries: 3 });
    expect(await catchError(() => account())).toMatchObject({ status: 503, retryAfterMs: 60_000 });
    expect(times).toHaveLength(1);
  });
});

describe("pauseMaxMs", () => {
  test.each([
    ["30", 30_000],
    ["Fri, 20 Nov 2026 12:00:45 GMT", 45_000],
  ])("is compared with Retry-After: %s, which is waited for or fails at once", async (...row) => {
    const [retryAfter, pauseMs] = row;
    const date = "Fri, 20 Nov 2026 12:00:00 GMT";
    const { fetch, times } = createRefusal({ "retry-after": retryAfter, date });
    const hasty = createTestClient({ fetch, retries: 3, pauseMaxMs: pauseMs - 1 });
    const error = await catchError(() => hasty.account());
    expect(error).toMatchObject({ status: 503, retryAfterMs: pauseMs });
    const patient = createTestClient({ fetch, retries: 3, pauseMaxMs: pauseMs });
    const stop = new AbortController();
    const reading = catchError(() => patient.account({}, { signal: stop.signal }));
    setTimeout(() => stop.abort(), 20);
    expect(await reading).toMatchObject({ name: "AbortError" });
    expect(times).toHaveLength(2);
  });

  test.each(["0", "Fri, 20 Nov 2026 11:00:00 GMT"])("0 allows Retry-After: %s", async (value) => {
    const date = "Fri, 20 Nov 2026 12:00:00 GMT";
    const { fetch, times } = createRefusal({ "retry-after": value, date });
    const { account } = createTestClient({ fetch, retries: 2, pauseMaxMs: 0 });
    expect(await catchError(() => account())).toMatchObject({ status: 503, retryAfterMs: 0 });
    expect(times).toHaveLength(3);
  });

  test("is two minutes by default", async () => {
    const { fetch, times } = createRefusal({ "retry-after": "121" });
    const error = await catchError(() => createTestClient({ fetch, retries: 3 }).account());
    expect(error).toMatchObject({ status: 503, retryAfterMs: 121_000 });
    expect(times).toHaveLength(1);
  });

  test.each(["1.5", "-5", "soon 5", "Fri Nov 20 2026", ""])(
    "waits as if there were no Retry-After for %j",
    async (retryAfter) => {
      const { fetch, times } = createRefusal({ "retry-after": retryAfter });
      const { account } = createTestClient({ fetch, retries: 1, pauseMaxMs: 200 });
      expect(await catchError(() => account())).toMatchObject({ retryAfterMs: null });
      const [first = 0, second = 0] = times;
      // A pause of 0 would be shorter; one that is longer than 200 would not be made.
      expect(second - first).toBeGreaterThan(95);
    },
  );
});

describe("signal", () => {
  const reason = new Error("enough");

  test("ends a request with an AbortError, which has the reason and the key", async () => {
    for (const fetch of STUCK) {
      const controller = new AbortController();
      const { account } = createTestClient({ fetch, retries: 3 });
      const reading = catchError(() => account({}, { signal: controller.signal }));
      controller.abort(reason);
      const error = await reading;
      expect(error).toMatchObject({
        name: "AbortError",
        message: "GET /api/account was aborted",
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect((error as Error).cause).toBe(reason);
    }
  });

  test("ends a pause, and sends nothing if it was aborted before", async () => {
    const { fetch, times } = createRefusal({ "retry-after": "60" });
    const controller = new AbortController();
    const { video } = createTestClient({ fetch, retries: 3 });
    const options = { signal: controller.signal, idempotencyKey: "mine" };
    const reading = catchError(() => video.channel("soup", options));
    setTimeout(() => controller.abort(reason), 20);
    const aborted = { name: "AbortError", cause: reason, idempotencyKey: "mine" };
    expect(await reading).toMatchObject(aborted);
    expect(await catchError(() => video.channel("soup", options))).toMatchObject(aborted);
    const pages = video.shorts("soup", {}, options).pages();
    expect(await catchError(() => pages.next())).toMatchObject(aborted);
    expect(times).toHaveLength(1);
  });

  test("of a change has no key", async () => {
    const { creators } = createTestClient({});
    const { signal } = { signal: AbortSignal.abort(reason) };
    expect(await catchError(() => creators.add("esa", { signal }))).toMatchObject({
      name: "AbortError",
      idempotencyKey: undefined,
    });
  });
});
