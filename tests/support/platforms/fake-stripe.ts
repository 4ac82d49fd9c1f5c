/** A fake Stripe: the part of its API that makes checkout sessions and lists charges, and its signed events. */
import { createHmac } from "node:crypto";

/** The secret of the endpoint that receives its events. */
export const STRIPE_SECRET = "whsec_of_the_fake_stripe";

/** The secret key of its API. */
export const STRIPE_KEY = "sk_test_of_the_fake_stripe";

/** A checkout session, with the fields that events have. */
interface CheckoutSession {
  readonly id: string;
  readonly object: "checkout.session";
  readonly client_reference_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly mode: string | null;
  readonly payment_intent: string | null;
  readonly payment_status: "paid" | "unpaid" | "no_payment_required";
  readonly url: string | null;
}

/** A charge, with the fields that events have. */
interface Charge {
  readonly id: string;
  readonly object: "charge";
  readonly amount: number;
  readonly amount_refunded: number;
  readonly disputed: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly payment_intent: string;
  readonly refunded: boolean;
}

/** Signs a body as Stripe does. @param at When, in milliseconds since 1970 UTC. */
export function signEvent(body: string, { at = Date.now(), secret = STRIPE_SECRET } = {}): string {
  const time = Math.floor(at / 1000);
  const sign = (key: string) => createHmac("sha256", key).update(`${time}.${body}`).digest("hex");
  // While a secret is replaced there are two signatures; v0 is of test events.
  return `t=${time},v1=${sign("an earlier secret")},v1=${sign(secret)},v0=${sign("v0")}`;
}

/** The body of an event about an object. */
export const formatEvent = (type: string, object: object) =>
  JSON.stringify({
    id: `evt_${Bun.randomUUIDv7("hex")}`,
    object: "event",
    api_version: "2025-09-30.clover",
    created: Math.floor(Date.now() / 1000),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  });

/** Sends an event as Stripe does. @returns The status of the response. */
export async function sendEvent(url: string, type: string, object: object): Promise<number> {
  const body = formatEvent(type, object);
  const headers = { "content-type": "application/json", "stripe-signature": signEvent(body) };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

const isAuthorized = (request: Request) =>
  request.headers.get("authorization") === `Bearer ${STRIPE_KEY}`;

const createUnauthorizedResponse = () =>
  Response.json({ error: { type: "invalid_request_error" } }, { status: 401 });

/** Starts the API. */
export function startFakeStripe() {
  const sessions = new Map<string, CheckoutSession>();
  const charges = new Map<string, Charge>();
  /** Milliseconds until a response. */
  const state = { delayMs: 0 };

  /** The charge of a payment. It is paid, unless a test changed it. */
  const getCharge = (payment_intent: string): Charge =>
    charges.get(payment_intent) ?? {
      id: `ch_of_${payment_intent}`,
      object: "charge",
      amount: 1000,
      amount_refunded: 0,
      disputed: false,
      metadata: {},
      payment_intent,
      refunded: false,
    };

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/v1/charges": (request) => {
        if (!isAuthorized(request)) return createUnauthorizedResponse();
        const payment = new URL(request.url).searchParams.get("payment_intent") ?? "";
        return Response.json({ object: "list", data: [getCharge(payment)], has_more: false });
      },
      "/v1/checkout/sessions": {
        async POST(request) {
          if (!isAuthorized(request)) return createUnauthorizedResponse();
          await Bun.sleep(state.delayMs);
          const form = new URLSearchParams(await request.text());
          const key = request.headers.get("idempotency-key") ?? Bun.randomUUIDv7();
          const id = `cs_test_${sessions.size + 1}`;
          const session: CheckoutSession = sessions.get(key) ?? {
            id,
            object: "checkout.session",
            client_reference_id: form.get("client_reference_id"),
            metadata: { credits: form.get("metadata[credits]") ?? "" },
            mode: form.get("mode"),
            payment_intent: null,
            payment_status: "unpaid",
            url: `https://checkout.stripe.com/c/pay/${id}`,
          };
          sessions.set(key, session);
          return Response.json(session);
        },
      },
    },
  });
  return {
    url: server.url.origin,
    state,
    /** Changes the charge of a payment. @returns The charge. */
    changeCharge(payment: string, change: Partial<Charge>): Charge {
      const charge = { ...getCharge(payment), ...change };
      charges.set(payment, charge);
      return charge;
    },
    /** All sessions, in the order in which they were made. */
    listSessions: () => Array.from(sessions.values()),
    close: () => server.stop(true),
  };
}

/** A session after its customer paid, as the event `checkout.session.completed` has it. */
export const pay = (session: CheckoutSession, payment_intent: string): CheckoutSession => ({
  ...session,
  payment_intent,
  payment_status: "paid",
  url: null,
});
