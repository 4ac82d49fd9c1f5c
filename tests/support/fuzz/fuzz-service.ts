/** A service for fuzz requests: something of everything, and a credential of each sort. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import { createAdminSessionStore } from "../../../server/store/administration/admin-sessions.ts";
import { createServerOptions } from "../../../server/process/http-server.ts";
import { TRICKY_IDENTIFIERS } from "../arbitraries/values.ts";
import { listOperations, type OpenApiDocument } from "../openapi-examples.ts";
import { NOW, startTestService, type TestService } from "../service.ts";
import { sendFuzzRequest } from "./exchange.ts";
import type { Credential, FuzzRequest, FuzzSources } from "./requests.ts";
import { EXPENDABLE_ID_MAX } from "./values.ts";

const ADMIN_TOKEN = "the-token-of-the-administrator";

/** Nothing listens there. */
const CLOSED_URL = "http://127.0.0.1:9";

/** Low enough that few requests exceed it, if a minute passes every {@link REQUESTS_PER_MINUTE}. */
const RATE_LIMIT = "60";
export const REQUESTS_PER_MINUTE = 200;

const NOTICE_ID = "msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7";

/** Observations of each kind over some days: some of counts that are unknown. */
function* createObservations(): Generator<object> {
  for (const [index, id] of ["UC1", "UC2", "UC3", ...TRICKY_IDENTIFIERS].entries()) {
    for (let hour = 0; hour < 72; hour += 5 + index) {
      const observedAt = formatInstant(NOW - hour * HOUR_MS);
      const publishedAt = formatInstant(NOW - (index + 1) * HOUR_MS);
      const count = hour % 4 === 2 ? null : 10_000 - hour;
      const profile = { observedAt, displayName: `=a,"${index}"`, description: "x".repeat(500) };
      const username = `user${index}`;
      yield { kind: "channel", ...profile, id, username, subscribers: count, viewCount: 5 };
      yield { kind: "user", ...profile, username, followers_count: count, tweet_count: hour };
      const item = { observedAt, likes: count };
      yield { kind: "short", ...item, channel: "UC1", id: `s${index}`, publishedAt, views: 7 };
      yield { kind: "short", ...item, channel: id, id, publishedAt, comments: hour };
      yield { kind: "tweet", ...item, username: "user0", id: `${index}`, created_at: publishedAt };
      yield { kind: "tweet", ...item, username, id, created_at: publishedAt, impressions: 9 };
    }
  }
  const observedAt = formatInstant(NOW);
  yield { kind: "channel", observedAt, id: "UC-without-counts" };
  yield { kind: "user", observedAt, username: "user-without-counts" };
}

/** Reads cursors of every list. */
async function readCursors({ get }: TestService): Promise<string[]> {
  const paths = [
    "/api/video/channels",
    "/api/video/channels?sort=views",
    "/api/microblog/users",
    "/api/video/UC1/shorts",
    "/api/video/UC1/history",
    "/api/microblog/user0/history",
    "/api/microblog/user0/tweet/0/history?interval=raw",
    "/api/video/UC1/short/s0/history",
  ];
  const cursors: string[] = [];
  for (const path of paths) {
    const response = await get(`${path}${path.includes("?") ? "&" : "?"}limit=1`);
    const body = await response.text();
    const [, cursor] = /"nextCursor":"([^"]+)"/.exec(body) ?? [];
    if (cursor === undefined) throw new Error(`${path} has no next page: ${body}`);
    cursors.push(cursor);
  }
  return cursors;
}

/** Makes accounts and keys that requests may use and revoke, then those that they must not. */
async function createCredentials(testService: TestService) {
  const { admin, clock, get, key, createAccountWithKey } = testService;
  const createKey = async (account: string, options: object = {}): Promise<string> => {
    const created = await admin("POST", "keys", { account, ...options });
    return String(Reflect.get(Object(created), "key"));
  };
  await admin("POST", "accounts", { name: "acme", credits: 1000 });
  for (let id = 1; id <= EXPENDABLE_ID_MAX; id++) await createKey("acme");
  const { account, key: rich } = await createAccountWithKey(100_000_000);
  const { key: poor } = await createAccountWithKey();
  const withKey = (value: string) => [["X-API-Key", value] as const];
  const credentials: Record<Credential, FuzzRequest["headers"]> = {
    rich: withKey(rich),
    poor: withKey(poor),
    readOnly: withKey(await createKey(account, { scopes: ["read"] })),
    creatorsOnly: withKey(await createKey(account, { scopes: ["creators"] })),
    expired: withKey(await createKey(account, { expires: "1h" })),
    revoked: withKey(key),
    unknown: withKey(`cm_${"0".repeat(43)}`),
    none: [],
    // Opened anew for each request, which may end it.
    session: [],
    admin: withToken(ADMIN_TOKEN),
    wrongToken: [],
  };
  const lists = {
    Rivals: { channels: ["UC1", "nobody"], users: ["user0", "USER1"] },
    Empty: {},
    Big: { channels: TRICKY_IDENTIFIERS, users: Array.from({ length: 101 }, (_, n) => `user${n}`) },
  };
  for (const [name, names] of Object.entries(lists)) {
    const headers = { "content-type": "application/json" };
    const init = { method: "PUT", headers, body: JSON.stringify(names) };
    await get(`/api/lists/${name}`, rich, init);
  }
  await admin("DELETE", "keys", { id: 1 });
  clock.now += 2 * HOUR_MS;
  const { database } = testService.service;
  const sessions = createAdminSessionStore(database, undefined, () => clock.now);
  // Requests may end all sessions of ADMIN_TOKEN at any time.
  const opener = { actor: "ann", token: (await createToken(admin, "ann")).id };
  const scopes = { readOnly: ["read"], creatorsOnly: ["creators"], rich: undefined };
  return {
    account,
    credentials,
    /** Makes headers for a request that may end what it is sent with. */
    async createExpendable({ credential, target }: FuzzRequest) {
      if (credential === "session") return withKey((await sessions.open(opener)).session);
      if (!target.includes("/api/account/keys")) return undefined;
      if (credential === "poor") return withKey((await createAccountWithKey()).key);
      if (!Object.hasOwn(scopes, credential)) return undefined;
      const options = { scopes: scopes[credential as keyof typeof scopes] };
      return withKey(await createKey(account, options));
    },
  };
}

