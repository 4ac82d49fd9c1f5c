/** What the client pays for repeated calls, and what it says about the cost. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ConnectionError,
  createClient,
  MetricsError,
  type FetchLike,
} from "../../../core/client/mod.ts";
import { catchError } from "../../support/catch-error.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const observedAt = new Date(NOW).toISOString();
  await service.observe(
    { kind: "channel", observedAt, id: "UC1", username: "Soup" },
    { kind: "user", observedAt, username: "Nasa" },
    ...[1, 2, 3, 4].map((nth) => ({
      kind: "short",
      observedAt,
      channel: "UC1",
      id: `s${nth}`,
      publishedAt: new Date(NOW - nth).toISOString(),
    })),
    ...[1, 2, 3, 4].map((nth) => ({
      kind: "tweet",
      observedAt,
      username: "Nasa",
      id: `t${nth}`,
      created_at: new Date(NOW - nth * 1000).toISOString(),
    })),
  );
});
afterAll(() => service.close());

/** A client of an account with 9 credits. It loses the responses of the next `lost` requests. */
async function createLossyClient(options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const { key, account } = await service.createAccountWithKey(9);
  const losses = { lost: 0 };
  const requests: string[] = [];
  const lossyFetch: FetchLike = async (url, init) => {
    requests.push(url);
    const response = await fetch(url, init as RequestInit);
    if (losses.lost === 0) return response;
    losses.lost--;
    throw new Error("lost");
  };
  const client = createClient({
    baseUrl: service.address,
    apiKey: key,
    fetch: lossyFetch,
    ...options,
  });
  const readBalance = async () =>
    ((await service.readSums(account)) as { balance: number }).balance;
  return { client, losses, requests, readBalance };
}

