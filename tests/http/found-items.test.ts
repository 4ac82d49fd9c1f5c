/** Batches and comparisons of shorts and tweets, which are found by their identifiers alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { formatInstant, HOUR_MS } from "../../core/time.ts";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;

const PUBLISHED = NOW - 72 * HOUR_MS;
const atAge = (hours: number) => formatInstant(PUBLISHED + hours * HOUR_MS);

/** The views of some items at some ages in hours; one was also observed before its publication. */
const VIEWS: Readonly<Record<string, readonly (readonly [hours: number, views: number | null])[]>> =
  {
    a: [
      [-1, 5],
      [0, 10],
      [0.5, 11],
      [1.99, 12],
      [26, 20],
      [26.5, null],
      [60, 30],
    ],
    __proto__x: [
      [0.25, 1],
      [7, 2],
      [26.9, 3],
    ],
    late: [[71.5, 9]],
  };

beforeAll(async () => {
  service = await startTestService();
  const items = Object.entries(VIEWS).flatMap(([id, points]) =>
    points.map(([hours, views]) => ({ id, observedAt: atAge(hours), views })),
  );
  await service.observe(
    { kind: "channel", id: "UC1", username: "Soup", observedAt: atAge(1) },
    ...items.flatMap(({ id, observedAt, views }) => [
      { kind: "short", channel: "UC1", title: "T", publishedAt: atAge(0), id, observedAt, views },
      {
        kind: "tweet",
        username: "Nasa",
        text: "T",
        created_at: atAge(0),
        id,
        observedAt,
        impressions: views,
      },
    ]),
    { kind: "short", id: "lost", channel: "UC9", observedAt: atAge(1), publishedAt: atAge(0) },
    { kind: "short", id: "unpublished", channel: "UC1", observedAt: atAge(1) },
    { kind: "tweet", id: "unpublished", username: "Nasa", observedAt: atAge(1) },
  );
});
afterAll(() => service.close());

async function send(path: string, body?: unknown, key = service.key, headers = {}) {
  const init =
    body === undefined
      ? {}
      : {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
        };
  const response = await service.get(path, key, init);
  const text = await response.text();
  return {
    status: response.status,
    cost: response.headers.get("x-credits-cost"),
    response,
    text,
    body: Object(JSON.parse(text)),
  };
}

const KINDS = [
  [
    "/api/video/shorts",
    {
      single: (id: string) => `/api/video/UC1/short/${encodeURIComponent(id)}`,
      found: (id: string, details: string) =>
        `{"id":${JSON.stringify(id)},"found":true,"channel":"Soup","details":${details}}`,
      missing: (id: string) =>
        JSON.stringify({ id, found: false, error: { error: `Short ${id} not found` } }),
    },
  ],
  [
    "/api/microblog/tweets",
    {
      single: (id: string) => `/api/microblog/nasa/tweet/${encodeURIComponent(id)}`,
      found: (id: string, details: string) =>
        `{"id":${JSON.stringify(id)},"found":true,"details":${details}}`,
      missing: (id: string) =>
        JSON.stringify({
          id,
          found: false,
          error: { error: "Tweet Not Found", message: `Tweet ${id} not found` },
        }),
    },
  ],
] as const;

