/**
 * No shared cache may store a response below /api and /admin: their headers say so, and Varnish, if it
 * is installed, serves none from its cache.
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
    expect([...statuses].toSorted()).toEqual([200, 204, 304, 400, 401, 402, 404, 405, 415]);
  }, 60_000);

  test("varies by Origin too if CORS_ORIGINS is set", async () => {
    const response = await service.get("/api/video/channels");
    expect(response.headers.get("vary")).toBe("X-API-Key, Accept-Encoding, Origin, Accept");
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