describe("idempotencyKey", () => {
  test("of a ConnectionError repeats the call without a second charge, at an unknown cost", async () => {
    const { client, losses, readBalance } = await createLossyClient({ retries: 0 });
    losses.lost = 1;
    const error = await catchError(() => client.video.channel("soup"));
    if (!(error instanceof ConnectionError)) throw error;
    const { idempotencyKey } = error;
    expect(idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    const repeated = await client.video.channel("soup", { idempotencyKey });
    expect(repeated).toMatchObject({ cost: null, creditsRemaining: 8, body: { id: "UC1" } });
    expect(await readBalance()).toBe(8);
    expect((await client.video.channel("soup")).cost).toBe(1);
  });

  test("of a change does not exist", async () => {
    const { client, losses } = await createLossyClient();
    losses.lost = 1;
    expect(await catchError(() => client.creators.remove("nobody"))).toMatchObject({
      name: "ConnectionError",
      idempotencyKey: undefined,
    });
  });

  test.each(["", "a b", "é", "x".repeat(256)])("%j is a RangeError", async (idempotencyKey) => {
    const { client, requests } = await createLossyClient();
    const error = await catchError(() => client.video.channel("soup", { idempotencyKey }));
    expect(error).toBeInstanceOf(RangeError);
    expect(requests).toEqual([]);
  });
});

describe("pages()", () => {
  test("pays once for a page whose response was lost, once next() reads it again", async () => {
    const { client, losses, readBalance } = await createLossyClient({ retries: 0 });
    const pages = client.video.shorts("soup", { limit: 2 }).pages();
    expect((await pages.next()).value?.cost).toBe(1);
    losses.lost = 2;
    expect(await catchError(() => pages.next())).toBeInstanceOf(ConnectionError);
    expect(await catchError(() => pages.next())).toBeInstanceOf(ConnectionError);
    const { value } = await pages.next();
    expect(value).toMatchObject({ cost: null, body: { shorts: [{ id: "s3" }, { id: "s4" }] } });
    expect(await readBalance()).toBe(7);
  });

  test("reads each page once if next() is called again before it has responded", async () => {
    const { client, requests, readBalance } = await createLossyClient();
    const pages = client.video.shorts("soup", { limit: 2 }).pages();
    const read = await Promise.all([pages.next(), pages.next(), pages.next()]);
    const ids = read.map(({ value }) => value?.body.shorts.map(({ id }) => id));
    expect(ids).toEqual([["s1", "s2"], ["s3", "s4"], undefined]);
    expect(requests).toHaveLength(2);
    expect(await readBalance()).toBe(7);
  });

  test("begins at page or cursor, and uses the idempotency key for that page alone", async () => {
    const { client, requests } = await createLossyClient();
    const options = { idempotencyKey: "mine" };
    const tweets = client.microblog.tweets("nasa", { limit: 1, page: 2 }, options);
    const ids: string[] = [];
    for await (const [id] of tweets) ids.push(id);
    expect(ids).toEqual(["t3", "t4"]);
    expect(requests.map((url) => new URL(url).searchParams.get("page"))).toEqual(["2", "3"]);
    const first = await client.video.shorts("soup", { limit: 3 }).pages().next();
    const cursor = first.value?.body.pagination.nextCursor ?? "";
    const last = await client.video.shorts("soup", { limit: 3, cursor }).pages().next();
    expect(last.value?.body.shorts.map(({ id }) => id)).toEqual(["s4"]);
  });

  test("ends if a numbered page has left the window since the page before; not if it is the first", async () => {
    const { client } = await createLossyClient({
      // The service has 4 tweets, and the page after them is not there.
      fetch: async (url, init) => {
        const response = await fetch(url, init as RequestInit);
        const text = await response.text();
        const { status, headers } = response;
        return new Response(text.replace('"has_more":false', '"has_more":true'), {
          status,
          headers: { "x-credits-cost": headers.get("x-credits-cost") ?? "" },
        });
      },
    });
    const ids: string[] = [];
    for await (const [id] of client.microblog.tweets("nasa", { limit: 2 })) ids.push(id);
    expect(ids).toEqual(["t1", "t2", "t3", "t4"]);
    const beyond = client.microblog.tweets("nasa", { limit: 2, page: 9 }).pages();
    expect(await catchError(() => beyond.next())).toMatchObject({
      code: "Page Out of Range",
      cost: 1,
    });
  });

  test("goes on behind a page without items that has a cursor", async () => {
    const bodies = [
      '{"channels":[],"pagination":{"hasMore":true,"nextCursor":"b"}}',
      '{"channels":[{"id":"c"}],"pagination":{"hasMore":true,"nextCursor":"c"}}',
      '{"channels":[],"pagination":{"hasMore":false,"nextCursor":null}}',
    ];
    const { client } = await createLossyClient({ fetch: async () => new Response(bodies.shift()) });
    const ids: string[] = [];
    for await (const { id } of client.video.channels({ search: "soup" })) ids.push(id);
    expect([ids, bodies]).toEqual([["c"], []]);
  });

  test("fails, and sends nothing, at a cursor that is followed by itself", async () => {
    let requests = 0;
    const { client } = await createLossyClient({
      fetch: async () => {
        requests++;
        return new Response('{"shorts":[],"pagination":{"nextCursor":"same"}}');
      },
    });
    const pages = client.video.shorts("soup").pages();
    await pages.next();
    await pages.next();
    const error = await catchError(() => pages.next());
    expect(error).toMatchObject({ message: "The list returns to its page at same" });
    expect(requests).toBe(2);
  });
});

describe("cost", () => {
  test("is null after a lost response, which has told it", async () => {
    const { client, losses, readBalance } = await createLossyClient();
    losses.lost = 1;
    expect(await client.video.channel("soup")).toMatchObject({ cost: null, creditsRemaining: 8 });
    expect(await readBalance()).toBe(8);
    losses.lost = 1;
    expect((await client.account()).cost).toBe(0);
  });

  test("and creditsRemaining are in a MetricsError, if the response says them", async () => {
    const { client } = await createLossyClient();
    const missing = await catchError(() => client.video.channel("nobody"));
    expect(missing).toBeInstanceOf(MetricsError);
    expect(missing).toMatchObject({ status: 404, cost: 1, creditsRemaining: 8 });
    const poor = await catchError(() => client.video.details(Array.from("abcdefghij")));
    expect(poor).toMatchObject({ status: 402, cost: null, creditsRemaining: 8 });
    const invalid = await catchError(() => client.account({ by: "nothing" }));
    expect(invalid).toMatchObject({ status: 400, cost: null, creditsRemaining: null });
  });
});
