/** The audit of what administrators change. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { hostname } from "node:os";
import { HOUR_MS } from "../../../core/time.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";
const NOTICE = "msg_0f8e3b1c5d7a49e2b6c0d4f2a1e3c5b7";

let service: TestService;
let token: string;
beforeAll(async () => {
  service = await startTestService({
    ADMIN_TOKEN,
    COLLECT: "off",
    BLUESKY_API_URL: "http://[::1]:1",
  });
  token = Object(await service.admin("POST", "tokens", { name: "billing" })).token;
  const sql = `
    INSERT INTO notices (id, account, balance, threshold, granted, at)
    VALUES (?, 1, 9, 10, 10, 0)`;
  await service.service.database.write([{ sql, args: [NOTICE] }]);
  await service.admin("POST", "accounts", { name: "jaxa" });
  await service.admin("POST", "keys", { account: "jaxa" });
  await service.admin("POST", "creators", { creator: "nasa" });
  await service.admin("POST", "channels", { channel: "@nasa" });
  await (await sendAs(token, "POST", "backups", { file: "a.db" })).text();
});
beforeEach(() => {
  // The imports of an hour share an entry, so each test has an hour of its own.
  service.clock.now += HOUR_MS;
});
afterAll(() => service.close());

interface Entry {
  readonly origin: string;
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: string | null;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly next: string | null;
}

/** Sends a request with a token. */
function sendAs(bearer: string, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${service.address}/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function readPage(query = ""): Promise<Page> {
  return (await (await sendAs(ADMIN_TOKEN, "GET", `audit${query}`)).json()) as Page;
}

const readNewest = async () => (await readPage("?limit=1")).entries[0];

describe("GET /admin/audit", () => {
  test("says who changed what, when, from where, and the outcome", async () => {
    await sendAs(token, "POST", "accounts", { name: "acme", credits: 9 });
    expect(await readNewest()).toEqual({
      id: expect.any(Number),
      at: new Date(service.clock.now).toISOString(),
      actor: "billing",
      origin: "127.0.0.1",
      action: "accounts create",
      target: "acme",
      details: { credits: 9 },
      outcome: "done",
    });
    await service.admin("POST", "grants", { account: "acme", amount: 5, reference: "r" });
    expect(await readNewest()).toMatchObject({
      actor: "command line",
      origin: hostname(),
      action: "credits grant",
      details: { amount: 5, reference: "r", is_new: true },
    });
    await sendAs(ADMIN_TOKEN, "POST", "grants", { account: "acme", amount: 6, reference: "r" });
    expect(await readNewest()).toMatchObject({
      actor: "ADMIN_TOKEN",
      details: { amount: 6, reference: "r" },
      outcome: "Conflict",
    });
  });

  /** A request for each change. Each succeeds once, in any order. */
  const CHANGES: readonly (readonly [string, string, unknown, string, string | null])[] = [
    ["POST", "accounts", { name: "esa" }, "accounts create", "esa"],
    ["PATCH", "accounts", { name: "jaxa", low_balance: 7 }, "accounts set", "jaxa"],
    ["POST", "keys", { account: "jaxa", label: "l" }, "keys create", "jaxa"],
    ["POST", "keys/1/rotate", {}, "keys rotate", "key 1"],
    ["DELETE", "keys", { id: 2 }, "keys revoke", "key 2"],
    ["POST", "grants", { account: "jaxa", amount: 1 }, "credits grant", "jaxa"],
    ["POST", `notices/${NOTICE}/resend`, undefined, "notices resend", NOTICE],
    ["POST", "refunds", undefined, "credits apply-refunds", null],
    ["POST", "creators", { creator: "esa" }, "creators add", "esa"],
    ["DELETE", "creators", { creator: "NASA" }, "creators remove", "NASA"],
    ["POST", "channels", { channel: "@esa" }, "channels track", "@esa"],
    ["DELETE", "channels", { channel: "@nasa" }, "channels untrack", "@nasa"],
    ["POST", "collect", undefined, "collect", null],
    ["POST", "retention", {}, "retention apply", null],
    ["POST", "observations", "", "import", null],
    ["POST", "backups", { file: "b.db" }, "backup", "b.db"],
    ["DELETE", "backups", { file: "a.db" }, "backups delete", "a.db"],
    ["POST", "sessions", undefined, "sessions open", null],
    ["DELETE", "sessions", undefined, "sessions end", null],
  ];

  test.each(CHANGES)("has an entry of %s %s %j", async (...change) => {
    const [method, path, body, action, target] = change;
    const response = await sendAs(token, method, path, body);
    await response.text();
    expect(response.ok).toBe(true);
    expect(await readNewest()).toMatchObject({ actor: "billing", action, target, outcome: "done" });
  });

  test("has an entry of every path with another method than GET", () => {
    const routes = service.service.app.routes
      .filter(({ path, method }) => path.startsWith("/admin/") && method !== "GET")
      .map(
        ({ path, method }) =>
          `${method} ${path.replace(":id", path.includes("notices") ? NOTICE : "1")}`,
      );
    const tested = CHANGES.map(([method, path]) => `${method} /admin/${path}`);
    expect(routes.toSorted()).toEqual(tested.toSorted());
  });

  test("has no entry of a read, a dry run, an invalid request or a wrong token", async () => {
    const before = await readNewest();
    for (const path of ["accounts", "keys?account=jaxa", "observations", "verification"])
      await (await sendAs(token, "GET", path)).text();
    await (await sendAs(token, "POST", "retention", { dry_run: true })).text();
    await sendAs(token, "POST", "accounts", { name: "" });
    await sendAs("wrong", "POST", "accounts", { name: "wrong" });
    expect(await readNewest()).toEqual(before);
  });

  test("names the account of a key that is rotated or revoked", async () => {
    const created = await sendAs(token, "POST", "keys", { account: "jaxa" });
    const { id } = Object(await created.json());
    const rotated = await sendAs(token, "POST", `keys/${id}/rotate`, { overlap: "0" });
    const { id: newId, key } = Object(await rotated.json());
    expect(await readNewest()).toMatchObject({ details: { account: "jaxa", id: newId } });
    await sendAs(token, "DELETE", "keys", { key });
    expect(await readNewest()).toMatchObject({
      action: "keys revoke",
      target: `key ${key.slice(0, 10)}…`,
      details: { account: "jaxa", id: newId },
      outcome: "done",
    });
  });

  test("has no key and no token", async () => {
    const created = await sendAs(token, "POST", "keys", { account: "jaxa" });
    const { key, id } = Object(await created.json());
    const rotated = await sendAs(token, "POST", `keys/${id}/rotate`, { overlap: "0" });
    const { key: newKey } = Object(await rotated.json());
    const text = JSON.stringify(await service.service.database.queryRows("SELECT * FROM audit"));
    for (const secret of [key, newKey, token, ADMIN_TOKEN]) expect(text).not.toContain(secret);
  });

  test("cuts a key or token that is sent in place of a name, a label or a reference", async () => {
    const { key } = Object(await (await sendAs(token, "POST", "keys", { account: "jaxa" })).json());
    const created = Object(await service.admin("POST", "tokens", { name: "leaked" }));
    const leaked: string = created.token;
    await sendAs(token, "POST", "accounts", { name: `${key} of jaxa` });
    expect(await readNewest()).toMatchObject({ target: `${key.slice(0, 10)}… of jaxa` });
    await sendAs(token, "POST", "keys", { account: "jaxa", label: leaked });
    expect(await readNewest()).toMatchObject({ details: { label: `${leaked.slice(0, 10)}…` } });
    await sendAs(token, "POST", "grants", { account: "jaxa", amount: 1, reference: key });
    expect(await readNewest()).toMatchObject({ details: { amount: 1, is_new: true } });
    await service.admin("DELETE", "tokens", { token: leaked });
    const details = { id: created.id, name: "leaked" };
    const revocation = { action: "tokens revoke", target: `${leaked.slice(0, 10)}…`, details };
    expect(await readNewest()).toMatchObject({ ...revocation, outcome: "done" });
    const text = JSON.stringify(await service.service.database.queryRows("SELECT * FROM audit"));
    for (const secret of [key, leaked]) expect(text).not.toContain(secret);
  });

  test("counts the imports of a caller in an hour in one entry", async () => {
    service.clock.now += HOUR_MS;
    const line = JSON.stringify({ kind: "channel", observedAt: "2026-11-20", id: "c" });
    await sendAs(token, "POST", "observations", `${line}\nwrong`);
    await sendAs(token, "POST", "observations", line);
    const { entries } = await readPage("?action=import&actor=billing");
    const counts = { requests: 2, read: 3, new: 1, changed: 0, unchanged: 1, rejected: 1 };
    expect(entries[0]).toMatchObject({ details: counts, outcome: "done" });
    service.clock.now += HOUR_MS;
    await sendAs(token, "POST", "observations", line);
    const later = await readPage("?action=import&actor=billing");
    expect(later.entries[0]?.details["requests"]).toBe(1);
    expect(later.entries[1]).toEqual(entries[0]);
  });

  test("has pages, without an entry twice or never", async () => {
    for (let low_balance = 1; low_balance <= 5; low_balance++) {
      await sendAs(token, "PATCH", "accounts", { name: "jaxa", low_balance });
      await service.admin("PATCH", "accounts", { name: "jaxa", low_balance: null });
    }
    const all = await readPage("?limit=1000");
    const ids: number[] = [];
    for (let next: string | null = ""; next !== null;) {
      const page: Page = await readPage(`?limit=3${next === "" ? "" : `&cursor=${next}`}`);
      expect(page.entries.length).toBeLessThanOrEqual(3);
      ids.push(...page.entries.map(({ id }) => id));
      next = page.next;
    }
    expect(ids).toEqual(all.entries.map(({ id }) => id));
    expect(all.next).toBeNull();
    const mine = await readPage("?actor=billing&limit=1000");
    expect(mine.entries).toEqual(all.entries.filter(({ actor }) => actor === "billing"));
  });

  test.each([
    ["?limit=0", "limit must be a whole number from 1 to 1000"],
    ["?cursor=x", "cursor must be a whole number"],
    ["?action=steal", "action must be one of accounts create, accounts set, backup"],
    ["?actor=a&actor=b", "actor must be given once"],
  ])("%s: 400", async (query, message) => {
    const response = await sendAs(token, "GET", `audit${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(message);
  });

  test("changes nothing if the entry cannot be stored", async () => {
    const { database } = service.service;
    await database.write([
      {
        sql: `
          CREATE TRIGGER no_audit BEFORE INSERT ON audit
          BEGIN SELECT RAISE(ABORT, 'no audit'); END`,
        args: [],
      },
    ]);
    const response = await sendAs(token, "POST", "accounts", { name: "unseen" });
    await database.write([{ sql: "DROP TRIGGER no_audit", args: [] }]);
    expect(response.status).toBe(500);
    expect(await (await sendAs(token, "GET", "accounts")).text()).not.toContain("unseen");
  });
});