describe.each(KINDS)("POST %s", (path, { single, found, missing }) => {
  test("200: has for each identifier what a single read returns, to the byte", async () => {
    const ids = ["a", "__proto__x", "late", "lost", "unpublished", "constructor", "__proto__", "é"];
    const expected = new Map<string, string>();
    for (const id of ids) {
      const { status, text } = await send(single(id));
      expected.set(id, status === 200 ? found(id, text) : missing(id));
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...ids), { minLength: 1, maxLength: 20 }),
        async (asked) => {
          const { status, cost, text } = await send(path, { ids: asked });
          const results = asked.map((id) => expected.get(id));
          expect([status, cost, text]).toEqual([
            200,
            String(asked.length),
            `{"results":[${results.join(",")}]}`,
          ]);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("200, 402: 100 identifiers cost 100 credits, found or not; fewer credits take nothing", async () => {
    const { key, account } = await service.createAccountWithKey(199);
    const body = { ids: Array<string>(100).fill("a") };
    expect(await send(path, body, key)).toMatchObject({ status: 200, cost: "100" });
    expect(await send(path, body, key)).toMatchObject({ status: 402, cost: null });
    expect(await service.readSums(account)).toEqual({ balance: 99, debited: 100, refunded: 0 });
  });

  test.each([
    ["an empty list", { ids: [] }, 400],
    ["101 identifiers", { ids: Array(101).fill("a") }, 400],
    ["another field", { channels: ["a"] }, 400],
    ["a number", { ids: [7] }, 400],
    ["an empty identifier", { ids: [""] }, 400],
    ["a NUL", { ids: ["\0"] }, 400],
    ["no JSON", "{", 400],
  ])("%s is refused, free of charge", async (_, body, status) => {
    const { key, account } = await service.createAccountWithKey(500);
    expect(await send(path, body, key)).toMatchObject({ status, cost: null });
    expect(await service.readSums(account)).toMatchObject({ debited: 0 });
  });

  test("concurrent batches take what they get, and a retry with a key costs once", async () => {
    const { key, account } = await service.createAccountWithKey(100);
    const sizes = Array.from({ length: 40 }, (_, index) => 1 + ((index * 7) % 9));
    const responses = await Promise.all(
      sizes.map((size) => send(path, { ids: Array<string>(size).fill("no") }, key)),
    );
    const paid = responses.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0);
    expect(await service.readSums(account)).toEqual({
      balance: 100 - paid,
      debited: paid,
      refunded: 0,
    });
    const other = await service.createAccountWithKey(5);
    const headers = { "idempotency-key": "one" };
    for (let sent = 0; sent < 3; sent++) {
      expect((await send(path, { ids: ["a", "b"] }, other.key, headers)).status).toBe(200);
    }
    expect(await service.readSums(other.account)).toMatchObject({ debited: 2 });
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });
});

/** The newest known views of each item in rows of some hours, computed from all its points. */
function modelRows(ids: readonly string[], step: number) {
  const hours = ids.flatMap((id) =>
    (VIEWS[id] ?? []).flatMap(([age, views]) =>
      age < 0 || views === null ? [] : [Math.floor(age / step) * step],
    ),
  );
  return [...new Set(hours)]
    .toSorted((a, b) => a - b)
    .map((start) => ({
      hours: start,
      values: ids.map((id) => {
        const inRow = (VIEWS[id] ?? []).filter(
          ([age, views]) => views !== null && age >= start && age < start + step,
        );
        return inRow.at(-1)?.[1] ?? null;
      }),
    }));
}

describe.each([
  ["/api/video/compare-shorts", "shorts", { channel: "Soup", title: "T", publishedAt: atAge(0) }],
  [
    "/api/microblog/compare-tweets",
    "tweets",
    { username: "Nasa", text: "T", created_at: atAge(0) },
  ],
] as const)("GET %s", (path, key, item) => {
  test.each([1, 6, 24])("200: by age in steps of %d hours, page by page", async (step) => {
    const ids = ["a", "late", "nothing", "__proto__x", "a"];
    const isFound = ids.map((id) => id !== "nothing");
    for (const limit of [1, 2, 1000]) {
      const rows: unknown[] = [];
      let next: string | undefined = `${path}?ids=${ids.join()}&by=age&step=${step}&limit=${limit}`;
      while (next !== undefined) {
        const { body, cost, response } = await send(next);
        expect(cost).toBe("5");
        expect(body).toMatchObject({ by: "age", step });
        expect(body[key].map(({ found }: { found: boolean }) => found)).toEqual(isFound);
        expect(body[key][0]).toEqual({ id: "a", found: true, ...item });
        rows.push(...body.rows);
        next = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
      }
      expect(rows).toEqual(modelRows(ids, step));
    }
  });

  test("200: by date, like the histories of the items", async () => {
    const { body } = await send(`${path}?ids=a,late&from=2026-11-17&interval=day`);
    expect(body).toMatchObject({ by: "date", interval: "day" });
    expect(body.rows).toEqual([
      { timestamp: "2026-11-17T00:00:00.000Z", values: [12, null] },
      { timestamp: "2026-11-18T00:00:00.000Z", values: [20, null] },
      { timestamp: "2026-11-20T00:00:00.000Z", values: [30, 9] },
    ]);
  });

  test("200: by date in a time zone, which the response names", async () => {
    const { body } = await send(`${path}?ids=a&from=2026-11-17&zone=Asia/Tokyo`);
    expect(body).toMatchObject({ by: "date", interval: "day", zone: "Asia/Tokyo" });
    expect(body.rows[0].timestamp).toBe("2026-11-16T15:00:00.000Z");
  });

  test("200: an observation changes a cached comparison, also of an item that was not found", async () => {
    const compare = async () => (await send(`${path}?ids=new&by=age`)).body;
    expect((await compare())[key][0].found).toBe(false);
    const point = { id: "new", observedAt: atAge(2) };
    await service.observe(
      key === "shorts"
        ? { kind: "short", channel: "UC1", publishedAt: atAge(0), views: 4, ...point }
        : { kind: "tweet", username: "Nasa", created_at: atAge(0), impressions: 4, ...point },
    );
    expect((await compare()).rows).toEqual([{ hours: 2, values: [4] }]);
  });

  test.each([
    "count=views&by=date",
    "ids=",
    "ids=a,,b",
    "ids=a,b,c,d,e,f,g,h,i,j,k",
    "ids=a&by=views",
    "ids=a&count=constructor",
    "ids=a&step=1",
    "ids=a&by=age&step=0",
    "ids=a&by=age&step=12",
    "ids=a&by=age&from=2026-11-01",
    "ids=a&by=age&interval=day",
    "ids=a&by=age&limit=0",
    "ids=a&by=age&cursor=x",
    "ids=a&by=age&step=6&cursor=WyJhZ2UiLDYsMV0",
    "ids=a&interval=year",
  ])("400: %s, free", async (query) => {
    const { key: apiKey, account } = await service.createAccountWithKey(50);
    expect((await send(`${path}?${query}`, undefined, apiKey)).status).toBe(400);
    expect(await service.readSums(account)).toMatchObject({ debited: 0 });
  });

  test("401, 402: needs a key, and a credit for each identifier", async () => {
    expect((await send(`${path}?ids=a`, undefined, "cm_wrong")).status).toBe(401);
    const { key: apiKey } = await service.createAccountWithKey(1);
    expect((await send(`${path}?ids=a,b`, undefined, apiKey)).status).toBe(402);
  });
});

test("GET /api/video/compare-shorts finds a short as soon as its channel is observed", async () => {
  const compare = async () =>
    (await send("/api/video/compare-shorts?ids=early")).body["shorts"][0].found;
  await service.observe({
    kind: "short",
    id: "early",
    channel: "UC8",
    observedAt: atAge(1),
    publishedAt: atAge(0),
  });
  expect(await compare()).toBe(false);
  await service.observe({ kind: "channel", id: "UC8", observedAt: atAge(1) });
  expect(await compare()).toBe(true);
});