const createToken = async (admin: TestService["admin"], name: string) =>
  (await admin("POST", "tokens", { name })) as { readonly id: number };

const withToken = (token: string) => [["Authorization", `Bearer ${token}`] as const];

/** Starts the service behind the router that `serve` uses. */
export async function startFuzzService() {
  const settings = {
    ADMIN_TOKEN,
    RATE_LIMIT,
    COLLECT: "off",
    YOUTUBE_API_KEY: "a-key-of-nobody",
    YOUTUBE_API_URL: CLOSED_URL,
    BLUESKY_API_URL: CLOSED_URL,
  };
  const testService = await startTestService(settings, undefined, { retryMinMs: 1 });
  const { service, address, clock, folder } = testService;
  await testService.observe(...createObservations());
  await service.database.write([
    {
      sql: `
        INSERT INTO notices (id, account, balance, threshold, granted, at)
        VALUES (?, 1, 9, 10, 10, 0)`,
      args: [NOTICE_ID],
    },
  ]);
  const cursors = await readCursors(testService);
  const { account, credentials, createExpendable } = await createCredentials(testService);
  const document = (await (await fetch(`${address}/swagger/json`)).json()) as OpenApiDocument;
  const names = (prefix: string) => TRICKY_IDENTIFIERS.map((_, index) => `${prefix}${index}`);
  const sources: FuzzSources = {
    operations: listOperations(document).map(([, described]) => described),
    schemas: document.components.schemas,
    known: {
      channel: ["UC1", "UC1", "user0", "USER0", "USER1", ...TRICKY_IDENTIFIERS, "nobody", "@nasa"],
      short_id: [...names("s"), ...names("s"), ...TRICKY_IDENTIFIERS, "nothing"],
      username: [
        ...names("user"),
        "user0",
        "user0",
        "USER0",
        "USER0",
        "nobody",
        "user-without-counts",
      ],
      tweet_id: [...names(""), ...TRICKY_IDENTIFIERS, "nothing"],
      channels: ["UC1", "UC1,UC2", "UC1,nobody,__proto__", "user1,user1", ","],
      usernames: ["user0", "user0,USER1", "user0,nobody,constructor", ","],
      account: ["acme", "account 1", "nobody"],
      name: ["acme", "account 1", "a", "b", "c", "nobody"],
      creator: ["nasa", "NASA", "bsky.app", "@nasa", "_x", "a b", "x".repeat(65)],
      expires: ["90d", "12h", "2030-01-01", "0d", "999999w", "soon"],
      overlap: ["0", "24h", "30s", "999999w"],
      file: ["a.db", "b.db", "..", ".a", "a/b", "A"],
      id: [NOTICE_ID, "msg_" + "9".repeat(32), "UC1", "user1", "msg_", "1"],
      list: ["Rivals", "RIVALS", "Empty", "Big", "nothing", "..", "😀", "x".repeat(65)],
      by: ["endpoint", "key", "endpoint,key", "key,key", "day", ","],
      search: ["a", "U", "%", "_", "😀", "'", "="],
      cursor: [...cursors, "AA", "!", "x".repeat(36)],
    },
    otherPaths: service.app.routes
      .map(({ path }) => path)
      .filter((path) => !(path.replaceAll(/:(\w+)/g, "{$1}") in document.paths)),
  };
  const server = Bun.serve({ ...createServerOptions(service), port: 0, hostname: "127.0.0.1" });
  let guesses = 0;
  const target = `http://127.0.0.1:${server.port}`;
  return {
    ...testService,
    /** The account of the key `rich`. */
    account,
    document,
    sources,
    async send(request: FuzzRequest): Promise<Response> {
      if (request.credential !== "wrongToken") {
        const expendable = await createExpendable(request);
        const credentialHeaders = expendable ?? credentials[request.credential];
        return sendFuzzRequest(target, request, { credentialHeaders, localAddress: "127.0.0.1" });
      }
      // Guesses lock their address out.
      const credentialHeaders = withToken(`wrong-token-${++guesses}`);
      return sendFuzzRequest(target, request, { credentialHeaders, localAddress: "127.0.0.2" });
    },
    /** Lets a minute pass, and deletes the backups and the sessions. */
    async passMinute(): Promise<void> {
      await service.database.write([{ sql: "DELETE FROM admin_sessions", args: [] }]);
      clock.now += DAY_MS / 24 / 60;
      await rm(join(folder, "backups"), { recursive: true, force: true });
    },
    async close(): Promise<void> {
      await server.stop(true);
      await testService.close();
    },
  };
}

/** A service for fuzz requests. */
export type FuzzService = Awaited<ReturnType<typeof startFuzzService>>;
