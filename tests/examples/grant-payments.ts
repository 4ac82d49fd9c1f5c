/** Receives events of Stripe, and grants the credits of each payment once. */
import { createHmac, timingSafeEqual } from "node:crypto";

const { METRICS_URL = "", METRICS_TOKEN = "", STRIPE_SECRET = "", PORT = "4000" } = process.env;
const { STRIPE_URL = "https://api.stripe.com", STRIPE_KEY = "" } = process.env;
if ([METRICS_TOKEN, STRIPE_SECRET, STRIPE_KEY].includes(""))
  throw new Error("A setting is missing");

/** The fields that are used of checkout sessions, charges and disputes. */
interface StripeObject {
  readonly id: string;
  readonly payment_intent?: string | null;
  readonly payment_status?: string;
  readonly client_reference_id?: string | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
}

/** Whether Stripe signed a body within the last five minutes. */
function isFromStripe(body: string, header: string): boolean {
  const parts = header.split(",").map((part) => part.split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const expected = createHmac("sha256", STRIPE_SECRET).update(`${time}.${body}`).digest();
  const signatures = parts.filter(([name]) => name === "v1");
  const isSigned = signatures.some(([, hex = ""]) => {
    const signature = Buffer.from(hex, "hex");
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isSigned && Math.abs(Date.now() / 1000 - Number(time)) < 300;
}

async function fetchJson<Body>(url: string, token: string, init: RequestInit): Promise<Body> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(url, { ...init, headers });
  // Stripe sends the event again after a 500, for three days.
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

/** Whether a payment was refunded, also in part, or is disputed. Events can come in any order. */
async function isReturned(payment: string, signal: AbortSignal): Promise<boolean> {
  const { data } = await fetchJson<{ data: { amount_refunded: number; disputed: boolean }[] }>(
    `${STRIPE_URL}/v1/charges?limit=100&payment_intent=${encodeURIComponent(payment)}`,
    STRIPE_KEY,
    { signal },
  );
  return data.some((charge) => charge.amount_refunded > 0 || charge.disputed);
}

/** Grants the credits of a session. @returns What was done. */
async function grantCredits(session: StripeObject): Promise<string> {
  const { id, payment_intent, payment_status, client_reference_id: account, metadata } = session;
  const credits = metadata?.["credits"];
  if (credits === undefined) return "not ours, it has no credits in its metadata";
  if (payment_status !== "paid" && payment_status !== "no_payment_required") return "not paid";
  const signal = AbortSignal.timeout(10_000);
  if (payment_intent && (await isReturned(payment_intent, signal))) {
    return "not granted, because it was refunded or disputed";
  }
  // A session that cost nothing has no payment.
  const reference = payment_intent ?? id;
  const grant = { account, amount: Number(credits), reference, reason: "Stripe" };
  const { is_new } = await fetchJson<{ is_new: boolean }>(
    `${METRICS_URL}/admin/grants`,
    METRICS_TOKEN,
    // Twice is once: a second grant with this reference changes nothing.
    { method: "POST", body: JSON.stringify(grant), signal },
  );
  return is_new ? `granted ${credits} credits to ${account}` : "granted before";
}

async function handleEvent(type: string, object: StripeObject): Promise<string> {
  if (type.startsWith("checkout.session.")) return grantCredits(object);
  if (type !== "charge.refunded" && type !== "charge.dispute.created") return "not ours";
  // Credits cannot be taken back: a person decides about the account.
  return object.metadata?.["account"] ?? "unknown account";
}

async function receiveEvent(request: Request): Promise<Response> {
  const body = await request.text();
  if (!isFromStripe(body, request.headers.get("stripe-signature") ?? "")) {
    return new Response("Wrong signature", { status: 400 });
  }
  const event: { type: string; data: { object: StripeObject } } = JSON.parse(body);
  const { type, data } = event;
  const outcome = await handleEvent(type, data.object);
  console.log(`${type} ${data.object.payment_intent ?? data.object.id}: ${outcome}`);
  return new Response(null, { status: 204 });
}

const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  // Longer than the timeout above; by default, Bun closes after 10 seconds.
  idleTimeout: 30,
  routes: { "/stripe": { POST: receiveEvent } },
  error(failure) {
    console.error(failure.message);
    return new Response("Try again later", { status: 500 });
  },
});
console.log(`Listening at ${server.url.origin}`);
