/** What browsers and clients get at addresses that do not exist. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN: "the-token-of-the-administrator" });
});
afterAll(() => service.close());

/** What browsers send. */
const HTML = "text/html,application/xhtml+xml,*/*;q=0.8";

const visit = (path: string, headers: Record<string, string> = { accept: HTML }, method = "GET") =>
  fetch(service.address + path, { headers, method, redirect: "manual" });

const getType = (response: Response) => response.headers.get("content-type")?.split(";")[0];

describe("a browser at an address that does not exist", () => {
  test.each(["/nothing", "/channels/a/b", "/favicon.ico", "/users/a/tweets", "/%ff"])(
    "%s gives the page that says so, with status 404",
    async (path) => {
      const response = await visit(path);
      expect([response.status, getType(response)]).toEqual([404, "text/html"]);
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(response.headers.get("etag")).toBeNull();
      expect(await response.text()).toContain("<title>");
    },
  );

  test("gets the page again whatever it has cached, and only the headers for HEAD", async () => {
    const etag = (await visit("/")).headers.get("etag") ?? "";
    const again = await visit("/nothing", { accept: HTML, "if-none-match": etag });
    expect([again.status, (await again.text()).length > 100]).toEqual([404, true]);
    const head = await visit("/nothing", { accept: HTML }, "HEAD");
    expect([head.status, getType(head), await head.text()]).toEqual([404, "text/html", ""]);
  });

  test.each([
    ["/channels/", "/channels"],
    ["/users/nasa/?range=7d", "/users/nasa?range=7d"],
    ["/swagger/", "/swagger"],
  ])("%s leads to %s", async (path, location) => {
    const response = await visit(path);
    expect([response.status, response.headers.get("location")]).toEqual([308, location]);
  });

  test.each(["/api/nothing", "/api/creators/", "/admin/nothing"])(
    "%s is of an API, whose errors are JSON",
    async (path) => {
      const response = await visit(path);
      expect(getType(response)).toBe("application/json");
      expect([401, 404]).toContain(response.status);
    },
  );
});

test.each([
  ["another client", { accept: "*/*" }, "GET"],
  ["a client without Accept", {}, "GET"],
  ["a form", { accept: HTML }, "POST"],
])("%s gets JSON at an address that does not exist", async (_, headers, method) => {
  const response = await visit("/nothing", headers, method);
  expect([response.status, getType(response)]).toEqual([404, "application/json"]);
  expect(await response.json()).toEqual({
    error: "Not Found",
    message: "There is no path /nothing",
  });
});
