/**
 * No shared cache may store a response below /api and /admin, nor serve one client what another one
 * prefers: the headers say so, and Varnish, if it is installed, does as they say.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectPrivateCaching } from "../support/openapi-contract.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { hasVarnish, startVarnish } from "../support/processes/varnish.ts";

const REQUESTS = 1000;

const TOKEN = "a-token-of-an-administrator";

/** Path parameters of entities that exist. */
const EXISTING_PARAMETERS: Readonly<Record<string, string>> = {
  channel: "soup",
  short_id: "leek",
  username: "cook",
  tweet_id: "7",
};

let service: TestService;
let paths: string[];
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN: TOKEN, CORS_ORIGINS: "https://a.example" });
  await service.observe(
    { kind: "channel", observedAt: "2026-11-20", id: "soup", subscribers: 1 },
    {
      kind: "short",
      observedAt: "2026-11-20",
      channel: "soup",
      id: "leek",
      publishedAt: "2026-11-19",
    },
    { kind: "user", observedAt: "2026-11-20", username: "cook", followers_count: 2 },
    {
      kind: "tweet",
      observedAt: "2026-11-20",
      username: "cook",
      id: "7",
      created_at: "2026-11-19",
    },
  );
  const routes = service.service.app.routes.map(({ path }) => path);
  const known = [...new Set(routes)].filter((path) => /^\/(?:api|admin)\//.test(path));
  paths = [
    ...known.map((path) =>
      path.replaceAll(/:(\w+)/g, (_, name: string) => EXISTING_PARAMETERS[name] ?? name),
    ),
    ...known.map((path) => path.replaceAll(/:\w+/g, "nothing")),
    "/api",
    "/api/nothing",
    "/api/video/%00/details",
    "/api/video/soup/shorts?limit=0",
    "/api/microblog/cook/tweets?page=9",
    "/admin/nothing",
    "/admin/keys?account=account%201",
  ];
});
afterAll(() => service.close());

const REQUEST_KINDS: readonly RequestInit[] = [
  { method: "GET" },
  { method: "HEAD" },
  { method: "OPTIONS" },
  { method: "POST" },
  { headers: { "if-none-match": "*" } },
  { headers: { origin: "https://a.example" } },
  { headers: { "x-api-key": "cm_wrong" } },
];

describe("every response below /api and /admin", () => {
  test("forbids shared caches to store it, whatever its status", async () => {
    const statuses = new Set<number>();
    const token = { authorization: `Bearer ${TOKEN}` };
    const poor = await service.createAccountWithKey();
    for (const path of paths) {
      for (const kind of REQUEST_KINDS) {
        for (const headers of [
          {},
          { "x-api-key": service.key },
          { "x-api-key": poor.key },
          token,
        ]) {
          const init = { ...kind, headers: { ...headers, ...kind.headers } };
          const isAdmin = path.startsWith("/admin/") && "authorization" in headers;
          // A change may make the service send requests elsewhere.
          if (isAdmin && kind.method === "POST") continue;
          // `service.send` checks Cache-Control and Vary of every response.
          const response = isAdmin ? await sendToAdmin(path, init) : await service.send(path, init);
          statuses.add(response.status);
        }
      }
    }
    expect([...statuses].toSorted()).toEqual([200, 204, 304, 400, 401, 402, 403, 404, 405, 415]);
  }, 60_000);

  test("varies by Origin too if CORS_ORIGINS is set", async () => {
    const response = await service.get("/api/video/channels");
    expect(response.headers.get("vary")).toBe("X-API-Key, Accept-Encoding, Origin, Accept");
  });
});

/** What browsers send, and other clients. */
const ACCEPTED = ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*"];

