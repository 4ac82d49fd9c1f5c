/** The endpoint of pictures: statuses, headers, its own rate limit, and how it is turned off. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { sendPicture, startOutside } from "../support/network/outside-server.ts";
import { waitUntil } from "../support/wait.ts";
import { startTestService, type TestService } from "../support/service.ts";

const waiting: ServerResponse[] = [];
const outside = await startOutside({
  "/picture.png": sendPicture(),
  ...Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `/waiting/${index}`,
      (_request: unknown, response: ServerResponse) => void waiting.push(response),
    ]),
  ),
  "/page.html": sendPicture(Buffer.from("<h1>"), { "content-type": "text/html" }),
});
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PICTURES: "on", RATE_LIMIT: "5" }, undefined, undefined, {
    ...outside.fetchOptions,
  });
  await observe(service);
});
afterAll(async () => {
  await service.close();
  await outside.close();
});

const observe = ({ observe: write }: TestService) =>
  write(
    { kind: "channel", id: "UC1", thumbnail: outside.toLink("/picture.png"), ...AT },
    { kind: "short", id: "s/1", channel: "UC1", thumbnail: outside.toLink("/picture.png"), ...AT },
    { kind: "user", username: "Ça", profile_image_url: outside.toLink("/picture.png"), ...AT },
    { kind: "user", username: "page", profile_image_url: outside.toLink("/page.html"), ...AT },
    { kind: "user", username: "plain", ...AT },
  );

const AT = { observedAt: "2026-11-20T10:00:00Z" };

test.each(["channel/UC1", "short/s%2F1", `user/${encodeURIComponent("ÇA")}`])(
  "200: GET /api/pictures/%s is the picture, which nothing can run in",
  async (path) => {
    const { key, account } = await service.createAccountWithKey(7);
    const response = await service.get(`/api/pictures/${path}`, key);
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "cache-control": "private, max-age=86400",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    });
    const etag = headers["etag"] ?? "";
    const again = await service.get(`/api/pictures/${path}`, key, {
      headers: { "if-none-match": etag },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get("content-type")).toBeNull();
    const head = await service.get(`/api/pictures/${path}`, key, { method: "HEAD" });
    expect(Object.fromEntries(head.headers)).toMatchObject({ "content-type": "image/png", etag });
    expect(await service.readSums(account)).toMatchObject({ balance: 7, debited: 0 });
  },
);

test("400: GET /api/pictures takes the kinds that have pictures", async () => {
  const response = await service.get("/api/pictures/tweet/1", (await createKey()).key);
  expect(response.status).toBe(400);
  expect(Object(await response.json()).message).toBe(
    'kind must be one of channel, short, user, got "tweet"',
  );
});

test("401: GET /api/pictures needs a key, for known and unknown names alike", async () => {
  const paths = ["channel/UC1", "channel/nobody"];
  const bodies = await Promise.all(
    paths.map(async (path) => {
      const response = await service.send(`/api/pictures/${path}`);
      return [response.status, await response.text()];
    }),
  );
  expect(bodies[0]).toEqual(bodies[1]);
  expect(bodies[0]?.[0]).toBe(401);
});

const createKey = (options = {}) => service.createAccountWithKey(undefined, options);

test("403: GET /api/pictures needs the scope read", async () => {
  const { key } = await createKey({ scopes: ["creators"] });
  expect((await service.get("/api/pictures/channel/UC1", key)).status).toBe(403);
});

test.each(["user/nobody", "user/plain", "user/page", "channel/uc1", "short/UC1"])(
  "404: GET /api/pictures/%s",
  async (path) => {
    const { key } = await createKey();
    expect((await service.get(`/api/pictures/${path}`, key)).status).toBe(404);
  },
);

test("429: GET /api/pictures has a limit of its own, and uses up no other request", async () => {
  const { key } = await createKey();
  const get = (path: string) => service.get(path, key);
  for (let sent = 0; sent < 600; sent += 50) {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => get("/api/pictures/channel/UC1")),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
  }
  const refused = await get("/api/pictures/channel/UC1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  const others = await Promise.all(Array.from({ length: 6 }, () => get("/api/account")));
  expect(others.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
});

test("503: GET /api/pictures while too many are fetched, and 200 soon after", async () => {
  const busy = await startTestService({ PICTURES: "on" }, undefined, undefined, {
    ...outside.fetchOptions,
  });
  const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
  await busy.observe(
    ...ids.map((id, index) => {
      const thumbnail = outside.toLink(`/waiting/${index}`);
      return { kind: "short", id, channel: "UC1", thumbnail, ...AT };
    }),
  );
  const get = (id: string) => busy.get(`/api/pictures/short/${id}`);
  const responses = ids.map(async (id) => {
    const response = await get(id);
    return { id, status: response.status, body: await response.text() };
  });
  const [first] = await Promise.all([
    Promise.race(responses),
    waitUntil(() => waiting.length === 4),
  ]);
  expect(first).toMatchObject({
    status: 503,
    body: '{"error":"Service Unavailable","message":"Too many pictures are being fetched; try again"}',
  });
  let answered = false;
  const all = Promise.all(responses).finally(() => (answered = true));
  await waitUntil(() => {
    for (const response of waiting.splice(0)) sendPicture()(response.req, response);
    return answered;
  });
  const statuses = (await all).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(4);
  expect(statuses.filter((status) => status === 200)).toHaveLength(36);
  const again = get(first.id);
  await waitUntil(() => waiting.length === 1);
  for (const response of waiting.splice(0)) sendPicture()(response.req, response);
  expect((await again).status).toBe(200);
  await busy.close();
  outside.paths.splice(0, Infinity, ...outside.paths.filter((path) => !path.includes("waiting")));
});

test("/metrics counts pictures by result, and outside saw one request for each link", async () => {
  const text = await (await service.send("/metrics")).text();
  const read = (result: string) =>
    Number(
      new RegExp(`^creator_metrics_pictures_total\\{result="${result}"\\} (\\d+)`, "m").exec(
        text,
      )?.[1],
    );
  expect([read("fetched"), read("type"), read("address")]).toEqual([1, 1, 0]);
  expect(read("cached")).toBeGreaterThan(600);
  expect(outside.paths.toSorted()).toEqual(["/page.html", "/picture.png"]);
});

test("with PICTURES=off, GET /api/pictures is 404, and nothing is sent outside", async () => {
  const off = await startTestService({ PICTURES: "off" });
  try {
    await observe(off);
    const before = outside.paths.length;
    expect((await off.get("/api/pictures/channel/UC1")).status).toBe(404);
    expect(outside.paths).toHaveLength(before);
    expect(await (await off.send("/metrics")).text()).not.toContain(
      "creator_metrics_pictures_total",
    );
  } finally {
    await off.close();
  }
});
