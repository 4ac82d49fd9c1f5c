/** Customers replace their own keys. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { NOW, startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.close());
beforeEach(() => {
  service.clock.now = NOW;
});

async function rotate(key: string, body: unknown = {}) {
  const response = await service.get("/api/account/keys/rotate", key, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: Object(await response.json()), response };
}

const readStatus = async (key: string, path = "/api/video/channels") =>
  (await service.get(path, key)).status;

const listKeys = async (account: string) =>
  (await service.admin("GET", `keys?account=${encodeURIComponent(account)}`)) as Readonly<
    Record<string, unknown>
  >[];

async function readAudit() {
  const page = await service.admin("GET", "audit?limit=100");
  return Object(page).entries as Readonly<Record<string, unknown>>[];
}

describe("POST /api/account/keys/rotate", () => {
  test("201: a new key of the account, free; the old one is valid for 24 hours", async () => {
    const { account, key } = await service.createAccountWithKey(9, {
      label: "web",
      scopes: ["read"],
      expires: "90d",
    });
    const { status, body } = await rotate(key);
    expect([status, body]).toEqual([
      201,
      {
        id: body.old_id + 1,
        key: expect.stringMatching(/^cm_[A-Za-z0-9_-]{43}$/),
        old_id: expect.any(Number),
        old_expires_at: "2026-11-21T12:00:00.000Z",
      },
    ]);
    expect((await service.readSums(account)).debited).toBe(0);
    expect(await listKeys(account)).toMatchObject([
      { id: body.old_id, replaced_by: body.id, expires_at: "2026-11-21T12:00:00.000Z" },
      { id: body.id, label: "web", scopes: ["read"], expires_at: "2027-02-18T12:00:00.000Z" },
    ]);
    expect([await readStatus(key), await readStatus(body.key)]).toEqual([200, 200]);
    service.clock.now = NOW + 24 * HOUR_MS;
    expect([await readStatus(key), await readStatus(body.key)]).toEqual([401, 200]);
    expect(await service.readSums(account)).toMatchObject({ debited: 3, balance: 6 });
  });

  test("201 with overlap 0: the old key ends at once", async () => {
    const { key } = await service.createAccountWithKey(9);
    const { body } = await rotate(key, { overlap: "0" });
    expect([await readStatus(key), await readStatus(body.key)]).toEqual([401, 200]);
  });

  test("201 for a key with any scope", async () => {
    const { key } = await service.createAccountWithKey(9, { scopes: ["creators"] });
    const { status, body } = await rotate(key);
    expect(status).toBe(201);
    expect([await readStatus(body.key), await readStatus(body.key, "/api/creators")]).toEqual([
      403, 200,
    ]);
  });

  test.each([
    [{ overlap: "soon" }, "overlap"],
    [{ overlap: "31d" }, "overlap must be 0 or a duration (30s, 10m, 12h, 7d, 2w) of at most 30"],
    [{ overlap: 1 }, "overlap"],
    [{ id: 1 }, "The body has only the fields overlap"],
    [[], "The body"],
  ])("400 for the body %j", async (sent, message) => {
    const { key } = await service.createAccountWithKey(9);
    const { status, body } = await rotate(key, sent);
    expect([status, body]).toEqual([
      400,
      { error: "Invalid Request", message: expect.stringContaining(message) },
    ]);
    expect(await readStatus(key)).toBe(200);
  });

  test("401 without a valid key, 405 for GET, 415 for another type", async () => {
    expect((await rotate("")).status).toBe(401);
    expect((await rotate("cm_wrong")).status).toBe(401);
    expect(await readStatus(service.key, "/api/account/keys/rotate")).toBe(405);
    const response = await service.get("/api/account/keys/rotate", service.key, {
      method: "POST",
      body: "{}",
    });
    expect(response.status).toBe(415);
  });

  test("409 after the first time, also for requests at once: a key has one successor", async () => {
    const { account, key } = await service.createAccountWithKey(9);
    const rotations = await Promise.all(Array.from({ length: 5 }, () => rotate(key)));
    expect(rotations.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    const created = rotations.find(({ status }) => status === 201)?.body;
    for (const { status, body } of rotations) {
      if (status !== 409) continue;
      expect(body).toEqual({
        error: "Conflict",
        message: `Key ${created.old_id} was replaced by key ${created.id}; rotate that one instead`,
      });
    }
    expect(await listKeys(account)).toHaveLength(2);
    expect([await readStatus(key), await readStatus(created.key)]).toEqual([200, 200]);
  });

  test("429 after 5 requests of an account in a minute, which leave no entry in the audit", async () => {
    const { key } = await service.createAccountWithKey(9);
    for (let nth = 0; nth < 5; nth++) await rotate(key);
    const before = (await readAudit()).length;
    const { status, response } = await rotate(key);
    expect([status, response.headers.get("retry-after")]).toEqual([429, "12"]);
    expect(await readAudit()).toHaveLength(before);
    const { key: other } = await service.createAccountWithKey(9);
    expect((await rotate(other)).status).toBe(201);
    service.clock.now += MINUTE_MS;
    expect((await rotate(key)).status).toBe(409);
  });

  test("is in the audit with the key's number, its account and the outcome, without keys", async () => {
    const { account, key } = await service.createAccountWithKey(9);
    const { body } = await rotate(key, { overlap: "1h" });
    const [entry] = await readAudit();
    expect(entry).toMatchObject({
      actor: `key ${body.old_id}`,
      action: "keys rotate",
      target: `key ${body.old_id}`,
      details: { overlap: "1h", id: body.id, account },
      outcome: "done",
    });
    expect(JSON.stringify(entry)).not.toContain(body.key);
  });
});

describe("CREDITS_URL", () => {
  test("is in GET /api/account and, as rel=payment, in 402; without it neither has it", async () => {
    const url = "https://shop.example.com/credits?from=ö";
    const selling = await startTestService({ CREDITS_URL: url });
    const href = "https://shop.example.com/credits?from=%C3%B6";
    try {
      const { key } = await selling.createAccountWithKey();
      const account = await selling.get("/api/account", key);
      expect(Object(await account.json())).toMatchObject({ credits_url: href, balance: 0 });
      const refused = await selling.get("/api/video/channels", key);
      expect([refused.status, await refused.json()]).toEqual([402, expect.anything()]);
      expect(refused.headers.get("link")).toBe(`<${href}>; rel="payment"`);
    } finally {
      await selling.close();
    }
    const { key } = await service.createAccountWithKey();
    expect(Object(await (await service.get("/api/account", key)).json())).not.toHaveProperty(
      "credits_url",
    );
    expect((await service.get("/api/video/channels", key)).headers.get("link")).toBeNull();
  });
});
