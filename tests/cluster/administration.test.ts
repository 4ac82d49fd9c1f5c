/** Administration through three services on one libSQL server, each on a machine of its own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { waitUntil } from "../support/wait.ts";

const SERVICES = 3;

/** A revoked token is refused by all processes after this time. */
const REVOKED_WITHIN_MS = 1000;

/** For so long, a process does not know a token that another one created. */
const TOKENS_CACHED_MS = 500;

const OBSERVATION = { kind: "channel", observedAt: "2026-01-01", id: "c", subscribers: 7 };

describe.skipIf(!hasSqld())("the administration API of three services on a libSQL server", () => {
  let server: Awaited<ReturnType<typeof startSqld>>;
  const sandboxes: Sandbox[] = [];
  const services: Awaited<ReturnType<Sandbox["serve"]>>[] = [];
  let token = "";
  beforeAll(async () => {
    server = await startSqld();
    while (sandboxes.length < SERVICES) {
      const sandbox = await openSandbox({ DATABASE_URL: server.url });
      sandboxes.push(sandbox);
      services.push(await sandbox.serve());
    }
    token = await createToken("billing");
  }, 60_000);
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
    await server.close();
  }, 60_000);

  async function createToken(name: string): Promise<string> {
    const created = await sandboxes[0]?.runOrThrow("tokens", "create", name, "--json");
    return JSON.parse(created ?? "").token;
  }

  async function send(service: number, method: string, path: string, body?: object) {
    const response = await fetch(`${services[service]?.url}/admin/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) };
  }

  /** Sends the same request to all services at once. */
  const sendToAll = (method: string, path: string, body?: object) =>
    Promise.all(services.map((_, service) => send(service, method, path, body)));

  test("a change through one is what all tell at once", async () => {
    expect((await send(0, "POST", "accounts", { name: "acme" })).status).toBe(201);
    expect((await send(1, "POST", "keys", { account: "acme" })).status).toBe(201);
    expect((await send(2, "POST", "channels", { channel: "@nasa" })).status).toBe(201);
    expect((await send(0, "POST", "creators", { creator: "alice" })).status).toBe(201);
    expect((await send(1, "POST", "observations", OBSERVATION)).body).toMatchObject({ new: 1 });
    expect((await send(2, "PATCH", "accounts", { name: "acme", low_balance: 5 })).status).toBe(200);
    for (const path of ["accounts", "keys?account=acme", "channels", "creators", "audit"]) {
      const [first, ...others] = await sendToAll("GET", path);
      expect(first?.status).toBe(200);
      expect(others).toEqual(others.map(() => first ?? { status: 0, body: null }));
    }
    const statuses = (await sendToAll("GET", "status")).map(({ body }) => body);
    expect(statuses).toEqual(statuses.map(() => statuses[0]));
    expect(statuses[0]).toMatchObject({
      accounts: 1,
      keys: { valid: 1 },
      channels: 1,
      creators: 1,
    });
  });

  test("a grant that is sent to all at once is made once, and has an entry in the audit for each", async () => {
    const grant = { account: "acme", amount: 10, reference: "invoice 1" };
    const grants = await sendToAll("POST", "grants", grant);
    expect(grants.map(({ status, body }) => [status, body.balance])).toEqual(
      grants.map(() => [200, 10]),
    );
    expect(grants.filter(({ body }) => body.is_new === true).length).toBe(1);
    const { body } = await send(0, "GET", "audit?action=credits%20grant");
    expect(body.entries.length).toBe(SERVICES);
    expect((await send(0, "GET", "verification")).body).toMatchObject({ accounts: 1, faults: [] });
  });

  test("each has the backups that it made, in its own BACKUP_FOLDER", async () => {
    const made = await sendToAll("POST", "backups", { file: "a.db" });
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    expect((await send(0, "DELETE", "backups", { file: "a.db" })).status).toBe(200);
    const lists = await sendToAll("GET", "backups");
    expect(lists.map(({ body }) => body.length)).toEqual([0, 1, 1]);
  });

  test("a revoked token is refused by all within a second", async () => {
    const kept = token;
    token = await createToken("revoked");
    const getStatuses = async () =>
      (await sendToAll("GET", "accounts")).map(({ status }) => status);
    await Bun.sleep(TOKENS_CACHED_MS);
    expect(new Set(await getStatuses())).toEqual(new Set([200]));
    await sandboxes[1]?.runOrThrow("tokens", "revoke", "revoked");
    const revokedAt = performance.now();
    await waitUntil(async () => (await getStatuses()).every((status) => status === 401));
    expect(performance.now() - revokedAt).toBeLessThan(REVOKED_WITHIN_MS + 500); // A refusal waits.
    token = kept;
  });
});
