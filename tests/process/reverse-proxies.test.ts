/**
 * The service below a prefix, behind real proxies with the files of server/deploy/proxies: what they
 * pass on, and that requests, responses and closed connections pass through unchanged.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { openKeepAliveClient } from "../support/network/keep-alive-client.ts";
import { sendRaw } from "../support/network/raw-http.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import {
  EXAMPLE_PREFIX,
  hasProxy,
  readExample,
  startProxy,
} from "../support/processes/reverse-proxy.ts";
import { waitUntil } from "../support/wait.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";
const CREDITS_URL = "https://shop.example/credits";

/** How many requests a key may send a minute. */
const RATE_LIMIT = 30;

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
beforeAll(async () => {
  sandbox = await openSandbox({
    PUBLIC_URL: `https://example.com${EXAMPLE_PREFIX}`,
    TRUSTED_PROXIES: "127.0.0.1",
    ADMIN_TOKEN,
    CREDITS_URL,
    RATE_LIMIT: String(RATE_LIMIT),
  });
  const observedAt = "2026-11-20";
  const lines = [
    { kind: "channel", observedAt, id: "a/b%2F?c", username: "soup" },
    { kind: "short", observedAt, channel: "a/b%2F?c", id: "s", publishedAt: observedAt },
    ...Array.from({ length: 20_000 }, (_, index) => ({
      kind: "user",
      observedAt,
      username: `user${index}`,
      description: "x".repeat(200),
    })),
  ];
  const text = lines.map((line) => JSON.stringify(line)).join("\n");
  await sandbox.runOrThrow("import", await sandbox.write("lines.ndjson", text));
  service = await sandbox.serve();
}, 60_000);
afterAll(async () => {
  await service.stop();
  await sandbox.close();
});

let accounts = 0;

async function createKey(credits = 1000): Promise<string> {
  const account = `account ${++accounts}`;
  await sandbox.runOrThrow("accounts", "create", account, "--credits", String(credits));
  return (await sandbox.runOrThrow("keys", "create", account)).trim();
}

