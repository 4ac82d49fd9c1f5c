/** Receives events of Stripe, and grants the credits of each payment once. */
import { createHmac, timingSafeEqual } from "node:crypto";

const { METRICS_URL = "", METRICS_TOKEN = "", STRIPE_SECRET = "", PORT = "4000" } = process.env;
if (METRICS_TOKEN === "" || STRIPE_SECRET === "") throw new Error("A setting is missing");

/** The fields that are used of checkout sessions, charges and disputes. */
interface StripeEvent {
  readonly type: string;
  readonly data: {
    readonly object: {
      readonly payment_intent: string;
      readonly payment_status?: string;
      readonly client_reference_id?: string;
      readonly metadata: Readonly<Record<string, string>>;
    };
  };
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

async function receiveEvent(request: Request): Promise<Response> {
  const body = await request.text();
  if (!isFromStripe(body, request.headers.get("stripe-signature") ?? "")) {
    return new Response("Wrong signature", { status: 400 });
  }
  const { type, data }: StripeEvent = JSON.parse(body);
  const { payment_intent: reference, payment_status, client_reference_id, metadata } = data.object;
  if (type.startsWith("checkout.session.") && payment_status === "paid") {
    const amount = Number(metadata["credits"]);
    const response = await fetch(`${METRICS_URL}/admin/grants`, {
      method: "POST",
      headers: { authorization: `Bearer ${METRICS_TOKEN}`, "content-type": "application/json" },
      // Twice is once: a second grant with this reference changes nothing.
      body: JSON.stringify({ account: client_reference_id, amount, reference, reason: "Stripe" }),
      signal: AbortSignal.timeout(10_000),
    });
    // Stripe sends the event again after a 500, for three days.
    if (!response.ok) throw new Error(`${reference}: ${await response.text()}`);
  } else if (type === "charge.refunded" || type === "charge.dispute.created") {
    // Credits cannot be taken back: a person decides about the account.
    console.log(`${type} ${reference} ${metadata["account"] ?? "unknown account"}`);
  }
  return new Response(null, { status: 204 });
}

const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  routes: { "/stripe": { POST: receiveEvent } },
  error(failure) {
    console.error(failure.message);
    return new Response("Try again later", { status: 500 });
  },
});
console.log(`Listening at ${server.url.origin}`);
