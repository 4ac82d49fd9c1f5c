import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    CORS_ORIGINS: "https://a.example, https://b.example",
    ADMIN_TOKEN: "a-token-of-an-administrator",
  });
});
afterAll(() => service.close());

const API_PATHS = [
  "/api/video/channels",
  "/api/video/%00/details",
  "/api/video/c/shorts?limit=0",
  "/api/video/c/short/s",
  "/api/microblog/u/details",
  "/api/microblog/u/tweets?days=0",
  "/api/microblog/u/followers",
  "/api/microblog/u/tweet/t",
  "/api/creators",
];

describe("the door", () => {
  test.each(API_PATHS.flatMap((path) => ["GET", "POST", "PATCH"].map((method) => [method, path])))(
    "401: %s %s without a key or with a wrong one, whatever else is wrong",
    async (method, path) => {
      const body = method === "GET" ? null : "x".repeat(70_000);
      for (const headers of [{}, { "x-api-key": "" }, { "x-api-key": "cm_wrong" }]) {
        const response = await service.send(path, { method, headers, body });
        expect(response.status).toBe(401);
        expect(await response.text()).not.toContain("cm_wrong");
      }
    },
  );

  test("401: tells a key that is missing or empty from one that is wrong", async () => {
    const errorOf = async (headers: Record<string, string>) => {
      const body: unknown = await (await service.send("/api/creators", { headers })).json();
      return Object(body).error;
    };
    expect(await errorOf({})).toBe("Missing API Key");
    expect(await errorOf({ "x-api-key": "" })).toBe("Missing API Key");
    expect(await errorOf({ "x-api-key": "cm_wrong" })).toBe("Invalid API Key");
  });

  test.each([
    ["/"],
    ["/api"],
    ["/api/video"],
    ["/api/video/c"],
    ["/api/video//details"],
    ["/API/creators"],
  ])("404: %s is no path, with a key or without", async (path) => {
    expect((await service.send(path)).status).toBe(404);
    const response = await service.get(path);
    const body: unknown = await response.json();
    expect(body).toMatchObject({ error: "Not Found" });
  });

  test("404: a slash at the end makes another path", async () => {
    expect((await service.get("/api/video/channels/")).status).toBe(404);
  });

  test.each(API_PATHS.map((path) => [path]))("405: POST %s, with Allow", async (path) => {
    const response = await service.get(path, service.key, { method: "POST", body: "{" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain("GET, HEAD");
  });

  test.each([...API_PATHS, "/livez", "/swagger"].map((path) => [path]))(
    "204: OPTIONS %s needs no key, and tells Allow alone",
    async (path) => {
      const response = await service.send(path, { method: "OPTIONS" });
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("allow")).toContain("OPTIONS");
    },
  );

  test("HEAD is a GET without its body, charged the same", async () => {
    const { key, account } = await service.createAccountWithKey(5);
    const response = await service.get("/api/video/channels", key, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("x-credits-remaining")).toBe("4");
    expect(await service.readSums(account)).toMatchObject({ balance: 4 });
  });

  test.each([
    ["abc.D_9-", true],
    ["a b", false],
    ["x".repeat(128), true],
    ["x".repeat(129), false],
    ["é", false],
  ])("X-Request-Id %j is given back: %p", async (id, isKept) => {
    const response = await service.get("/nothing", service.key, {
      headers: { "x-request-id": id },
    });
    expect(response.headers.get("x-request-id") === id).toBe(isKept);
  });

  test("the configured origins may call, others get no permission", async () => {
    const ask = (origin: string, method: string) =>
      service.send("/api/creators", { method, headers: { origin } });
    const allowed = await ask("https://b.example", "OPTIONS");
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://b.example");
    expect(allowed.headers.get("access-control-allow-headers")).toContain("X-API-Key");
    const refused = await ask("https://c.example", "OPTIONS");
    expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    const unauthorized = await ask("https://a.example", "GET");
    expect(unauthorized.headers.get("access-control-allow-origin")).toBe("https://a.example");
  });

  test("/admin opens to its token alone, and is no path where there is none", async () => {
    const ask = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await service.send("/admin/accounts", { headers })).status;
    };
    expect(await ask()).toBe(401);
    expect(await ask("Bearer something-else-altogether")).toBe(401);
    expect(await ask(`Bearer ${service.key}`)).toBe(401);
    const response = await fetch(`${service.address}/admin/accounts`, {
      headers: { authorization: "Bearer a-token-of-an-administrator" },
    });
    expect(response.status).toBe(200);
    const closed = await startTestService();
    expect((await closed.send("/admin/accounts")).status).toBe(404);
    await closed.close();
  });

  test("livez, readyz and metrics answer without a key", async () => {
    await service.send("/livez", { method: "OPTIONS" });
    for (const path of ["/livez", "/readyz"]) expect((await service.send(path)).status).toBe(200);
    const metrics = await (await service.send("/metrics")).text();
    expect(metrics).toMatch(/http_requests_total\{route="\/livez",method="GET",status="200"\} \d/);
    expect(metrics).toMatch(/_total\{route="\/livez",method="OPTIONS",status="204"\} \d/);
    expect(metrics).toContain('route="/api/video/:channel/details"');
    expect(metrics).toMatch(/^process_resident_memory_bytes \d{8,}$/m);
    expect(metrics).not.toMatch(/process_heap_bytes|nodejs_version/);
  });

  test("metrics counts the answers of a priced read by their status", async () => {
    const { key } = await service.createAccountWithKey(3);
    const path = "/api/video/counted/details";
    const counted = async () => {
      const metrics = await (await service.send("/metrics")).text();
      return [200, 304, 401, 402, 404].map((status) => {
        const labels = `route="/api/video/:channel/details",method="GET",status="${status}"`;
        return Number(metrics.split(`_total{${labels}} `)[1]?.split("\n")[0] ?? 0);
      });
    };
    const before = await counted();
    await service.get(path, key);
    await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "counted" });
    await service.get(path, key);
    await service.get(path, key, { headers: { "if-none-match": "*" } });
    await service.get(path, key);
    await service.get(path, "cm_wrong");
    const after = await counted();
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 1, 1, 1, 1]);
  });

  test("metrics tells how long answers took, in buckets that add up", async () => {
    const { key } = await service.createAccountWithKey(5);
    await service.get("/api/video/channels");
    const earlier = await (await service.send("/metrics")).text();
    const began = performance.now();
    for (let read = 0; read < 5; read++) await service.get("/api/video/channels", key);
    const tookS = (performance.now() - began) / 1000;
    const metrics = await (await service.send("/metrics")).text();
    expect(metrics).toContain("# TYPE http_request_duration_seconds histogram\n");
    const name = "http_request_duration_seconds";
    const valueOf = (series: string, from = metrics) =>
      Number(
        from
          .split("\n")
          .find((line) => line.startsWith(series))
          ?.split(" ")
          .at(-1),
      );
    const count = valueOf(`${name}_count{route="/api/video/channels"}`);
    expect(count).toBeGreaterThanOrEqual(5);
    expect(valueOf(`${name}_bucket{le="+Inf",route="/api/video/channels"}`)).toBe(count);
    const sum = `${name}_sum{route="/api/video/channels"}`;
    expect(valueOf(sum)).toBeGreaterThan(0);
    expect(valueOf(sum) - valueOf(sum, earlier)).toBeLessThan(tookS);
    const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
    const upto = bounds.map((le) =>
      valueOf(`${name}_bucket{le="${le}",route="/api/video/channels"}`),
    );
    expect(upto).toEqual(upto.toSorted((a, b) => a - b));
  });
});
