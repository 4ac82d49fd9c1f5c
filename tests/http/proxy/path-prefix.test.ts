/** A service whose PUBLIC_URL has a path, below which everything is, and which trusts a proxy. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createClient } from "../../../core/client/mod.ts";
import { countClosedReads, waitForCharged } from "../../support/closed-reads.ts";
import { sendRaw } from "../../support/network/raw-http.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const PUBLIC_URL = "https://metrics.example.com/creators";
const CREDITS_URL = "https://metrics.example.com/shop";
const ADMIN_TOKEN = "a-token-of-an-administrator";

let service: TestService;
let origin = "";
beforeAll(async () => {
  service = await startTestService({
    PUBLIC_URL,
    CREDITS_URL,
    ADMIN_TOKEN,
    TRUSTED_PROXIES: "127.0.0.1",
    COLLECT: "off",
  });
  ({ origin } = new URL(service.address));
  const observedAt = "2026-11-20";
  const ids = ["s0", "s1", "s2", "s3", "s4"];
  await service.observe(
    { kind: "channel", observedAt, id: "UC1", username: "soup" },
    ...ids.map((id) => ({
      kind: "short",
      observedAt,
      channel: "UC1",
      id,
      publishedAt: observedAt,
    })),
  );
});
afterAll(() => service.close());

const sendAs = (
  path: string,
  {
    token = ADMIN_TOKEN,
    forwarded = "",
    ...init
  }: {
    readonly token?: string;
    readonly forwarded?: string;
  } & RequestInit = {},
) =>
  fetch(`${service.address}/admin/${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "x-forwarded-for": forwarded,
    },
  });

describe("below the prefix of PUBLIC_URL", () => {
  test("the prefix without its slash redirects, with any query, also without a Host", async () => {
    for (const query of ["x=日", "x=é", "x=%C3%A9"]) {
      const response = await sendRaw(origin, `GET /creators?${query} HTTP/1.0\r\n\r\n`);
      expect(response).toStartWith("HTTP/1.1 308");
      expect(response).toMatch(/^location: \/creators\/\?x=%[\x21-\x7e]+\r$/im);
    }
  });

  test("every kind of endpoint responds as its declaration says", async () => {
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect([path, (await service.send(path)).status]).toEqual([path, 200]);
    }
    const details = await service.get("/api/video/soup/details");
    const etag = details.headers.get("etag") ?? "";
    const headers = { "if-none-match": etag };
    expect((await service.get("/api/video/soup/details", service.key, { headers })).status).toBe(
      304,
    );
    expect((await service.send("/api/video/channels")).status).toBe(401);
    expect((await service.send("/api/video/channels", { method: "OPTIONS" })).status).toBe(204);
    const client = createClient({ baseUrl: service.address, apiKey: service.key });
    expect((await client.creators.add("nasa.gov")).body.total_creators).toBe(1);
    const shorts = await Array.fromAsync(client.video.shorts("soup", { limit: 2 }));
    expect(shorts.length).toBe(5);
  });

  test("an idempotency key makes the repeat of a read free", async () => {
    const headers = { "idempotency-key": "one" };
    const read = () => service.get("/api/video/soup/details", service.key, { headers });
    const [first, second] = [await read(), await read()];
    expect([first, second].map((response) => response.headers.get("x-credits-cost"))).toEqual([
      "1",
      "0",
    ]);
  });

  test("links have the prefix, and that of CREDITS_URL is as it was set", async () => {
    const page = await service.get("/api/video/soup/shorts?limit=2");
    expect(page.headers.get("link")).toStartWith(
      "</creators/api/video/soup/shorts?limit=2&cursor=",
    );
    const [, next = ""] = /^<(.*)>; rel="next"$/.exec(page.headers.get("link") ?? "") ?? [];
    const headers = { "x-api-key": service.key };
    expect((await fetch(origin + next, { headers })).status).toBe(200);
    const { key } = await service.createAccountWithKey();
    const refused = await service.get("/api/video/soup/shorts", key);
    expect([refused.status, refused.headers.get("link")]).toEqual([
      402,
      `<${CREDITS_URL}>; rel="payment"`,
    ]);
  });

  test("an address with a slash too many, or without that of the prefix, leads to the right one", async () => {
    const visit = async (target: string) => {
      const headers = { accept: "text/html" };
      const response = await fetch(origin + target, { headers, redirect: "manual" });
      return [response.status, response.headers.get("location")];
    };
    expect(await visit("/creators")).toEqual([308, "/creators/"]);
    expect(await visit("/creators?a=b")).toEqual([308, "/creators/?a=b"]);
    expect(await visit("/creators/users/nasa/?range=7d")).toEqual([
      308,
      "/creators/users/nasa?range=7d",
    ]);
    expect(await visit("/creators/creators")).toEqual([200, null]);
  });

  test("errors name the path as the client sent it", async () => {
    const readMessage = async (path: string, method: string) => {
      const response = await service.get(path, service.key, { method });
      return [response.status, Object(await response.json()).message];
    };
    expect(await readMessage("/api/nothing", "GET")).toEqual([
      404,
      "There is no path /creators/api/nothing",
    ]);
    expect(await readMessage("/api/account", "DELETE")).toEqual([
      405,
      "/creators/api/account takes GET, HEAD, OPTIONS, got DELETE",
    ]);
    expect(await readMessage("/assets/pages/chunk-x.js", "GET")).toEqual([
      404,
      "There is no path /creators/assets/pages/chunk-x.js",
    ]);
  });

  test("the OpenAPI document names PUBLIC_URL, and pages load their files below the prefix", async () => {
    const document = await (await fetch(`${service.address}/swagger/json`)).json();
    expect(document).toMatchObject({ servers: [{ url: PUBLIC_URL }] });
    for (const path of ["/", "/channels/soup", "/admin", "/swagger"]) {
      const response = await fetch(service.address + path);
      expect(response.headers.get("content-security-policy")).toContain("script-src 'self'");
      const links = (await response.text()).matchAll(/(?:src|href)="(?!data:)([^"]+)"/g);
      const files = Array.from(
        links,
        ([, link = ""]) => new URL(link, service.address + path).href,
      );
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) {
        expect(file).toStartWith(`${service.address}/`);
        expect((await fetch(file)).status).toBe(200);
      }
    }
  });

  test("a read whose connection closes before its response costs nothing", async () => {
    const { account, key } = await service.createAccountWithKey(1000);
    const lines = ["GET /creators/api/video/soup/details HTTP/1.1", "Host: a", `X-API-Key: ${key}`];
    const request = `${lines.join("\r\n")}\r\n\r\n`;
    const closedBefore = await countClosedReads(service);
    // Bun closes a connection on which a second request arrives before the first response.
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => sendRaw(service.address, request + request)),
    );
    expect(new Set(responses)).toEqual(new Set([""]));
    expect(await waitForCharged(service, account, closedBefore + 20)).toBe(0);
  });

  test("an import of some megabytes arrives", async () => {
    const line = JSON.stringify({ kind: "user", observedAt: "2026-11-20", username: "u" });
    const body = `${line}\n`.repeat(50_000);
    const response = await sendAs("observations", { method: "POST", body });
    expect(await response.json()).toMatchObject({ read: 50_000, rejected: [] });
  });
});

describe("outside of the prefix of PUBLIC_URL", () => {
  test.each(["/", "/livez", "/metrics", "/api/account", "/admin/accounts", "/creatorsx/livez"])(
    "%s is 404, and says what all paths begin with",
    async (path) => {
      const headers = { "x-api-key": service.key, authorization: `Bearer ${ADMIN_TOKEN}` };
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const response = await fetch(origin + path, { method, headers });
        expect(response.status).toBe(404);
        expect(response.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect(await response.json()).toEqual({
          error: "Not Found",
          message:
            `There is no path ${path}: all paths of this service begin with /creators/, which a ` +
            "proxy in front of it must not remove",
        });
      }
    },
  );
});

describe("behind TRUSTED_PROXIES", () => {
  const readOrigin = async (forwarded: string): Promise<string> => {
    const body = JSON.stringify({ name: crypto.randomUUID() });
    await sendAs("accounts", { method: "POST", body, forwarded });
    const audit = await (await sendAs("audit?limit=1")).json();
    return Object(audit).entries[0].origin;
  };

  test("the audit has the address of the client", async () => {
    expect(await readOrigin("198.51.100.7")).toBe("198.51.100.7");
    expect(await readOrigin("1.1.1.1, 2001:db8::7")).toBe("2001:db8::7");
    expect(await readOrigin("")).toBe("127.0.0.1");
  });

  test("wrong tokens lock out the network of the client, and no other behind the proxy", async () => {
    const guess = async (forwarded: string, nth: number) =>
      (await sendAs("accounts", { token: `a-wrong-token-${nth}`, forwarded })).status;
    const guesses = await Promise.all([1, 2, 3, 4, 5, 6].map((nth) => guess("203.0.113.9", nth)));
    expect(guesses.toSorted()).toEqual([401, 401, 401, 401, 401, 429]);
    // What a client writes before its own address changes nothing.
    expect(await guess("1.2.3.4, 203.0.113.9", 7)).toBe(429);
    expect(await guess("203.0.113.10", 8)).toBe(401);
    expect((await sendAs("accounts", { forwarded: "203.0.113.10" })).status).toBe(200);
  });
});
