/** Sessions in which administrators look at the dashboard without an account. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/time.ts";
import { createAdminSessionStore } from "../../../server/store/administration/admin-sessions.ts";
import { NOW, startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";
const DETAILS = "/api/video/soup/details";

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ ADMIN_TOKEN });
  await service.observe(
    { kind: "channel", observedAt: "2026-11-20", id: "UC1", username: "soup", subscribers: 7 },
    { kind: "user", observedAt: "2026-11-20", username: "nasa", followers_count: 5 },
  );
});
afterEach(() => service.close());

const sendAdmin = (method: string, path: string, token = ADMIN_TOKEN) =>
  service.send(`/admin/${path}`, { method, headers: { authorization: `Bearer ${token}` } });

async function openSession(token?: string): Promise<string> {
  const response = await sendAdmin("POST", "sessions", token);
  expect(response.status).toBe(201);
  return Object(await response.json()).session;
}

const readStatus = async (session: string, path = DETAILS) =>
  (await service.get(path, session)).status;

const post = (path: string, session: string, body: object, method = "POST") =>
  service.get(path, session, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function readAudit() {
  const response = await sendAdmin("GET", "audit?limit=100");
  return Object(await response.json()).entries as Readonly<Record<string, unknown>>[];
}

async function readMetric(): Promise<number> {
  const text = await (await fetch(`${service.address}/metrics`)).text();
  return Number(/^creator_metrics_admin_session_reads_total (\d+)$/m.exec(text)?.[1]);
}

describe("POST /admin/sessions", () => {
  test("201: a session of 256 random bits, whose SHA-256 alone is stored, for 12 hours", async () => {
    const response = await sendAdmin("POST", "sessions");
    const body = Object(await response.json());
    expect([response.status, body]).toEqual([
      201,
      {
        session: expect.stringMatching(/^cms_[A-Za-z0-9_-]{43}$/),
        expires_at: "2026-11-21T00:00:00.000Z",
      },
    ]);
    const rows = await service.service.database.queryRows("SELECT * FROM admin_sessions");
    expect(JSON.stringify(rows)).not.toContain(body.session.slice(11));
    expect(rows).toMatchObject([{ begins_with: body.session.slice(0, 10), actor: "ADMIN_TOKEN" }]);
  });

  test("401 without a token, with a key and with a session", async () => {
    for (const token of ["none", service.key, await openSession()]) {
      expect((await sendAdmin("POST", "sessions", token)).status).toBe(401);
    }
  });

  test("409 while there are 100 sessions; DELETE /admin/sessions ends those of the token", async () => {
    const other = Object(await service.admin("POST", "tokens", { name: "ann" })).token;
    const ofAnn = await openSession(other);
    const sessions = await Promise.all(Array.from({ length: 99 }, () => openSession()));
    expect((await sendAdmin("POST", "sessions")).status).toBe(409);
    expect(await (await sendAdmin("DELETE", "sessions")).json()).toEqual({ ended: 99 });
    expect(await Promise.all(sessions.slice(0, 3).map((each) => readStatus(each)))).toEqual([
      401, 401, 401,
    ]);
    expect(await readStatus(ofAnn)).toBe(200);
    expect(await readStatus(await openSession())).toBe(200);
  });
});

describe("a session in X-API-Key", () => {
  test("reads what the same key of an account reads, free: cost 0, no balance, 304, HEAD", async () => {
    const session = await openSession();
    const before = await service.readSums("account 1");
    for (const path of [DETAILS, "/api/video/channels", "/api/microblog/nasa/details"]) {
      const free = await service.get(path, session);
      expect(free.headers.get("x-credits-cost")).toBe("0");
      expect(free.headers.get("x-credits-remaining")).toBeNull();
      const etag = free.headers.get("etag") ?? "";
      const again = await service.get(path, session, { headers: { "if-none-match": etag } });
      expect([again.status, again.headers.get("x-credits-cost")]).toEqual([304, "0"]);
      expect((await service.get(path, session, { method: "HEAD" })).status).toBe(200);
    }
    expect(await service.readSums("account 1")).toEqual(before);
    const paid = await service.get(DETAILS);
    const body: unknown = await paid.json();
    expect(await (await service.get(DETAILS, session)).json()).toEqual(body);
  });

  test("reads batches and comparisons, and gets the same errors", async () => {
    const session = await openSession();
    const batch = await post("/api/video/details", session, { channels: ["soup", "nobody"] });
    expect([batch.status, batch.headers.get("x-credits-cost")]).toEqual([200, "0"]);
    expect(await readStatus(session, "/api/microblog/compare?usernames=nasa")).toBe(200);
    const paths = ["/api/video/nobody/details", `${DETAILS}?x=1`, "/api/video/channels?limit=0"];
    for (const path of paths) {
      const [free, paid] = await Promise.all([service.get(path, session), service.get(path)]);
      expect([free.status, await free.json()]).toEqual([paid.status, await paid.json()]);
    }
    expect((await service.get(paths[0] ?? "", session)).headers.get("x-credits-cost")).toBe("0");
  });

  test("sees each change at once, also in a cached response", async () => {
    const session = await openSession();
    const readSubscribers = async () =>
      Object(await (await service.get(DETAILS, session)).json()).subscribers;
    expect([await readSubscribers(), await readSubscribers()]).toEqual([7, 7]);
    for (const subscribers of [8, 9]) {
      const observedAt = new Date(NOW - HOUR_MS + subscribers).toISOString();
      await service.observe({ kind: "channel", observedAt, id: "UC1", subscribers });
      expect(await readSubscribers()).toBe(subscribers);
    }
  });

  test("ignores a valid Idempotency-Key, which no account owns, and refuses a malformed one", async () => {
    const session = await openSession();
    const send = (path: string, key: string) =>
      service.get(path, session, { headers: { "idempotency-key": key } });
    expect((await send(DETAILS, "order-7")).status).toBe(200);
    expect((await send("/api/video/channels", "order-7")).status).toBe(200);
    expect((await send(DETAILS, "a b")).status).toBe(400);
  });

  test("403 for an account, the own key and every change; GET /api/creators is allowed", async () => {
    const session = await openSession();
    const creator = { creator: "esa", platform: "microblog" };
    const refused = [
      await service.get("/api/account", session),
      await post("/api/account/keys/rotate", session, {}),
      await post("/api/creators", session, creator, "PATCH"),
      await post("/api/creators", session, creator, "DELETE"),
    ];
    for (const response of refused) {
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({
        error: "Forbidden",
        message: expect.stringMatching(
          /^An administrator's session (?:has no account|only reads)$/,
        ),
      });
    }
    const list = await service.get("/api/creators", session);
    expect([list.status, Object(await list.json()).total_creators]).toEqual([200, 0]);
  });

  test("is counted in /metrics, and in no account's usage", async () => {
    const session = await openSession();
    expect(await readMetric()).toBe(0);
    await Promise.all(Array.from({ length: 20 }, () => readStatus(session)));
    await readStatus(session, "/api/video/nobody/details");
    await readStatus(session, `${DETAILS}?x=1`);
    expect(await readMetric()).toBe(21);
    const usage = await service.service.database.queryRows("SELECT count(*) AS n FROM usage");
    const debits = await service.service.database.queryRows(
      "SELECT count(*) AS n FROM debit_batches",
    );
    expect([usage, debits]).toMatchObject([[{ n: 0 }], [{ n: 0 }]]);
    expect(await service.admin("GET", "verification")).toMatchObject({ faults: [] });
  });

  test("is limited like a key, apart from keys and other sessions", async () => {
    const limited = await startTestService({ ADMIN_TOKEN, RATE_LIMIT: "3" });
    try {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const open = async () => {
        const response = await limited.send("/admin/sessions", { method: "POST", headers });
        return Object(await response.json()).session as string;
      };
      const [first, second] = [await open(), await open()];
      const read = async (key: string) => (await limited.get("/api/video/channels", key)).status;
      const statuses = [];
      for (let request = 0; request < 4; request++) statuses.push(await read(first));
      expect(statuses).toEqual([200, 200, 200, 429]);
      expect([await read(second), await read(limited.key)]).toEqual([200, 200]);
    } finally {
      await limited.close();
    }
  });
});

describe("/api/session", () => {
  test("GET 200 says who opened it and until when; 401 unknown; 403 for a key", async () => {
    const token = Object(await service.admin("POST", "tokens", { name: "ann" })).token;
    const session = await openSession(token);
    expect(await (await service.get("/api/session", session)).json()).toEqual({
      administrator: "ann",
      expires_at: "2026-11-21T00:00:00.000Z",
    });
    expect(await readStatus(`cms_${"0".repeat(43)}`, "/api/session")).toBe(401);
    expect(await readStatus(service.key, "/api/session")).toBe(403);
  });

  test("DELETE ends it, and the audit says who opened and ended it, without the session", async () => {
    const session = await openSession();
    const ended = await service.get("/api/session", session, { method: "DELETE" });
    expect([ended.status, await ended.json()]).toEqual([200, { ended: 1 }]);
    expect(await readStatus(session)).toBe(401);
    const begin = `${session.slice(0, 10)}…`;
    const [end, open] = await readAudit();
    expect(end).toMatchObject({
      actor: "ADMIN_TOKEN",
      action: "sessions end",
      target: `session ${begin}`,
      outcome: "done",
    });
    expect(open).toMatchObject({
      actor: "ADMIN_TOKEN",
      action: "sessions open",
      details: { session: begin, expires: "2026-11-21T00:00:00.000Z" },
      outcome: "done",
    });
    expect(JSON.stringify([end, open])).not.toContain(session);
  });
});

describe("the end of a session", () => {
  test("comes after 12 hours of the clock, also while it is read", async () => {
    const session = await openSession();
    service.clock.now = NOW + 12 * HOUR_MS - 1;
    expect(await readStatus(session)).toBe(200);
    service.clock.now += 1;
    expect(await readStatus(session)).toBe(401);
    service.clock.now = NOW - 1000;
    expect(await readStatus(session)).toBe(200);
  });

  test("comes with the revocation of its token, not of another one", async () => {
    const create = async (name: string) =>
      Object(await service.admin("POST", "tokens", { name })).token as string;
    const [ofAnn, ofBob] = [
      await openSession(await create("ann")),
      await openSession(await create("bob")),
    ];
    await service.admin("DELETE", "tokens", { token: "ann" });
    service.clock.now += 1000;
    expect([await readStatus(ofAnn), await readStatus(ofBob)]).toEqual([401, 200]);
  });

  test("comes with another ADMIN_TOKEN or none, and stays away with the same one", async () => {
    const session = await openSession();
    const { database } = service.service;
    const isValid = async (token: string | undefined) => {
      // As after a restart.
      const store = createAdminSessionStore(database, token, () => service.clock.now);
      return (await store.authenticate(session)) !== undefined;
    };
    expect(await isValid(ADMIN_TOKEN)).toBe(true);
    expect(await isValid("another-token-of-theirs")).toBe(false);
    expect(await isValid(undefined)).toBe(false);
  });
});
