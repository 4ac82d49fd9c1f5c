/** Thresholds of accounts and the list of notices, in the administration API. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
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

/** Lists the entries of the audit with an action and its target. */
async function listAudit(action: string, target: string): Promise<object[]> {
  const [, audit] = await sendAdmin("GET", `audit?action=${encodeURIComponent(action)}`);
  const entries: object[] = Object(audit).entries;
  return entries.filter((entry) => Object(entry).target === target);
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
    expect(await listAudit("accounts set", name)).toMatchObject([
      { action: "accounts set", target: name, details: { low_balance: null }, outcome: "done" },
      { action: "accounts set", target: name, details: { low_balance: 3 }, outcome: "done" },
    ]);
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

/** Takes the balance of a new account below its threshold. @returns The name of the account. */
async function causeNotice(): Promise<string> {
  const { account, key } = await service.createAccountWithKey(5);
  await sendAdmin("PATCH", "accounts", { name: account, low_balance: 5 });
  await service.get("/api/video/channels", key);
  return account;
}

describe("GET /admin/notices", () => {
  let shared: TestService;
  beforeEach(async () => {
    // The list has the notices of all accounts, so each test has a service of its own.
    shared = service;
    service = await startTestService({ ADMIN_TOKEN: TOKEN });
  });
  afterEach(async () => {
    await service.close();
    service = shared;
  });

  test("200 with a notice that waits for a receiver", async () => {
    const account = await causeNotice();
    const at = new Date(service.clock.now).toISOString();
    expect(await sendAdmin("GET", "notices")).toEqual([
      200,
      {
        notices: [
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
        next: null,
      },
    ]);
  });

  test("200: pages, and filters by account and state", async () => {
    const accounts = [await causeNotice(), await causeNotice(), await causeNotice()];
    const listed: string[] = [];
    let cursor = "";
    for (let page = 0; page < 5; page++) {
      const query = `notices?limit=1&state=pending${cursor}`;
      const [status, body] = await sendAdmin("GET", query);
      const { notices, next } = Object(body);
      expect([status, notices.length]).toEqual([200, 1]);
      listed.push(notices[0].account);
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(listed.toSorted()).toEqual(accounts);
    const ofAccount = `account=${encodeURIComponent(accounts[0] ?? "")}`;
    expect(await sendAdmin("GET", `notices?${ofAccount}`)).toMatchObject([
      200,
      { notices: [{ account: accounts[0] }], next: null },
    ]);
    expect(await sendAdmin("GET", "notices?state=failed")).toMatchObject([200, { notices: [] }]);
  });
});

describe("a wrong query of GET /admin/notices", () => {
  test.each([
    ["limit=0", "limit must be a whole number from 1 to 1000"],
    ["limit=5&limit=6", "limit must be given once"],
    ["cursor=7", "cursor must be msg_ and 32 hexadecimal digits"],
    ["state=late", "state must be one of pending, delivered, failed"],
    ["state=failed&state=failed", "state must be given once"],
    ["account=", "account must be 1 to 256 characters"],
  ])("400 for ?%s", async (query, message) => {
    expect(await sendAdmin("GET", `notices?${query}`)).toEqual([
      400,
      { error: "Invalid Request", message: expect.stringContaining(message) },
    ]);
  });
});

describe("POST /admin/notices/{id}/resend", () => {
  test("200 with the notice, which is due now, and an entry in the audit", async () => {
    const account = await causeNotice();
    const [, page] = await sendAdmin("GET", `notices?account=${encodeURIComponent(account)}`);
    const [{ id }] = Object(page).notices;
    expect(await sendAdmin("POST", `notices/${id}/resend`)).toMatchObject([
      200,
      { id, account, state: "pending", next_attempt: new Date(service.clock.now).toISOString() },
    ]);
    expect(await listAudit("notices resend", id)).toMatchObject([
      { action: "notices resend", target: id, details: { account }, outcome: "done" },
    ]);
  });

  test("404 for an unknown id, 400 for what is none", async () => {
    const id = `msg_${"0".repeat(32)}`;
    expect(await sendAdmin("POST", `notices/${id}/resend`)).toEqual([
      404,
      { error: "Not Found", message: `There is no notice ${id}` },
    ]);
    expect(await sendAdmin("POST", "notices/7/resend")).toMatchObject([400, {}]);
  });
});
