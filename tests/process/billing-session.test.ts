/** The session of a billing system, with curl: from its token to a key that it rotates and revokes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/network/webhook-receiver.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

const curl = Bun.which("curl");
if (curl === null) console.warn("Skipped, because there is no curl");

let receiver: WebhookReceiver;
let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let token: string;
beforeAll(async () => {
  receiver = startWebhookReceiver();
  sandbox = await openSandbox({ WEBHOOK_URL: receiver.url, WEBHOOK_SECRET });
  service = await sandbox.serve();
  token = (await sandbox.runOrThrow("tokens", "create", "billing")).trim();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await sandbox.close();
});

/** Runs curl; returns the status and the JSON of the response. */
async function runCurl(path: string, ...options: string[]) {
  const command = [curl ?? "curl", "-s", "-w", "\n%{http_code}", ...options, service.url + path];
  const child = Bun.spawn(command, { stdout: "pipe" });
  const lines = (await child.stdout.text()).split("\n");
  return { status: Number(lines.pop()), body: Object(JSON.parse(lines.join("\n"))) };
}

const authorize = () => ["-H", `Authorization: Bearer ${token}`];

function post(path: string, body: object, method = "POST") {
  const type = "Content-Type: application/json";
  return runCurl(path, ...authorize(), "-X", method, "-H", type, "-d", JSON.stringify(body));
}

const readWith = async (key: string, path = "/api/video/channels") =>
  (await runCurl(path, "-H", `X-API-Key: ${key}`)).status;

const readNotices = async (): Promise<Record<string, unknown>[]> =>
  (await runCurl("/admin/notices?account=acme", ...authorize())).body.notices;

describe.skipIf(curl === null)("/admin with curl", () => {
  test("sells credits: account, threshold, key, grant, use, notice, statement, rotation, revocation, audit", async () => {
    const account = await post("/admin/accounts", { name: "acme" });
    expect(account).toMatchObject({ status: 201, body: { name: "acme", balance: 0 } });
    const threshold = { name: "acme", low_balance: 98 };
    expect(await post("/admin/accounts", threshold, "PATCH")).toMatchObject({
      status: 200,
      body: threshold,
    });
    const key = await post("/admin/keys", { account: "acme", label: "web" });
    expect(key.status).toBe(201);
    expect(await readWith(key.body.key)).toBe(402);

    const grant = { account: "acme", amount: 100, reference: "invoice-7" };
    const [first, again] = [await post("/admin/grants", grant), await post("/admin/grants", grant)];
    expect([first.body, again.body]).toEqual([
      { account: "acme", is_new: true, balance: 100 },
      { account: "acme", is_new: false, balance: 100 },
    ]);
    await receiver.stop();
    for (let reads = 0; reads < 3; reads++) expect(await readWith(key.body.key)).toBe(200);

    const rotation = { overlap: "5s" };
    const rotated = await post(`/admin/keys/${key.body.id}/rotate`, rotation);
    expect(rotated.status).toBe(201);
    expect([await readWith(key.body.key), await readWith(rotated.body.key)]).toEqual([200, 200]);

    await waitUntil(async () => typeof (await readNotices())[0]?.["failure"] === "string");
    const low = { account: "acme", balance: 97, threshold: 98 };
    const failure = "The receiver could not be reached: ECONNREFUSED";
    expect(await readNotices()).toMatchObject([{ ...low, state: "pending", failure }]);
    // The next attempt comes while the old key is still valid, or soon after.
    receiver.restart();

    await waitUntil(async () => (await readWith(key.body.key, "/api/account")) === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(rotated.body.old_expires_at));
    expect(await readWith(rotated.body.key)).toBe(200);

    const { body: statement } = await runCurl("/admin/statement?account=acme", ...authorize());
    expect(statement.lines[0]).toMatchObject({ kind: "grant", amount: 100, balance: 100 });
    const { body: usage } = await runCurl("/admin/usage?account=acme", ...authorize());
    expect(usage.balance).toBe(statement.lines.at(-1).balance);
    expect(usage.balance).toBe(100 - 3 - 2 - 1);

    await waitUntil(async () => (await readNotices())[0]?.["state"] === "delivered");
    const [notice, ...others] = await readNotices();
    expect(others).toEqual([]);
    expect(notice?.["attempts"]).toBeGreaterThan(1);
    // The receiver has verified the signature, and rejected none.
    const data = { ...low, granted: 100 };
    const body = { type: "account.balance_low", timestamp: notice?.["at"], data };
    expect(receiver.received).toEqual([{ id: String(notice?.["id"]), body }]);
    expect(receiver.state.rejected).toBe(0);

    const revoked = await post("/admin/keys", { id: rotated.body.id }, "DELETE");
    expect(revoked.status).toBe(200);
    expect(await readWith(rotated.body.key)).toBe(401);

    const { body: audit } = await runCurl("/admin/audit?actor=billing", ...authorize());
    expect(audit.entries.map(({ action }: { action: string }) => action)).toEqual([
      "keys revoke",
      "keys rotate",
      "credits grant",
      "credits grant",
      "keys create",
      "accounts set",
      "accounts create",
    ]);
    await sandbox.runOrThrow("tokens", "revoke", "billing");
    expect((await runCurl("/admin/accounts", ...authorize())).status).toBe(404);
  }, 30_000);
});
