/** Notices about low balances, by a service that is a process of its own. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/network/webhook-receiver.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

let receiver: WebhookReceiver;
let sandbox: Sandbox;
let key: string;
beforeEach(async () => {
  receiver = startWebhookReceiver();
  sandbox = await openSandbox({ WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, LOG_LEVEL: "warning" });
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
  await sandbox.runOrThrow("accounts", "set", "acme", "--low-balance", "10");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
});
afterEach(async () => {
  await receiver.stop();
  await sandbox.close();
});

const read = async (url: string) => {
  const response = await fetch(`${url}/api/video/channels`, { headers: { "x-api-key": key } });
  expect(response.status).toBe(200);
};

const listNotices = async (): Promise<Record<string, unknown>[]> =>
  JSON.parse(await sandbox.runOrThrow("notices", "list", "--json"));

const bodyWith = (balance: number, granted: number) => ({
  type: "account.balance_low",
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  data: { account: "acme", balance, threshold: 10, granted },
});

test("serve sends one notice at a low balance, and the next one after a grant", async () => {
  const service = await sandbox.serve();
  await read(service.url);
  await waitUntil(() => receiver.received.length === 1);
  await read(service.url);
  await sandbox.runOrThrow("credits", "grant", "acme", "5");
  for (let reads = 0; reads < 4; reads++) await read(service.url);
  await waitUntil(() => receiver.received.length === 2);
  expect((await service.stop()).status).toBe(0);
  expect(receiver.received.map(({ body }) => body)).toEqual([bodyWith(9, 10), bodyWith(9, 15)]);
  expect(receiver.state.rejected).toBe(0);
});

test("kill -9 between the charge and the delivery loses no notice, and none is sent twice", async () => {
  await receiver.stop();
  const killed = await sandbox.serve();
  await read(killed.url);
  await killed.stop("SIGKILL");
  expect(await listNotices()).toMatchObject([{ account: "acme", state: "pending" }]);
  receiver.restart();
  const service = await sandbox.serve();
  // Up to the first retry, if the killed process came to try it.
  await waitUntil(() => receiver.received.length > 0, 70_000);
  await waitUntil(async () => (await listNotices())[0]?.["state"] === "delivered");
  await service.stop();
  await (await sandbox.serve()).stop();
  expect(receiver.received.map(({ body }) => body)).toEqual([bodyWith(9, 10)]);
}, 90_000);

test("a receiver that was down gets the notice once; until then /metrics counts it", async () => {
  await receiver.stop();
  const service = await sandbox.serve();
  const readMetrics = async () => (await fetch(`${service.url}/metrics`)).text();
  await read(service.url);
  await waitUntil(async () => (await listNotices())[0]?.["failure"] !== null);
  expect(await listNotices()).toMatchObject([
    { state: "pending", failure: "The receiver could not be reached: ECONNREFUSED" },
  ]);
  await waitUntil(async () =>
    (await readMetrics()).includes('creator_metrics_undelivered_notices{state="pending"} 1'),
  );
  receiver.restart();
  await waitUntil(
    async () =>
      (await readMetrics()).includes('creator_metrics_undelivered_notices{state="pending"} 0'),
    20_000,
  );
  expect(receiver.received.map(({ body }) => body)).toEqual([bodyWith(9, 10)]);
  expect(await listNotices()).toMatchObject([{ state: "delivered", failure: null }]);
  const { log } = await service.stop();
  expect(log).toContain("was not delivered: ");
}, 60_000);

test("SIGTERM does not wait for a receiver that does not answer; the next start sends the notice", async () => {
  receiver.state.respond = () => new Promise(() => undefined);
  const service = await sandbox.serve();
  await read(service.url);
  await waitUntil(() => receiver.received.length === 1);
  const { status } = await service.stop();
  expect(status).toBe(0);
  expect(await listNotices()).toMatchObject([{ state: "pending", attempts: 0, failure: null }]);
  receiver.state.respond = () => new Response();
  const next = await sandbox.serve();
  await waitUntil(() => receiver.received.length === 2);
  await next.stop();
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
}, 30_000);
