import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { BATCH_MAX_NAMES } from "../../core/limits.ts";
import { BODY_MAX_BYTES } from "../../server/http/request-body.ts";
import { sendPartial, sendRaw } from "../support/network/raw-http.ts";
import { countClosedReads, waitForCharged } from "../support/closed-reads.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.observe(...CHANNELS, ...USERS);
});
afterAll(() => service.close());

const CHANNELS = [
  { id: "UC1", username: "Soup", displayName: 'A "b"\n😀\u2028', joinedAt: "2019-02-11T17:20:05" },
  { id: "UC2", username: "soup", country: "IE", subscribers: 7 },
  // Its identifier is the username of another channel.
  { id: "Soup2", username: "other", viewCount: 2 ** 53 - 1 },
  { id: "UC3", username: "soup2", bannerImage: "" },
  { id: "__proto__", joinedAt: "0000-01-01" },
  { id: "a/b", description: "x".repeat(20_000), joinedAt: "9999-12-31T23:59:59.999" },
  { id: "😀", username: "É", joinedAt: "1969-12-31T23:59:59.999Z" },
].flatMap((channel) => [
  { kind: "channel", observedAt: "2026-11-18", ...channel, subscribers: 3 },
  { kind: "channel", observedAt: "2026-11-20", ...channel },
]);

const USERS = [
  { kind: "user", observedAt: "2026-11-19", username: "NASA", verified: true, followers_count: 1 },
  { kind: "user", observedAt: "2026-11-20", username: "nasa", created_at: "2007-12-19" },
  {
    kind: "user",
    observedAt: "2026-11-20",
    username: "É",
    verified: false,
    description: "\u007f\u0001",
  },
  // Known by a tweet alone.
  {
    kind: "tweet",
    observedAt: "2026-11-20",
    username: "Tweeter",
    id: "7",
    created_at: "2026-11-20",
  },
];

const KINDS = [
  [
    "/api/video/details",
    {
      field: "channels",
      single: (name: string) => `/api/video/${encodeURIComponent(name)}/details`,
      names: [
        "UC1",
        "Soup",
        "SOUP",
        "soup2",
        "Soup2",
        "__proto__",
        "a/b",
        "😀",
        "é",
        "É",
        "UC9",
        "x y",
      ],
    },
  ],
  [
    "/api/microblog/details",
    {
      field: "usernames",
      single: (name: string) => `/api/microblog/${encodeURIComponent(name)}/details`,
      names: ["NASA", "nasa", "é", "É", "tweeter", "@nasa", "nobody", "constructor"],
    },
  ],
] as const;

/** Sends a batch; a body that is no text is sent as JSON. */
async function sendBatch(
  path: string,
  body: unknown,
  key = service.key,
  headers: Record<string, string> = {},
) {
  const response = await service.get(path, key, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    cost: response.headers.get("x-credits-cost"),
    remaining: response.headers.get("x-credits-remaining"),
    etag: response.headers.get("etag"),
    text,
    body: Object(JSON.parse(text)),
  };
}

