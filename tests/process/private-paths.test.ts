/**
 * A target is served only if it begins with the route that its path has once Bun has normalized it.
 * So a proxy that blocks a path, or passes on only some, cannot be passed with another spelling.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasProxy, startProxy } from "../support/processes/reverse-proxy.ts";
import { parseStatus, sendRaw } from "../support/network/raw-http.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let key = "";
beforeAll(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN });
  service = await sandbox.serve();
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "1000");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
});
afterAll(async () => {
  await service.stop();
  await sandbox.close();
});

/** The beginnings of requests, with a host and without one. */
const VERSIONS = ["HTTP/1.1\r\nHost: a", "HTTP/1.0"];

const sendTo = (address: string, target: string, version: string, method = "GET") =>
  sendRaw(
    address,
    `${method} ${target} ${version}\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n` +
      `X-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
  );

const send = (target: string, version: string, method?: string) =>
  sendTo(service.url, target, version, method);

/** A path of each part of the service. */
const PATHS = [
  "/admin",
  "/admin/accounts",
  "/admin/status",
  "/api/account",
  "/api/video/channels",
  "/channels",
  "/livez",
  "/metrics",
  "/readyz?_a",
  "/swagger/json",
  "/swagger",
];

/** Spellings of `..` that Bun resolves. */
const PARENTS = ["/..", String.raw`\..`, "/%2e%2e", "/.%2E", String.raw`\%2e.`];

/** Targets with other paths before a path: Bun takes them for this path. */
function spellBehind(prefix: string, path: string): string[] {
  const depth = prefix.split("/").length - 1;
  return PARENTS.flatMap((parent) => [
    `${prefix}${parent.repeat(depth)}${path}`,
    `${prefix}/x${parent.repeat(depth + 1)}${path.replaceAll("/", parent[0] ?? "/")}`,
  ]);
}

const removeQuery = (path: string) => path.replace(/\?.*/, "");

describe.each(PATHS)("%s", (path) => {
  test("is served as it is", async () => {
    for (const version of VERSIONS) {
      expect([path, parseStatus(await send(path, version))]).toEqual([path, 200]);
    }
  });

  test.each([
    String.raw`/x\..`,
    "/x/..",
    String.raw`/api/x\..\..`,
    "/api/../",
    "/%2e%2e",
    "/.",
    String.raw`//x/..\..`,
    "http://a/x/..",
  ])("is 404 behind %s, with a request id", async (before) => {
    for (const version of VERSIONS) {
      for (const method of ["GET", "POST"]) {
        const response = await send(before + path, version, method);
        expect(parseStatus(response)).toBe(404);
        expect(response.toLowerCase()).toContain("\r\nx-request-id: ");
      }
    }
  });

  test("is 404 if the target begins with another path of the service", async () => {
    const served: string[] = [];
    for (const prefix of PATHS.map(removeQuery)) {
      for (const target of spellBehind(prefix, path)) {
        // This one begins with the path, too.
        if (`${target}/`.startsWith(`${removeQuery(path)}/`)) continue;
        for (const form of [target, `http://a${target}`]) {
          const status = parseStatus(await send(form, "HTTP/1.1\r\nHost: a"));
          if (status !== 404) served.push(`${status} ${form}`);
        }
      }
    }
    expect(served).toEqual([]);
  });
});

/** What the files of server/deploy/proxies publish. */
const PUBLIC_PATHS = ["/api/", "/channels", "/users", "/compare", "/assets/", "/swagger"];
const HIDDEN_PATHS = [
  "/admin",
  "/admin/accounts",
  "/admin/status",
  "/livez",
  "/metrics",
  "/readyz",
];

describe.each(["nginx", "haproxy", "caddy"] as const)("behind %s", (name) => {
  describe.skipIf(!hasProxy(name))("that passes on public paths", () => {
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    beforeAll(async () => {
      proxy = await startProxy(name, { backend: service.url });
    });
    afterAll(() => proxy.close());

    test("public paths are served, private ones are not in any spelling", async () => {
      const served: string[] = [];
      for (const prefix of PUBLIC_PATHS.map((path) => path.replace(/\/$/, ""))) {
        for (const path of HIDDEN_PATHS) {
          for (const target of [path, ...spellBehind(prefix, path)]) {
            const response = await sendTo(proxy.address, target, "HTTP/1.1\r\nHost: a");
            // Caddy escapes a backslash: then it is a part of a name, which the dashboard shows.
            const isName = name === "caddy" && response.includes("/assets/pages.js");
            if (![400, 404].includes(parseStatus(response)) && !isName) served.push(target);
          }
        }
      }
      expect(served).toEqual([]);
      for (const path of ["/swagger", "/swagger/json", "/api/video/channels", "/channels"]) {
        const response = await sendTo(proxy.address, path, "HTTP/1.1\r\nHost: a");
        expect([path, parseStatus(response)]).toEqual([path, 200]);
      }
    });
  });
});
