/**
 * nginx with the file of server/deploy/proxies that lets people log in with oauth2-proxy, in whose
 * place the test answers: which paths are open, which need the login, and which nobody reaches.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseStatus, sendRaw } from "../support/network/raw-http.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import {
  EXAMPLE_PREFIX,
  hasProxy,
  readExample,
  startProxy,
} from "../support/processes/reverse-proxy.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";
const COOKIE = "_oauth2_proxy=somebody";

const OPEN_PATHS = ["/api/account", "/api/video/channels"];
const LOGIN_PATHS = ["/", "/account", "/admin", "/admin/accounts", "/admin/status", "/admin/audit"]
  .concat(["/assets/pages.js", "/channels", "/channels/soup", "/compare", "/creators", "/lists"])
  .concat(["/swagger", "/swagger/json", "/users"]);
const PRIVATE_PATHS = ["/livez", "/metrics", "/readyz"];

describe.skipIf(!hasProxy("nginx with a login"))("behind nginx with a login", () => {
  let sandbox: Sandbox;
  let service: Awaited<ReturnType<Sandbox["serve"]>>;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let key = "";
  const redirects: (string | null)[] = [];
  // What oauth2-proxy answers: whether there is a session, and where the login begins.
  const login = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname === "/oauth2/auth") {
        const isKnown = request.headers.get("cookie") === COOKIE;
        return new Response(null, { status: isKnown ? 202 : 401 });
      }
      redirects.push(request.headers.get("x-auth-request-redirect"));
      return new Response(null, {
        status: 302,
        headers: { location: "https://login.example.com/" },
      });
    },
  });
  beforeAll(async () => {
    sandbox = await openSandbox({
      PUBLIC_URL: `https://example.com${EXAMPLE_PREFIX}`,
      TRUSTED_PROXIES: "127.0.0.1",
      ADMIN_TOKEN,
    });
    const lines = Array.from({ length: 20_000 }, (_, index) =>
      JSON.stringify({ kind: "user", observedAt: "2026-11-20", username: `user${index}` }),
    );
    await sandbox.runOrThrow("import", await sandbox.write("lines.ndjson", lines.join("\n")));
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "1000");
    key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    service = await sandbox.serve();
    proxy = await startProxy("nginx with a login", {
      backend: service.url,
      login: login.url.origin,
    });
  }, 60_000);
  afterAll(async () => {
    await proxy.close();
    await service.stop();
    await sandbox.close();
    await login.stop(true);
  });

  const send = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(proxy.address + path, { ...init, headers, redirect: "manual" });
  const authorization = `Bearer ${ADMIN_TOKEN}`;

  test("the API is open, and needs an API key", async () => {
    for (const path of OPEN_PATHS) {
      expect([path, (await send(path)).status]).toEqual([path, 401]);
      expect([path, (await send(path, { "x-api-key": key })).status]).toEqual([path, 200]);
    }
  });

  test("pages, the reference and the administration need the login, also with a token", async () => {
    for (const path of LOGIN_PATHS) {
      const refused = await send(`${path}?a=1&b=2`, { authorization, "x-api-key": key });
      expect([path, refused.status, refused.headers.get("location")]).toEqual([
        path,
        302,
        "https://login.example.com/",
      ]);
      expect(redirects.at(-1)).toBe(`${EXAMPLE_PREFIX}${path}?a=1&b=2`);
      expect([path, (await send(path, { authorization, cookie: COOKIE })).status]).toEqual([
        path,
        200,
      ]);
    }
  });

  test("health and metrics are for nobody, nor is the check of the login", async () => {
    for (const path of PRIVATE_PATHS) {
      expect([path, (await send(path, { authorization, cookie: COOKIE })).status]).toEqual([
        path,
        404,
      ]);
    }
    const check = await fetch(`${new URL(proxy.address).origin}/oauth2/auth`);
    expect(check.status).toBe(404);
  });

  test("no spelling of an open path leads to another one", async () => {
    const served: string[] = [];
    for (const parent of ["/..", String.raw`\..`, "/%2e%2e", String.raw`\%2e.`, "/.%2E"]) {
      for (const path of [...LOGIN_PATHS, ...PRIVATE_PATHS]) {
        for (const before of ["/api", "/api/x"]) {
          const target = `${EXAMPLE_PREFIX}${before}${parent.repeat(before.split("/").length - 1)}`;
          const response = await sendRaw(
            proxy.address,
            `GET ${target}${path} HTTP/1.1\r\nHost: example.com\r\n` +
              `Authorization: ${authorization}\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
          );
          if (![302, 400, 404].includes(parseStatus(response))) served.push(target + path);
        }
      }
    }
    expect(served).toEqual([]);
  });

  test("the service answers a wrong token itself, not the login", async () => {
    const response = await send("/admin/accounts", {
      authorization: "Bearer a-wrong-token",
      cookie: COOKIE,
    });
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: "Invalid API Key" },
    ]);
  });

  test("exports and imports of some megabytes pass through", async () => {
    const headers = { authorization, cookie: COOKIE };
    const exported = await (await send("/admin/observations", headers)).text();
    expect(exported).toBe(
      await (await fetch(`${service.url}/admin/observations`, { headers })).text(),
    );
    expect(exported.match(/\n/g)?.length).toBe(20_000);
    const imported = await send("/admin/observations", headers, { method: "POST", body: exported });
    expect(await imported.json()).toMatchObject({ read: 20_000, unchanged: 20_000 });
  });
});

test("oauth2-proxy.cfg listens where nginx asks, trusts its headers, and serves nothing itself", async () => {
  const config = Object(Bun.TOML.parse(await readExample("oauth2-proxy.cfg")));
  const nginx = await readExample("nginx-oauth2.conf");
  const { reverse_proxy, upstreams, cookie_secure } = config;
  expect([reverse_proxy, upstreams, cookie_secure]).toEqual([true, ["static://202"], true]);
  expect(config.redirect_url).toBe("https://example.com/oauth2/callback");
  expect(nginx).toContain(`proxy_pass http://${config.http_address};`);
});
