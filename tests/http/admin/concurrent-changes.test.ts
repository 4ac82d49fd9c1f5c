/** Changes that several administrators ask for at once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

const ADMIN_TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN });
});
afterAll(() => service.close());

async function sendAdmin(method: string, path: string, body: object) {
  const response = await service.send(`/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: Object(await response.json()) };
}

/** Sends a request several times at once. @returns The responses, the most successful first. */
async function sendAtOnce(times: number, method: string, path: string, body: object) {
  const responses = await Promise.all(
    Array.from({ length: times }, () => sendAdmin(method, path, body)),
  );
  return responses.toSorted((a, b) => a.status - b.status);
}

test("POST /admin/grants: one of 50 with a reference grants", async () => {
  const { account } = await service.createAccountWithKey();
  const grant = { account, amount: 10, reference: "invoice-7" };
  const responses = await sendAtOnce(50, "POST", "grants", grant);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  expect(responses.filter(({ body }) => body.is_new)).toHaveLength(1);
  expect(await service.readSums(account)).toMatchObject({ balance: 10 });
});

test("POST /admin/accounts: one of 10 with a name creates and grants", async () => {
  const account = { name: "twice", credits: 7 };
  const [created, ...others] = await sendAtOnce(10, "POST", "accounts", account);
  expect(created).toMatchObject({ status: 201, body: { balance: 7 } });
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 409));
  expect(await service.readSums("twice")).toMatchObject({ balance: 7 });
});

/** Creates a key; returns its text and its id. */
async function createKey(): Promise<{ readonly id: number; readonly key: string }> {
  const { account } = await service.createAccountWithKey();
  return (await sendAdmin("POST", "keys", { account })).body;
}

const readStatus = async (key: string) => (await service.get("/api/account", key)).status;

test("POST /admin/keys/{id}/rotate: one of 10 replaces the key", async () => {
  const { id, key } = await createKey();
  const [rotated, ...others] = await sendAtOnce(10, "POST", `keys/${id}/rotate`, {});
  expect(rotated?.status).toBe(201);
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 409));
  expect([await readStatus(key), await readStatus(rotated?.body.key)]).toEqual([200, 200]);
});

test("DELETE /admin/keys during a rotation revokes the key, and no overlap revives it", async () => {
  for (let round = 0; round < 10; round++) {
    const { id, key } = await createKey();
    const rotate = () => sendAdmin("POST", `keys/${id}/rotate`, {});
    const revoke = () => sendAdmin("DELETE", "keys", { id });
    const [first, second] = round % 2 === 0 ? [rotate, revoke] : [revoke, rotate];
    const responses = await Promise.all([first(), second()]);
    const [rotated, revoked] = round % 2 === 0 ? responses : responses.toReversed();
    expect(revoked?.status).toBe(200);
    expect([201, 409]).toContain(rotated?.status ?? 0);
    expect(await readStatus(key)).toBe(401);
    if (rotated?.status === 201) expect(await readStatus(rotated.body.key)).toBe(200);
  }
});
