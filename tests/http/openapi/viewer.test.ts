/** The page that shows the OpenAPI document, and the files that it loads. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const fetchPath = (path: string) => fetch(`${service.address}${path}`);

describe("/swagger", () => {
  test("is a page that names no other host", async () => {
    const response = await fetchPath("/swagger");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toStartWith("text/html");
    const page = await response.text();
    expect(page).toContain("<title>Creator metrics</title>");
    expect(page.match(/(?:https?:)?\/\/[\w-]+\.[\w.-]+/g) ?? []).toEqual([]);
    expect(page).toContain('<script src="swagger/reference.js?v=');
    expect(page).toContain('<link rel="stylesheet" href="swagger/reference.css?v=');
  });

  test("configures the viewer: own document, no validator elsewhere, forgotten key", async () => {
    const script = await (await fetchPath("/swagger/start.js")).text();
    for (const setting of [
      'url: "swagger/json"',
      'validatorUrl: "none"',
      "persistAuthorization: false",
    ]) {
      expect(script).toContain(setting);
    }
  });

  test("has the same security headers as /admin, and no script in the document", async () => {
    const [page, admin] = [await fetchPath("/swagger"), await fetchPath("/admin")];
    for (const name of ["content-security-policy", "referrer-policy", "x-content-type-options"]) {
      expect([name, page.headers.get(name)]).toEqual([name, admin.headers.get(name)]);
    }
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await page.text()).not.toMatch(/<script(?! src=)|<style|\sstyle=|\son\w+=/);
    for (const path of ["/swagger/json", "/swagger/reference.js", "/swagger/start.js"]) {
      const { headers } = await fetchPath(path);
      expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
    }
  });

  test("needs no API key, and serves its own script and style sheet", async () => {
    for (const path of ["/swagger", "/swagger/json"]) {
      expect((await fetchPath(path)).status).toBe(200);
    }
    const script = await fetchPath("/swagger/reference.js");
    expect(script.headers.get("content-type")).toBe("text/javascript");
    expect((await script.bytes()).byteLength).toBeGreaterThan(1_000_000);
    const style = await fetchPath("/swagger/reference.css");
    expect(style.headers.get("content-type")).toBe("text/css");
    expect(await style.text()).toContain(".swagger-ui");
  });

  test.each(["/swagger/json", "/swagger/reference.js", "/swagger/reference.css"])(
    "%s is compressed, and revalidated by its ETag",
    async (path) => {
      const get = (headers: Record<string, string>) =>
        fetch(`${service.address}${path}`, { headers, decompress: false });
      const plain = await get({ "accept-encoding": "gzip;q=0, deflate" });
      const compressed = await get({ "accept-encoding": "deflate, gzip;q=0.5" });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(compressed.headers.get("content-encoding")).toBe("gzip");
      for (const { headers } of [plain, compressed]) {
        expect(headers.get("vary")).toBe("Accept-Encoding");
      }
      const bytes = new Uint8Array(await compressed.arrayBuffer());
      const whole = new Uint8Array(await plain.arrayBuffer());
      expect(Bun.gunzipSync(bytes)).toEqual(whole);
      expect(bytes.length).toBeLessThan(whole.length / 3);
      for (const [response, accepted] of [
        [plain, "identity"],
        [compressed, "gzip"],
      ] as const) {
        const etag = response.headers.get("etag") ?? "";
        const notModified = await get({ "accept-encoding": accepted, "if-none-match": etag });
        expect([notModified.status, await notModified.text()]).toEqual([304, ""]);
        const modified = await get({ "accept-encoding": accepted, "if-none-match": '"other"' });
        expect(modified.status).toBe(200);
        await modified.body?.cancel();
      }
    },
  );

  test.each(["js", "css"])(
    "reference.%s is cached for a year, under a URL of its version",
    async (type) => {
      const page = await (await fetchPath("/swagger")).text();
      const [, path = ""] =
        new RegExp(`"(swagger/reference\\.${type}\\?v=[^"]+)"`).exec(page) ?? [];
      const { headers } = await fetchPath(`/${path}`);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    },
  );
});
