/** The client when responses are lost, late or refused, and when it keeps them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConnectionError, createClient, type FetchLike } from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";
import { startLossyProxy } from "../../support/network/lossy-proxy.ts";
import { startSilentServer } from "../../support/network/silent-server.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const observedAt = "2026-11-20";
  await service.observe(
    { kind: "channel", observedAt, id: "UC1", username: "Soup" },
    { kind: "user", observedAt, username: "Nasa" },
  );
});
afterAll(() => service.close());

const createTestClient = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: service.address, apiKey: service.key, ...options });

describe("createClient()", () => {
  test("pays once for each of 1,000 reads of which every tenth response is lost", async () => {
    const { key, account } = await service.createAccountWithKey(2000);
    const proxy = await startLossyProxy(service.address, /GET \/api\/video\/soup/);
    const client = createTestClient({ apiKey: key, baseUrl: proxy.url, retries: 20 });
    const work = Array.from({ length: 8 }, async (_, worker) => {
      for (let nth = worker; nth < 1000; nth += 8) {
        if (nth % 10 === 0) await proxy.dropNext();
        expect((await client.video.channel("soup")).body.id).toBe("UC1");
      }
    });
    await Promise.all(work);
    expect(await proxy.countDropped()).toBeGreaterThan(90);
    expect(await service.readSums(account)).toMatchObject({ balance: 1000 });
    await proxy.close();
  }, 120_000);

  test("does not repeat a change whose response was lost", async () => {
    const proxy = await startLossyProxy(service.address, /PATCH \/api\/creators/);
    await proxy.dropNext();
    const { creators } = createTestClient({ baseUrl: proxy.url });
    expect(await catchError(() => creators.add("esa"))).toBeInstanceOf(ConnectionError);
    expect((await creators.list()).body.creators).toMatchObject([{ creator: "esa" }]);
    expect(await catchError(() => creators.add("esa"))).toMatchObject({ status: 409 });
    await proxy.close();
  });

  test("repeats a request that is over the rate limit, once the service says that it may", async () => {
    const limited = await startTestService({ RATE_LIMIT: "60" });
    const statuses: number[] = [];
    const { account } = createTestClient({
      baseUrl: limited.address,
      apiKey: limited.key,
      fetch: async (url, init) => {
        const response = await fetch(url, init as RequestInit);
        statuses.push(response.status);
        // The clock of the service stands still.
        limited.clock.now += Number(response.headers.get("retry-after")) * 1000;
        return response;
      },
    });
    for (let nth = 0; nth <= 60; nth++) await account();
    expect(statuses.slice(59)).toEqual([200, 429, 200]);
    await limited.close();
  });

  test("repeats what is refused or fails for now, with the same Idempotency-Key", async () => {
    const headers = { "retry-after": "0" };
    const responses = [
      new Response('{"error":"Too Many Requests"}', { status: 429, headers }),
      new Response("", { status: 503, headers }),
      new Response("<html>", { status: 502, headers }),
      new Response('{"id":"UC1"}'),
    ];
    const keys: unknown[] = [];
    const fetch: FetchLike = async (_, init) => {
      keys.push(init.headers["idempotency-key"]);
      return responses.shift() ?? new Response("", { status: 500 });
    };
    expect(await createTestClient({ fetch }).video.channel("soup")).toMatchObject({
      body: { id: "UC1" },
    });
    expect([keys.length, new Set(keys).size, typeof keys[0]]).toEqual([4, 1, "string"]);
  });

  test("fails with the last response once all attempts are refused", async () => {
    let attempts = 0;
    const fetch: FetchLike = async () => {
      attempts++;
      const body = '{"error":"Service Unavailable","message":"m"}';
      return new Response(body, { status: 503, headers: { "retry-after": "0" } });
    };
    const { account } = createTestClient({ fetch, retries: 2 });
    const error = await catchError(() => account());
    expect(error).toMatchObject({ code: "Service Unavailable", message: "m", status: 503 });
    expect(attempts).toBe(3);
  });

  test("ends at the deadline of an attempt, and when the caller aborts", async () => {
    const server = await startSilentServer();
    const baseUrl = server.url;
    const slow = createTestClient({ baseUrl, timeoutMs: 20, retries: 1 });
    expect(await catchError(() => slow.video.channel("soup"))).toMatchObject({
      name: "TimeoutError",
      message: expect.stringContaining("no response in time (timeoutMs, 20 ms)"),
    });
    const controller = new AbortController();
    const { video } = createTestClient({ baseUrl });
    const reading = catchError(() => video.channel("x", { signal: controller.signal }));
    controller.abort(new Error("enough"));
    expect(await reading).toMatchObject({ name: "AbortError", cause: new Error("enough") });
    await server.close();
  });
});

describe("cachedResponses", () => {
  test("keeps responses by their ETag, and drops the one that was read longest ago", async () => {
    const statuses: number[] = [];
    const fetchAndRecord: FetchLike = async (url, init) => {
      const response = await fetch(url, init as RequestInit);
      statuses.push(response.status);
      return response;
    };
    const client = createTestClient({ fetch: fetchAndRecord, cachedResponses: 2 });
    await client.video.channel("soup");
    await client.microblog.user("nasa");
    await client.video.channel("soup");
    await client.video.allChannels();
    await client.video.channel("soup");
    await client.microblog.user("nasa");
    expect(statuses).toEqual([200, 200, 304, 200, 304, 200]);
  });

  test("gives a body that the caller may change", async () => {
    const { video } = createTestClient({ cachedResponses: 1 });
    const { body } = await video.channel("soup");
    body.username = "changed";
    expect((await video.channel("soup")).body.username).toBe("Soup");
  });

  test("are none by default", async () => {
    const sent: unknown[] = [];
    const { video } = createTestClient({
      fetch: (url, init) => {
        sent.push(init.headers["if-none-match"]);
        return fetch(url, init as RequestInit);
      },
    });
    await video.channel("soup");
    await video.channel("soup");
    expect(sent).toEqual([undefined, undefined]);
  });
});
