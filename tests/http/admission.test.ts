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
  "/api/video/compare",
  "/api/microblog/u/details",
  "/api/microblog/u/tweets?days=0",
  "/api/microblog/u/followers",
  "/api/microblog/u/tweet/t",
  "/api/creators",
];

describe("admission", () => {
  test.each(
    [...API_PATHS, "/api/video/details"].flatMap((path) =>
      ["GET", "POST", "PATCH"].map((method) => [method, path]),
    ),
  )("401: %s %s without a valid API key, whatever else is wrong", async (method, path) => {
    const body = method === "GET" ? null : "x".repeat(70_000);
    for (const headers of [{}, { "x-api-key": "" }, { "x-api-key": "cm_wrong" }]) {
      const response = await service.send(path, { method, headers, body });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain("cm_wrong");
    }
  });

  test("401: a missing or empty API key and a wrong one are different errors", async () => {
    const readError = async (headers: Record<string, string>) => {
      const body: unknown = await (await service.send("/api/creators", { headers })).json();
      return Object(body).error;
    };
    expect(await readError({})).toBe("Missing API Key");
    expect(await readError({ "x-api-key": "" })).toBe("Missing API Key");
    expect(await readError({ "x-api-key": "cm_wrong" })).toBe("Invalid API Key");
  });

  test.each([
    ["/page"],
    ["/channels/c/shorts"],
    ["/api"],
    ["/api/video"],
    ["/api/video/c"],
    ["/api/video//details"],
    ["/API/creators"],
  ])("404: %s is an unknown path, with an API key or without", async (path) => {
    expect((await service.send(path)).status).toBe(404);
    const response = await service.get(path);
    const body: unknown = await response.json();
    expect(body).toMatchObject({ error: "Not Found" });
  });

  test("404: a path with a trailing slash is unknown", async () => {
    expect((await service.get("/api/video/channels/")).status).toBe(404);
  });

  test.each(API_PATHS.map((path) => [path]))("405: POST %s responds with Allow", async (path) => {
    const response = await service.get(path, service.key, { method: "POST", body: "{" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain("GET, HEAD");
  });

  test.each([...API_PATHS, "/livez", "/swagger"].map((path) => [path]))(
    "204: OPTIONS %s needs no API key and responds with Allow",
    async (path) => {
      const response = await service.send(path, { method: "OPTIONS" });
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("allow")).toContain("OPTIONS");
    },
  );

  test("HEAD /api/video/channels responds like GET without a body, at the same cost", async () => {
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
  ])("X-Request-Id %j is returned: %p", async (id, isReturned) => {
    const response = await service.get("/nothing", service.key, {
      headers: { "x-request-id": id },
    });
    expect(response.headers.get("x-request-id") === id).toBe(isReturned);
  });

  test("CORS_ORIGINS: the configured origins may call, others may not", async () => {
    const sendFrom = (origin: string, method: string) =>
      service.send("/api/creators", { method, headers: { origin } });
    const allowed = await sendFrom("https://b.example", "OPTIONS");
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://b.example");
    expect(allowed.headers.get("access-control-allow-headers")).toContain("X-API-Key");
    const refused = await sendFrom("https://c.example", "OPTIONS");
    expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    const unauthorized = await sendFrom("https://a.example", "GET");
    expect(unauthorized.headers.get("access-control-allow-origin")).toBe("https://a.example");
  });

  test("/admin responds to its token alone, and is an unknown path without ADMIN_TOKEN", async () => {
    const readStatus = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      return (await service.send("/admin/accounts", { headers })).status;
    };
    expect(await readStatus()).toBe(401);
    expect(await readStatus("Bearer something-else-altogether")).toBe(401);
    expect(await readStatus(`Bearer ${service.key}`)).toBe(401);
    const response = await fetch(`${service.address}/admin/accounts`, {
      headers: { authorization: "Bearer a-token-of-an-administrator" },
    });
    expect(response.status).toBe(200);
    const closed = await startTestService();
    expect((await closed.send("/admin/accounts")).status).toBe(404);
    await closed.close();
  });

  test("/livez, /readyz and /metrics need no API key", async () => {
    await service.send("/livez", { method: "OPTIONS" });
    for (const path of ["/livez", "/readyz"]) expect((await service.send(path)).status).toBe(200);
    const metrics = await (await service.send("/metrics")).text();
    expect(metrics).toMatch(/http_requests_total\{route="\/livez",method="GET",status="200"\} \d/);
    expect(metrics).toMatch(/_total\{route="\/livez",method="OPTIONS",status="204"\} \d/);
    expect(metrics).toContain('route="/api/video/:channel/details"');
    expect(metrics).toMatch(/^process_resident_memory_bytes \d{8,}$/m);
    expect(metrics).not.toMatch(/process_heap_bytes|nodejs_version/);
  });

  test("/metrics counts the responses of a charged read by status", async () => {
    const { key } = await service.createAccountWithKey(3);
    const path = "/api/video/counted/details";
    const readCounts = async () => {
      const metrics = await (await service.send("/metrics")).text();
      return [200, 304, 401, 402, 404].map((status) => {
        const labels = `route="/api/video/:channel/details",method="GET",status="${status}"`;
        return Number(metrics.split(`_total{${labels}} `)[1]?.split("\n")[0] ?? 0);
      });
    };
    const before = await readCounts();
    await service.get(path, key);
    await service.observe({ kind: "channel", observedAt: "2026-11-20", id: "counted" });
    await service.get(path, key);
    await service.get(path, key, { headers: { "if-none-match": "*" } });
    await service.get(path, key);
    await service.get(path, "cm_wrong");
    const after = await readCounts();
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 1, 1, 1, 1]);
  });

  test("/metrics has the durations of responses, in cumulative buckets", async () => {
    const { key } = await service.createAccountWithKey(5);
    await service.get("/api/video/channels");
    const earlier = await (await service.send("/metrics")).text();
    const startedAt = performance.now();
    for (let read = 0; read < 5; read++) await service.get("/api/video/channels", key);
    const elapsedS = (performance.now() - startedAt) / 1000;
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
    expect(valueOf(sum) - valueOf(sum, earlier)).toBeLessThan(elapsedS);
    const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
    const cumulativeCounts = bounds.map((le) =>
      valueOf(`${name}_bucket{le="${le}",route="/api/video/channels"}`),
    );
    expect(cumulativeCounts).toEqual(cumulativeCounts.toSorted((a, b) => a - b));
  });
});
