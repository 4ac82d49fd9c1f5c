/** Receives notices about low balances, and makes a page of Stripe where the customer pays. */
import { Webhook } from "standardwebhooks";

const { METRICS_URL = "", METRICS_TOKEN = "", PORT = "4001", WEBHOOK_SECRET = "" } = process.env;
const { STRIPE_URL = "https://api.stripe.com", STRIPE_KEY = "", STRIPE_PRICE = "" } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);

/** How many credits STRIPE_PRICE buys. */
const CREDITS = "10000";

async function fetchJson<Body>(url: string, token: string, init: RequestInit = {}): Promise<Body> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(10_000) });
  // The service sends the notice again after a 500, for three days.
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

async function receiveNotice(request: Request): Promise<Response> {
  const body = await request.text();
  try {
    webhook.verify(body, Object.fromEntries(request.headers));
  } catch {
    return new Response("Wrong signature", { status: 400 });
  }
  const { data }: { data: { account: string; threshold: number } } = JSON.parse(body);
  const { account: name, balance } = await fetchJson<{ account: string; balance: number }>(
    `${METRICS_URL}/admin/usage?account=${encodeURIComponent(data.account)}`,
    METRICS_TOKEN,
  );
  // There may have been a grant since.
  if (balance >= data.threshold) return new Response(null, { status: 204 });
  const page = await fetchJson<{ url: string }>(`${STRIPE_URL}/v1/checkout/sessions`, STRIPE_KEY, {
    method: "POST",
    // The same notice, sent again, gets the same page.
    headers: { "idempotency-key": request.headers.get("webhook-id") ?? "" },
    body: new URLSearchParams({
      mode: "payment",
      "line_items[0][price]": STRIPE_PRICE,
      "line_items[0][quantity]": "1",
      client_reference_id: name,
      "metadata[credits]": CREDITS,
      // The charge has it too, and so have the events of its refunds.
      "payment_intent_data[metadata][account]": name,
      success_url: "https://example.com/thanks",
    }),
  });
  console.log(`Mail to ${name}: ${balance} credits are left, buy more at ${page.url}`);
  return new Response(null, { status: 204 });
}

const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  routes: { "/notices": { POST: receiveNotice } },
  error(failure) {
    console.error(failure.message);
    return new Response("Try again later", { status: 500 });
  },
});
console.log(`Listening at ${server.url.origin}`);
