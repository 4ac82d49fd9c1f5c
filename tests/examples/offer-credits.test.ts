/** Sends notices to offer-credits.ts, with a real service and a fake Stripe. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { WEBHOOK_SECRET } from "../support/network/webhook-receiver.ts";
import { startFakeStripe, STRIPE_KEY } from "../support/platforms/fake-stripe.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import {
  METRICS_TOKEN,
  startExample,
  type ExampleProgram,
} from "../support/processes/example-program.ts";
import { waitUntil } from "../support/wait.ts";

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let slowService: ReturnType<typeof startSlowService>;
let offers: ExampleProgram;
let offerSettings: Readonly<Record<string, string>>;
const stripe = startFakeStripe();

/** Passes requests on to the service, after a delay. */
function startSlowService(url: string) {
  const state = { delayMs: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      await Bun.sleep(state.delayMs);
      const { pathname, search } = new URL(request.url);
      return fetch(`${url}${pathname}${search}`, { headers: request.headers });
    },
  });
  return { url: server.url.origin, state, close: () => server.stop(true) };
}

beforeAll(async () => {
  sandbox = await openSandbox({ ADMIN_TOKEN: METRICS_TOKEN });
  service = await sandbox.serve();
  slowService = startSlowService(service.url);
  offerSettings = {
    METRICS_URL: slowService.url,
    NOTICES_FILE: join(sandbox.folder, "notices.db"),
    STRIPE_KEY,
    STRIPE_PRICE: "price_1",
    STRIPE_URL: stripe.url,
    WEBHOOK_SECRET,
  };
  offers = await startExample("offer-credits.ts", offerSettings);
}, 30_000);
afterAll(async () => {
  await offers.stop();
  await slowService.close();
  await service.stop();
  await sandbox.close();
  await stripe.close();
});

describe("offer-credits.ts", () => {
  const countMails = (account: string) => offers.printed().split(`Mail to ${account}:`).length - 1;

  /** Sends a notice as the service does. */
  async function sendNotice(
    id: string,
    account: string,
    granted: number,
    threshold = 2,
  ): Promise<number> {
    const timestamp = new Date();
    const data = { account, balance: 1, threshold, granted };
    const body = JSON.stringify({ type: "account.balance_low", timestamp, data });
    const signature = new Webhook(WEBHOOK_SECRET).sign(id, timestamp, body);
    const response = await fetch(`${offers.url}/notices`, {
      method: "POST",
      headers: {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(timestamp.getTime() / 1000)),
        "webhook-signature": signature,
      },
      body,
    });
    return response.status;
  }

  test("mails about a notice once, also if it comes twice at once, and after a restart", async () => {
    await sandbox.runOrThrow("accounts", "create", "tyrell", "--credits", "5");
    const send = () => sendNotice("msg_twice", "tyrell", 5);
    expect(await Promise.all([send(), send()])).toEqual([204, 204]);
    expect(await send()).toBe(204);
    await waitUntil(() => countMails("tyrell") > 0);
    expect(countMails("tyrell")).toBe(1);
    await offers.stop();
    offers = await startExample("offer-credits.ts", offerSettings);
    expect(await send()).toBe(204);
    await sendNotice("msg_later", "tyrell", 5);
    await waitUntil(() => countMails("tyrell") > 0);
    expect(countMails("tyrell")).toBe(1);
  });

  test("drops a notice after a grant that lifts the balance to the threshold, and no other", async () => {
    await sandbox.runOrThrow("accounts", "create", "cyberdyne", "--credits", "5");
    expect(await sendNotice("msg_before_grant", "cyberdyne", 4)).toBe(204);
    // The balance is 5, above the threshold of 2: the read was refunded.
    expect(await sendNotice("msg_after_refund", "cyberdyne", 5)).toBe(204);
    await waitUntil(() => countMails("cyberdyne") > 0);
    expect(countMails("cyberdyne")).toBe(1);
    // The grant was too small: the balance is below the threshold of 6, and no other notice follows.
    expect(await sendNotice("msg_small_grant", "cyberdyne", 4, 6)).toBe(204);
    await waitUntil(() => countMails("cyberdyne") > 1);
  });

  test("answers within the 15 seconds that the service waits, also if both others are slow", async () => {
    await sandbox.runOrThrow("accounts", "create", "wayne");
    stripe.state.delayMs = 8000;
    slowService.state.delayMs = 8000;
    const startedAt = performance.now();
    expect(await sendNotice("msg_slow", "wayne", 0)).toBe(500);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    stripe.state.delayMs = 0;
    slowService.state.delayMs = 0;
    expect(await sendNotice("msg_slow", "wayne", 0)).toBe(204);
    await waitUntil(() => countMails("wayne") === 1);
  }, 30_000);

  test("answers 400 to a notice that is not signed", async () => {
    const url = `${offers.url}/notices`;
    const response = await fetch(url, { method: "POST", body: "{}" });
    expect(response.status).toBe(400);
  });
});
