import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/time.ts";
import { NOW, startTestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

const service = await startTestService({ ADMIN_TOKEN });
afterAll(() => service.close());
beforeEach(() => {
  service.clock.now = NOW;
});

async function rotate(id: unknown, body: unknown = {}) {
  const response = await fetch(`${service.address}/admin/keys/${id}/rotate`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: Object(await response.json()) };
}

const createKey = async (account: string, options: object = {}) =>
  Object(await service.admin("POST", "keys", { account, ...options }));

const readStatus = async (key: string) => (await service.get("/api/video/channels", key)).status;

describe("POST /admin/keys/{id}/rotate", () => {
  test("201: the old key works until the overlap ends, and both charge the same account", async () => {
    const { account } = await service.createAccountWithKey(9);
    const old = await createKey(account, { label: "web", scopes: ["read"] });
    const { status, body } = await rotate(old.id, { overlap: "2h" });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: old.id + 1,
      key: expect.stringMatching(/^cm_[A-Za-z0-9_-]{43}$/),
      old_id: old.id,
      old_expires_at: "2026-11-20T14:00:00.000Z",
    });
    expect([await readStatus(old.key), await readStatus(body.key)]).toEqual([200, 200]);
    service.clock.now = NOW + 2 * HOUR_MS - 1;
    expect([await readStatus(old.key), await readStatus(body.key)]).toEqual([200, 200]);
    service.clock.now = NOW + 2 * HOUR_MS;
    expect([await readStatus(old.key), await readStatus(body.key)]).toEqual([401, 200]);
    expect(await service.readSums(account)).toMatchObject({ debited: 5, balance: 4 });
    const listed = await service.admin("GET", `keys?account=${encodeURIComponent(account)}`);
    expect(listed).toMatchObject([
      {},
      { id: old.id, label: "web", scopes: ["read"], expires_at: "2026-11-20T14:00:00.000Z" },
      { id: body.id, label: "web", scopes: ["read"], expires_at: null, revoked_at: null },
    ]);
  });

  test("201: by default the old key stays valid for 24 hours, with overlap 0 not at all", async () => {
    const { account } = await service.createAccountWithKey(9);
    const [first, second] = [await createKey(account), await createKey(account)];
    expect((await rotate(first.id)).body.old_expires_at).toBe("2026-11-21T12:00:00.000Z");
    expect(await readStatus(second.key)).toBe(200);
    const { body } = await rotate(second.id, { overlap: "0" });
    expect([await readStatus(second.key), await readStatus(body.key)]).toEqual([401, 200]);
  });

  test("201: the new key has the end of the old one, which gets no later end", async () => {
    const { account } = await service.createAccountWithKey(9);
    const old = await createKey(account, { expires: "3h" });
    const { body } = await rotate(old.id, { overlap: "7d" });
    expect(body.old_expires_at).toBe("2026-11-20T15:00:00.000Z");
    service.clock.now = NOW + 3 * HOUR_MS;
    expect([await readStatus(old.key), await readStatus(body.key)]).toEqual([401, 401]);
  });

  test.each(["", "1", "1y", "-1h", "1.5h", "24H", "9999999h", "forever", "999999w"])(
    "400 for the overlap %j",
    async (overlap) => {
      expect(await rotate(1, { overlap })).toEqual({
        status: 400,
        body: {
          error: "Invalid Request",
          message: `overlap must be 0 or a duration (30s, 10m, 12h, 7d, 2w), got ${JSON.stringify(overlap)}`,
        },
      });
    },
  );

  test.each(["0", "x", "1.0", "01", "9007199254740992"])("400 for the id %s", async (id) => {
    const { status, body } = await rotate(id);
    expect([status, body.message]).toEqual([
      400,
      `id must be a whole number from 1 to 9007199254740991, got "${id}"`,
    ]);
  });

  test("404 for an unknown key, 409 for a revoked one", async () => {
    expect(await rotate(999)).toMatchObject({ status: 404, body: { error: "Not Found" } });
    const { account } = await service.createAccountWithKey(9);
    const { id } = await createKey(account);
    await service.admin("DELETE", "keys", { id });
    expect(await rotate(id)).toEqual({
      status: 409,
      body: { error: "Conflict", message: `Key ${id} is revoked; create a new key instead` },
    });
  });
});
