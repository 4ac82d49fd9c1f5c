import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NOW, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RATE_LIMIT: "3" });
});
afterAll(() => service.close());

describe("RATE_LIMIT", () => {
  test("429: a request over the limit gets the time to wait and is not charged", async () => {
    const { key, account } = await service.createAccountWithKey(10);
    const seen: [number, string | null, string | null][] = [];
    for (const path of ["channels", "channels", "channels?_a", "channels"]) {
      const response = await service.get(`/api/video/${path}`, key);
      seen.push([
        response.status,
        response.headers.get("ratelimit"),
        response.headers.get("retry-after"),
      ]);
      expect(response.headers.get("ratelimit-policy")).toBe('"minute";q=3;w=60');
    }
    expect(seen).toEqual([
      [200, '"minute";r=2;t=20', null],
      [200, '"minute";r=1;t=40', null],
      [200, '"minute";r=0;t=60', null],
      [429, '"minute";r=0;t=60', "20"],
    ]);
    expect(await service.readSums(account)).toMatchObject({ debited: 3, balance: 7 });
    service.clock.now = NOW + 20_000;
    expect((await service.get("/api/video/channels", key)).status).toBe(200);
    expect((await service.get("/api/video/channels", key)).status).toBe(429);
  });

  test("each API key has its own limit; free requests count, requests without a key do not", async () => {
    const [first, other] = [
      await service.createAccountWithKey(9),
      await service.createAccountWithKey(9),
    ];
    for (let index = 0; index < 5; index++) await service.send("/api/creators");
    const statuses = [];
    for (let index = 0; index < 4; index++) {
      statuses.push((await service.get("/api/creators", first.key)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await service.get("/api/creators", other.key)).status).toBe(200);
    const response = await service.get("/api/microblog/nobody/details", first.key);
    expect([response.status, await response.json()]).toMatchObject([
      429,
      { error: "Too Many Requests" },
    ]);
  });

  test.each([
    ["GET", "/api/video/c/shorts?limit=0", 400],
    ["GET", "/api/microblog/%FF/details", 400],
    ["GET", "/api/microblog/nobody/details", 404],
    ["PATCH", "/api/creators", 415],
  ])("%s %s: a %d has the RateLimit headers too", async (method, path, status) => {
    const { key } = await service.createAccountWithKey(9);
    const response = await service.get(path, key, { method });
    expect(response.status).toBe(status);
    expect(response.headers.get("ratelimit")).toBe('"minute";r=2;t=20');
    expect(response.headers.get("ratelimit-policy")).toBe('"minute";q=3;w=60');
  });

  test("a batch and a comparison count as one request each, however many names they have", async () => {
    const { key } = await service.createAccountWithKey(99);
    const batch = await service.get("/api/video/details", key, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ channels: Array(50).fill("nobody") }),
    });
    expect(batch.headers.get("ratelimit")).toBe('"minute";r=2;t=20');
    const path = "/api/microblog/compare?usernames=a,b,c";
    const comparison = await service.get(path, key);
    expect(comparison.headers.get("ratelimit")).toBe('"minute";r=1;t=40');
  });

  test("405 is checked before the limit, 400 after it", async () => {
    const { key } = await service.createAccountWithKey(9);
    for (let index = 0; index < 3; index++) await service.get("/api/creators", key);
    expect((await service.get("/api/creators", key, { method: "POST" })).status).toBe(405);
    expect((await service.get("/api/video/c/shorts?limit=0", key)).status).toBe(429);
    expect((await service.get("/api/video/%00/details", key)).status).toBe(429);
  });
});