describe("every response outside /api and /admin", () => {
  const send = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${service.address}${path}`, { headers, redirect: "manual" });

  test.each(["/livez", "/readyz", "/metrics"])("%s must not be stored", async (path) => {
    expect((await send(path)).headers.get("cache-control")).toBe("no-store");
  });

  test("404 and 308 depend on Accept, and are not stored unless revalidated", async () => {
    for (const path of ["/nothing", "/channels/", "/swagger/x", "/channels/a/b"]) {
      for (const accept of ACCEPTED) {
        const { status, headers } = await send(path, { accept });
        expect([path, [404, 308].includes(status)]).toEqual([path, true]);
        expect(headers.get("vary")?.split(", ")).toContain("Accept");
        expect(["no-store", "no-cache"]).toContain(headers.get("cache-control") ?? "none");
      }
    }
  });

  test("varies by Origin if CORS_ORIGINS is set, once", async () => {
    const pages = ["/", "/channels", "/admin", "/swagger", "/nothing", "/channels/"];
    const files = ["/assets/pages.js", "/assets/pages.css", "/swagger/json", "/swagger/start.js"];
    for (const path of [...pages, ...files, "/livez", "/readyz", "/metrics"]) {
      for (const headers of [{}, { origin: "https://a.example" }, { "if-none-match": "*" }]) {
        for (const accept of ACCEPTED) {
          const response = await send(path, { ...headers, accept });
          const names = response.headers.get("vary")?.split(", ") ?? [];
          expect([path, names.filter((name) => name === "Origin")]).toEqual([path, ["Origin"]]);
          await response.body?.cancel();
        }
      }
    }
  });
});

describe.skipIf(!hasVarnish())("behind Varnish with its default rules", () => {
  let cache: Awaited<ReturnType<typeof startVarnish>>;
  beforeAll(async () => {
    cache = await startVarnish(service.address);
  }, 90_000);
  afterAll(() => cache.close());

  test(`none of ${REQUESTS} requests with and without an API key gets a cached response`, async () => {
    const callers = [
      {},
      { "x-api-key": service.key },
      { "x-api-key": (await service.createAccountWithKey(1000)).key },
      { authorization: `Bearer ${TOKEN}` },
    ];
    const served: unknown[] = [];
    const sendRequest = async (index: number) => {
      const path = paths[Math.floor(index / callers.length) % paths.length] ?? "";
      const caller = callers[index % callers.length];
      const headers = { ...caller, "x-request-id": `r-${index}` };
      const method = index % 7 === 0 ? "HEAD" : "GET";
      const response = await fetch(`${cache.address}${path}`, { method, headers });
      await response.bytes();
      const id = response.headers.get("x-request-id");
      // The id of another request shows that its response came from the cache.
      if (id !== headers["x-request-id"]) served.push({ path, caller, requestId: id });
    };
    for (let index = 0; index < REQUESTS; index += 8) {
      await Promise.all(Array.from({ length: 8 }, (_, offset) => sendRequest(index + offset)));
    }
    expect(served).toEqual([]);
  }, 60_000);

  test("a browser and another client get their own 404 and 308 of one address", async () => {
    const getType = async (path: string, accept: string | undefined) => {
      const response = await fetch(`${cache.address}${path}`, {
        headers: { accept: accept ?? "" },
        redirect: "manual",
      });
      await response.bytes();
      return [response.status, response.headers.get("content-type")?.split(";")[0]];
    };
    const [browser, other] = ACCEPTED;
    for (const [path, first, second] of [
      ["/nothing-1", other, browser],
      ["/nothing-2", browser, other],
      ["/channels/", other, browser],
      ["/users/", browser, other],
    ] as const) {
      await getType(path, first);
      const types = [await getType(path, first), await getType(path, second)];
      const html = path.endsWith("/") ? [308, undefined] : [404, "text/html"];
      const json = [404, "application/json"];
      expect([path, types]).toEqual([path, first === browser ? [html, json] : [json, html]]);
    }
  });

  test("/livez, /readyz and /metrics come from the service each time", async () => {
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      for (const id of ["first", "second"]) {
        const headers = { "x-request-id": id };
        const response = await fetch(`${cache.address}${path}`, { headers });
        await response.bytes();
        expect([path, response.headers.get("x-request-id")]).toEqual([path, id]);
      }
    }
  });

  test("401: a client without an API key, right after another client read the same path", async () => {
    for (const path of ["/api/account", "/api/creators", "/api/video/soup/details"]) {
      const read = (headers: Record<string, string>) =>
        fetch(`${cache.address}${path}`, { headers });
      expect((await read({ "x-api-key": service.key })).status).toBe(200);
      expect((await read({})).status).toBe(401);
    }
  });
});

/** Sends a request of the administration API, which the OpenAPI document does not describe. */
async function sendToAdmin(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(`${service.address}${path}`, init);
  await response.bytes();
  expectPrivateCaching(path, response.headers);
  return response;
}
