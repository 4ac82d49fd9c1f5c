/** Thresholds of accounts and the list of notices, in the administration API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestService, type TestService } from "../../support/service.ts";

const TOKEN = "a-token-of-an-administrator";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ADMIN_TOKEN: TOKEN });
});
afterAll(() => service.close());

async function sendAdmin(method: string, path: string, body?: object, token = TOKEN) {
  const response = await fetch(`${service.address}/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const responseBody: unknown = await response.json();
  return [response.status, responseBody];
}

describe("PATCH /admin/accounts", () => {
  test("200 with the account and its threshold, which null turns off", async () => {
    const { account: name } = await service.createAccountWithKey(5);
    for (const low_balance of [3, null]) {
      const change = { name, low_balance };
      expect(await sendAdmin("PATCH", "accounts", change)).toEqual([
        200,
        expect.objectContaining({ name, balance: 5, low_balance }),
      ]);
      expect(await sendAdmin("GET", "accounts")).toEqual([
        200,
        expect.arrayContaining([expect.objectContaining(change)]),
      ]);
    }
    const [, audit] = await sendAdmin("GET", "audit?action=accounts%20set");
    expect(audit).toMatchObject({
      entries: [
        { action: "accounts set", target: name, details: { low_balance: null }, outcome: "done" },
        { action: "accounts set", target: name, details: { low_balance: 3 }, outcome: "done" },
      ],
    });
  });

  test.each([[0], [-1], [1.5], ["5"], [2 ** 53], [undefined]])(
    "400 for the threshold %p",
    async (low_balance) => {
      expect(await sendAdmin("PATCH", "accounts", { name: "account 1", low_balance })).toEqual([
        400,
        { error: "Invalid Request", message: expect.stringContaining("low_balance") },
      ]);
    },
  );

  test("404 for an unknown account", async () => {
    const change = { name: "nobody", low_balance: 1 };
    expect(await sendAdmin("PATCH", "accounts", change)).toEqual([
      404,
      { error: "Not Found", message: "There is no account nobody" },
    ]);
  });
});

describe("GET /admin/notices", () => {
  test("200 with a notice that waits for a receiver", async () => {
    const { account, key } = await service.createAccountWithKey(5);
    await sendAdmin("PATCH", "accounts", { name: account, low_balance: 5 });
    await service.get("/api/video/channels", key);
    const at = new Date(service.clock.now).toISOString();
    expect(await sendAdmin("GET", "notices")).toEqual([
      200,
      [
        {
          id: expect.stringMatching(/^msg_/),
          at,
          account,
          balance: 4,
          threshold: 5,
          state: "pending",
          attempts: 0,
          next_attempt: at,
          delivered_at: null,
          failure: null,
        },
      ],
    ]);
  });
});
