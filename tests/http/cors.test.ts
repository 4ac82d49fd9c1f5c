import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../support/service.ts";

const ORIGIN = "https://a.example";
const OTHER_ORIGIN = "https://c.example";
const PREFLIGHT_HEADERS = ["methods", "headers", "max-age"] as const;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    CORS_ORIGINS: `${ORIGIN}, https://b.example`,
    RATE_LIMIT: "99",
  });
});
afterAll(() => service.close());

const readAllowHeader = ({ headers }: Response, what: string) =>
  headers.get(`access-control-allow-${what}`);

const splitList = (list: string | null) => (list ?? "").split(", ").toSorted();

describe("CORS_ORIGINS", () => {
  test("204: a page of a configured origin may send every method and header", async () => {
    const headers = { origin: ORIGIN };
    const response = await service.send("/api/creators", { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(readAllowHeader(response, "origin")).toBe(ORIGIN);
    expect(splitList(readAllowHeader(response, "methods"))).toEqual([
      "DELETE",
      "GET",
      "HEAD",
      "PATCH",
      "POST",
      "PUT",
    ]);
    expect(splitList(readAllowHeader(response, "headers"))).toEqual([
      "Content-Type",
      "Idempotency-Key",
      "If-None-Match",
      "X-API-Key",
      "X-Request-Id",
    ]);
    expect(response.headers.get("access-control-max-age")).toBe("600");
  });

  test.each(["/api/video/channels", "/api/video/none/details", "/api/creators", "/nothing"])(
    "a page of a configured origin may read every response header of %s",
    async (path) => {
      const response = await service.get(path, service.key, { headers: { origin: ORIGIN } });
      expect(readAllowHeader(response, "origin")).toBe(ORIGIN);
      expect(splitList(response.headers.get("access-control-expose-headers"))).toEqual([
        "Content-Disposition",
        "ETag",
        "Link",
        "RateLimit",
        "RateLimit-Policy",
        "Retry-After",
        "X-Credits-Cost",
        "X-Credits-Remaining",
        "X-History-Thinned",
        "X-Observed-At",
        "X-Request-Id",
      ]);
      for (const what of PREFLIGHT_HEADERS) expect(readAllowHeader(response, what)).toBeNull();
      expect(response.headers.has("access-control-max-age")).toBe(false);
    },
  );

  test("every response varies by Origin, whatever the origin of the request", async () => {
    for (const headers of [{}, { origin: ORIGIN }, { origin: OTHER_ORIGIN }]) {
      for (const path of ["/api/video/channels", "/api/creators", "/nothing"]) {
        const response = await service.get(path, service.key, { headers });
        expect(response.headers.get("vary")).toStartWith("X-API-Key, Accept-Encoding, Origin");
      }
    }
  });

  test("a page of another origin gets no CORS header", async () => {
    for (const method of ["OPTIONS", "GET"]) {
      const headers = { origin: OTHER_ORIGIN };
      const response = await service.get("/api/video/channels", service.key, { method, headers });
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("* allows every origin; without CORS_ORIGINS none is allowed, and responses do not vary by origin", async () => {
    const [openService, closedService] = [
      await startTestService({ CORS_ORIGINS: "*" }),
      await startTestService(),
    ];
    const headers = { origin: OTHER_ORIGIN };
    const open = await openService.get("/api/video/channels", openService.key, { headers });
    expect(readAllowHeader(open, "origin")).toBe(OTHER_ORIGIN);
    const closed = await closedService.get("/api/video/channels", closedService.key, { headers });
    expect([readAllowHeader(closed, "origin"), closed.headers.get("vary")]).toEqual([
      null,
      "X-API-Key, Accept-Encoding, Accept",
    ]);
    await openService.close();
    await closedService.close();
  });
});