const sendAsAdmin = (path: string, init: RequestInit = {}) =>
  fetch(`${service.url}/admin/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...init.headers },
  });

const PUBLIC_PATHS = [
  "/",
  "/account",
  "/api/account",
  "/api/video/a%2Fb%252F%3Fc/details",
  "/api/video/channels?limit=1",
  "/assets/pages.js",
  "/channels",
  "/channels/soup",
  "/compare",
  "/creators",
  "/lists",
  "/swagger",
  "/swagger/json",
  "/users",
  "/users/user1",
];
const PRIVATE_PATHS = ["/admin", "/admin/accounts", "/livez", "/readyz", "/metrics", "/nothing"];

/** Headers that belong to a connection, or differ from response to response. */
const OWN_HEADERS =
  /^(?:date|server|via|connection|keep-alive|transfer-encoding|content-length|x-request-id|ratelimit)$/;

async function describeResponse(response: Response) {
  const headers = [...response.headers].filter(([name]) => !OWN_HEADERS.test(name));
  return { status: response.status, headers: new Map(headers), body: await response.bytes() };
}

/** A backend that sends half of a response, and goes on when the test says so. */
function startSlowBackend() {
  const half = new Uint8Array(256 * 1024);
  const state = { requests: 0, closed: 0, goOn: () => {} };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (!request.url.includes("/api/")) return new Response("ready");
      state.requests++;
      request.signal.addEventListener("abort", () => state.closed++);
      if (request.url.includes("silent")) return new Promise<Response>(() => {});
      const { promise, resolve } = Promise.withResolvers<void>();
      state.goOn = resolve;
      async function* generate() {
        yield half;
        await promise;
        yield half;
      }
      return new Response(generate());
    },
  });
  return {
    state,
    half,
    url: `${server.url.origin}${EXAMPLE_PREFIX}`,
    stop: () => server.stop(true),
  };
}

describe.each(["nginx", "haproxy", "caddy"] as const)("behind %s", (name) => {
  describe.skipIf(!hasProxy(name))("with its file of server/deploy/proxies", () => {
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    beforeAll(async () => {
      proxy = await startProxy(name, { backend: service.url });
    });
    afterAll(() => proxy.close());

    test("what is public is served below the prefix, and nothing else", async () => {
      const headers = { "x-api-key": await createKey(), authorization: `Bearer ${ADMIN_TOKEN}` };
      const readStatus = async (url: string) => (await fetch(url, { headers })).status;
      for (const path of PUBLIC_PATHS) {
        expect([path, await readStatus(proxy.address + path)]).toEqual([path, 200]);
      }
      for (const path of PRIVATE_PATHS) {
        expect([path, await readStatus(service.url + path)]).not.toEqual([path, 400]);
        expect([path, await readStatus(proxy.address + path)]).toEqual([path, 404]);
      }
      const { origin } = new URL(proxy.address);
      for (const path of ["/", "/api/account", "/channels", `${EXAMPLE_PREFIX}x/api/account`]) {
        expect([path, await readStatus(origin + path)]).toEqual([path, 404]);
      }
      const noSlash = await fetch(proxy.address, { redirect: "manual" });
      expect(noSlash.headers.get("location")).toBe(`${EXAMPLE_PREFIX}/`);
    });

    test("responses of each status pass through unchanged", async () => {
      const [rich, poor, busy] = [await createKey(), await createKey(1), await createKey()];
      const path = "/api/video/soup/shorts?limit=1";
      await fetch(service.url + path, { headers: { "x-api-key": poor } });
      for (let nth = 0; nth < RATE_LIMIT; nth++) {
        await fetch(`${service.url}/api/account`, { headers: { "x-api-key": busy } });
      }
      const etag = (await fetch(service.url + path, { headers: { "x-api-key": rich } })).headers;
      const post = { method: "PATCH", body: "x".repeat(65_537) };
      const json = { "content-type": "application/json" };
      const compressed = { "accept-encoding": "gzip" };
      const cases: readonly (readonly [number, string, Record<string, string>, RequestInit?])[] = [
        [200, path, { "x-api-key": rich, ...compressed }],
        [200, "/api/microblog/users?limit=100", { "x-api-key": rich, ...compressed }],
        [304, path, { "x-api-key": rich, "if-none-match": etag.get("etag") ?? "" }],
        [401, path, {}],
        [402, path, { "x-api-key": poor }],
        [404, "/api/video/nothing/details", { "x-api-key": rich }],
        [405, "/api/account", { "x-api-key": rich }, { method: "DELETE" }],
        [413, "/api/creators", { "x-api-key": rich, ...json }, post],
        [429, "/api/account", { "x-api-key": busy }],
      ];
      for (const [status, target, headers, init] of cases) {
        const options = { ...init, headers, decompress: false };
        const direct = await describeResponse(await fetch(service.url + target, options));
        const passed = await describeResponse(await fetch(proxy.address + target, options));
        expect(direct.status).toBe(status);
        // A second passes while the key waits, and a read costs a credit.
        for (const { headers: each } of [direct, passed]) {
          for (const changing of ["x-credits-remaining", "retry-after"]) {
            if (each.has(changing)) each.set(changing, "some");
          }
        }
        const changes = /is in \d+ s|"balance":\d+/g;
        const toText = (body: Uint8Array) =>
          new TextDecoder("latin1").decode(body).replaceAll(changes, "");
        expect({ ...passed, body: toText(passed.body) }).toEqual({
          ...direct,
          body: toText(direct.body),
        });
      }
    });

    test("the audit has the address of the client, whatever the client claims", async () => {
      const body = '{"overlap":"0"}';
      await sendRaw(
        proxy.address,
        `POST ${EXAMPLE_PREFIX}/api/account/keys/rotate HTTP/1.1\r\nHost: example.com\r\n` +
          `X-API-Key: ${await createKey()}\r\nX-Forwarded-For: 198.51.100.7\r\n` +
          "X-Forwarded-For: 127.0.0.1\r\nContent-Type: application/json\r\n" +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
        "127.0.0.2",
      );
      const audit = await (await sendAsAdmin("audit?limit=1")).json();
      expect(audit).toMatchObject({ entries: [{ action: "keys rotate", origin: "127.0.0.2" }] });
    });

    test("a client can keep its connection for many requests", async () => {
      const client = await openKeepAliveClient(proxy.address);
      const header = `X-API-Key: ${await createKey()}\r\n`;
      for (let nth = 0; nth < 10; nth++) {
        expect((await client.send(`${EXAMPLE_PREFIX}/api/account`, header)).status).toBe(200);
      }
      client.close();
    });

    test("a long response arrives while it is made, and a client that leaves is noticed", async () => {
      const { state, half, url, stop } = startSlowBackend();
      const slow = await startProxy(name, { backend: url });
      try {
        const { body } = await fetch(`${slow.address}/api/long`);
        let received = 0;
        for await (const chunk of body ?? []) {
          received += chunk.length;
          state.goOn();
        }
        expect(received).toBe(2 * half.length);
        for (const path of ["/api/long", "/api/silent"]) {
          const before = { ...state };
          const { hostname, port } = new URL(slow.address);
          const target = EXAMPLE_PREFIX + path;
          const socket = connect(Number(port), hostname, () =>
            socket.write(`GET ${target} HTTP/1.1\r\nHost: example.com\r\n\r\n`),
          );
          socket.resume();
          await waitUntil(() => state.requests > before.requests);
          socket.destroy();
          await waitUntil(() => state.closed > before.closed);
        }
      } finally {
        await slow.close();
        await stop();
      }
    }, 30_000);
  });
});

test("serve says where it listens, and where clients reach it", () => {
  const publicUrl = `https://example.com${EXAMPLE_PREFIX}`;
  expect(service.log()).toContain(` at ${service.url}, for clients at ${publicUrl}`);
  expect(new URL(service.url).pathname).toBe(EXAMPLE_PREFIX);
});

test("all files pass on the same paths", async () => {
  const names = ["nginx.conf", "haproxy.cfg", "Caddyfile"];
  const patterns = await Promise.all(
    names.map(async (name) => / (\^\/creator-metrics\S+)/.exec(await readExample(name))?.[1]),
  );
  expect(patterns[0]).toBeString();
  expect(new Set(patterns).size).toBe(1);
});