describe.each(KINDS)("POST %s", (path, { field, single, names }) => {
  test("200: has for each name what a single read returns, to the byte, in the order asked for", async () => {
    const bodies = new Map<string, string>();
    for (const name of names) {
      const response = await service.get(single(name));
      const status = response.status === 200 ? "details" : "error";
      const isFound = response.status === 200;
      const start = `{"name":${JSON.stringify(name)},"found":${isFound},"${status}":`;
      bodies.set(name, `${start}${await response.text()}}`);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 30 }),
        async (asked) => {
          const { status, cost, text } = await sendBatch(path, { [field]: asked });
          const results = asked.map((name) => bodies.get(name));
          expect([status, cost, text]).toEqual([
            200,
            String(asked.length),
            `{"results":[${results.join(",")}]}`,
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("200: shows at once what an observation changes, and has no ETag", async () => {
    const name = names[0] ?? "";
    const send = () => sendBatch(path, { [field]: [name] }, service.key, { "if-none-match": "*" });
    const before = await send();
    const kind = field === "channels" ? "channel" : "user";
    const id = field === "channels" ? { id: name } : { username: name };
    await service.observe({ kind, observedAt: "2026-11-20T11:00:00Z", ...id, description: "new" });
    const after = await send();
    expect([before.etag, before.status, after.etag, after.status]).toEqual([null, 200, null, 200]);
    expect(before.text).not.toContain('"description":"new"');
    expect(after.text).toContain('"description":"new"');
  });

  test(`200: ${BATCH_MAX_NAMES} names cost ${BATCH_MAX_NAMES} credits, found or not; fewer credits are 402 and take nothing`, async () => {
    const { key, account } = await service.createAccountWithKey(2 * BATCH_MAX_NAMES - 1);
    const body = { [field]: Array(BATCH_MAX_NAMES).fill("nobody") };
    expect(await sendBatch(path, body, key)).toMatchObject({
      status: 200,
      cost: "100",
      remaining: "99",
    });
    const refused = await sendBatch(path, body, key);
    expect(refused).toMatchObject({ status: 402, cost: null, remaining: "99" });
    expect(refused.body.error).toBe("Insufficient Credits");
    expect(await service.readSums(account)).toEqual({ balance: 99, debited: 100, refunded: 0 });
  });

  test.each([
    ["an empty list", { [field]: [] }, 400],
    ["101 names", { [field]: Array(101).fill("a") }, 400],
    ["a name alone", { [field]: "a" }, 400],
    ["a list as the body", ["a"], 400],
    ["null", "null", 400],
    ["no field", {}, 400],
    ["an unknown field", { [field]: ["a"], limit: 1 }, 400],
    ["a number as a name", { [field]: [7] }, 400],
    ["an empty name", { [field]: [""] }, 400],
    ["a name with NUL", { [field]: ["a\0"] }, 400],
    ["a lone surrogate", `{"${field}":["\\ud800"]}`, 400],
    ["a name of 257 characters", { [field]: ["x".repeat(257)] }, 400],
    ["a broken body", `{"${field}":["a"]`, 400],
    ["deep nesting", `{"${field}":${"[".repeat(30_000)}${"]".repeat(30_000)}}`, 400],
    ["an empty body", "", 400],
    ["a body over the limit", `{"${field}":["${"x".repeat(BODY_MAX_BYTES)}"]}`, 413],
  ])("%s is refused, free of charge", async (_, body, status) => {
    const { key, account } = await service.createAccountWithKey(1000);
    const refused = await sendBatch(path, body, key);
    expect([refused.status, refused.cost, refused.remaining]).toEqual([status, null, null]);
    expect(refused.body.message ?? refused.body.error).not.toBeEmpty();
    expect(await service.readSums(account)).toEqual({ balance: 1000, debited: 0, refunded: 0 });
  });

  test("415: a body of another type is refused, free of charge", async () => {
    const { key, account } = await service.createAccountWithKey(9);
    const headers = { "content-type": "text/plain" };
    expect((await sendBatch(path, { [field]: ["a"] }, key, headers)).status).toBe(415);
    expect(await service.readSums(account)).toMatchObject({ debited: 0 });
  });

  test("405: GET says that the path takes POST", async () => {
    const response = await service.get(path);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  test("Idempotency-Key: retries cost once, also concurrent ones; another body is 400", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    const headers = { "idempotency-key": "one" };
    const body = { [field]: ["nobody", "x", "y"] };
    // Over HTTP some come after the first response and count as repeats: no more than are free.
    const sent = Array.from({ length: 10 }, () => sendBatch(path, body, key, headers));
    const costs = (await Promise.all(sent)).map(({ cost }) => Number(cost));
    expect(costs.toSorted((a, b) => b - a)).toEqual([3, ...Array(9).fill(0)]);
    const retry = await sendBatch(path, JSON.stringify(body, null, 2), key, headers);
    expect(retry).toMatchObject({ status: 200, cost: "0", remaining: "7" });
    const other = await sendBatch(path, { [field]: ["x", "nobody", "y"] }, key, headers);
    expect(other).toMatchObject({ status: 400, cost: null });
    expect(other.text).toContain(
      "The Idempotency-Key one paid for another URL, body or saved list",
    );
    expect(await service.readSums(account)).toEqual({ balance: 7, debited: 3, refunded: 0 });
  });

  test("a client that leaves before its response pays for no name of the batch", async () => {
    const { key, account } = await service.createAccountWithKey(1000);
    const body = JSON.stringify({ [field]: ["a", "b", "c"] });
    const request =
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const closedBefore = await countClosedReads(service);
    // Bun closes the connection of a request that comes before the response to the one before.
    const sent = Array.from({ length: 50 }, () => sendRaw(service.address, request + request));
    expect(new Set(await Promise.all(sent))).toEqual(new Set([""]));
    await sendPartial(service.address, request.slice(0, -5));
    expect(await waitForCharged(service, account, closedBefore + 50)).toBe(0);
    expect((await service.readSums(account)).balance).toBe(1000);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });
});

test("1,000 concurrent batches on too few credits: exactly what is paid for is served", async () => {
  const CREDITS = 1000;
  const { key, account } = await service.createAccountWithKey(CREDITS);
  const responses = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => {
      const names = Array.from({ length: 7 }, (_name, place) => `c${index} ${place}`);
      return index % 2 === 0
        ? sendBatch("/api/video/details", { channels: names }, key)
        : sendBatch("/api/microblog/details", { usernames: names }, key);
    }),
  );
  const served = responses.filter(({ status }) => status === 200);
  const refused = responses.filter(({ status }) => status === 402);
  const paid = Math.floor(CREDITS / 7);
  expect([served.length, refused.length]).toEqual([paid, 1000 - paid]);
  expect(served.every(({ cost, body }) => cost === "7" && body.results.length === 7)).toBe(true);
  expect(await service.readSums(account)).toEqual({
    balance: CREDITS - 7 * paid,
    debited: 7 * paid,
    refunded: 0,
  });
  expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
}, 60_000);

test("concurrent batches of any size: none takes what it does not get, and none is refused what is left", async () => {
  const CREDITS = 500;
  const { key, account } = await service.createAccountWithKey(CREDITS);
  const sizes = Array.from({ length: 200 }, (_, index) => 1 + ((index * 37) % 100));
  const responses = await Promise.all(
    sizes.map(async (size) => {
      const channels = Array<string>(size).fill("nobody");
      return { size, ...(await sendBatch("/api/video/details", { channels }, key)) };
    }),
  );
  const served = responses.filter(({ status }) => status === 200);
  const refused = responses.filter(({ status }) => status === 402);
  expect(served.length + refused.length).toBe(sizes.length);
  const paid = served.reduce((sum, { size }) => sum + size, 0);
  const balance = CREDITS - paid;
  expect(await service.readSums(account)).toEqual({ balance, debited: paid, refunded: 0 });
  for (const { size, remaining } of refused) expect(Number(remaining)).toBeLessThan(size);
  for (const { size } of refused) expect(size).toBeGreaterThan(balance);
});
