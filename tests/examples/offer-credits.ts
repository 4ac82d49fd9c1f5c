/** Receives notices about low balances, and makes a page of Stripe where the customer pays. */
import { Database } from "bun:sqlite";
import { Webhook } from "standardwebhooks";

const { METRICS_URL = "", METRICS_TOKEN = "", PORT = "4001", WEBHOOK_SECRET = "" } = process.env;
const { STRIPE_URL = "https://api.stripe.com", STRIPE_KEY = "", STRIPE_PRICE = "" } = process.env;
const { NOTICES_FILE = "notices.db" } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);

/** How many credits STRIPE_PRICE buys. */
const CREDITS = "10000";

/** The notices that led to a mail, in a file, so that a restart forgets none. */
const notices = new Database(NOTICES_FILE, { create: true });
notices.run("CREATE TABLE IF NOT EXISTS mailed (id TEXT PRIMARY KEY)");
const isMailed = (id: string) =>
  notices.query("SELECT 1 FROM mailed WHERE id = ?").get(id) !== null;

interface Account {
  readonly name: string;
  readonly balance: number;
  /** The sum of all grants. */
  readonly granted: number;
}

async function fetchJson<Body>(url: string, token: string, init: RequestInit): Promise<Body> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const response = await fetch(url, { ...init, headers });
  // The service sends the notice again after a 500, for about three days.
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
  const id = request.headers.get("webhook-id") ?? "";
  if (isMailed(id)) return new Response(null, { status: 204 });
  // The service waits 15 seconds for a response, then it sends the notice again.
  const signal = AbortSignal.timeout(12_000);
  const { data }: { data: { account: string; threshold: number; granted: number } } =
    JSON.parse(body);
  const accounts = await fetchJson<Account[]>(`${METRICS_URL}/admin/accounts`, METRICS_TOKEN, {
    signal,
  });
  const account = accounts.find(({ name }) => name === data.account);
  if (account === undefined) throw new Error(`There is no account ${data.account}`);
  const { name, balance, granted } = account;
  // A grant since the notice allows the next one, but only if it lifted the balance enough.
  if (granted > data.granted && balance >= data.threshold) {
    return new Response(null, { status: 204 });
  }
  const page = await fetchJson<{ url: string }>(`${STRIPE_URL}/v1/checkout/sessions`, STRIPE_KEY, {
    method: "POST",
    // The same notice, sent again, gets the same page.
    headers: { "idempotency-key": id },
    signal,
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
  // Another request may have brought the same notice meanwhile.
  if (isMailed(id)) return new Response(null, { status: 204 });
  console.log(`Mail to ${name}: ${balance} credits are left, buy more at ${page.url}`);
  notices.run("INSERT INTO mailed VALUES (?)", [id]);
  return new Response(null, { status: 204 });
}

const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  // Longer than the timeout above; by default, Bun closes after 10 seconds.
  idleTimeout: 30,
  routes: { "/notices": { POST: receiveNotice } },
  error(failure) {
    console.error(failure.message);
    return new Response("Try again later", { status: 500 });
  },
});
console.log(`Listening at ${server.url.origin}`);
