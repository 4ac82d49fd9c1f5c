/**
 * A Hono service on Node 22 and later that charges credits for its requests.
 *
 *     npm install hono @hono/node-server
 *     DATABASE=credits.db PORT=3000 node service.ts
 */
import { serve } from "@hono/node-server";
import { Hono, type MiddlewareHandler } from "hono";
import {
  createInsufficientCreditsError,
  createServiceError,
  DomainError,
  ERROR_STATUSES,
} from "@creator-metrics/core";
import { openCreditStore } from "./credit-store.ts";

const credits = openCreditStore(process.env["DATABASE"] ?? "credits.db");

/** The accounts by API key. A real service stores hashes of the keys. */
const ACCOUNTS = new Map([["demo-key", "demo"]]);

for (const account of ACCOUNTS.values()) {
  await credits.createAccount(account, Date.now()).catch(() => "It exists since an earlier start");
  // The reference grants once, however often the service starts.
  const grant = { id: crypto.randomUUID(), account, amount: 20, reference: "welcome" };
  await credits.grant(grant, Date.now());
}

const INVALID_KEY = createServiceError({ code: "Invalid API Key", message: "Send X-API-Key" });

/** Charges a request before its handler runs, and refunds it if the handler fails. */
const meter = (cost: number): MiddlewareHandler => {
  return async (context, next) => {
    const { req } = context;
    const account = ACCOUNTS.get(req.header("x-api-key") ?? "");
    if (account === undefined) return context.json(INVALID_KEY, 401);
    const value = req.header("idempotency-key");
    const { pathname, search } = new URL(req.url);
    const fingerprint = `${req.method} ${pathname}${search}`;
    const idempotencyKey = value === undefined ? undefined : { value, fingerprint };
    const { outcomes } = await credits.debit([{ account, cost, idempotencyKey }], {
      id: crypto.randomUUID(),
      now: Date.now(),
    });
    const [outcome = { kind: "refused", balance: 0 }] = outcomes;
    if (outcome.kind === "misused") {
      throw new DomainError("Conflict", "The Idempotency-Key paid for another request");
    }
    if (outcome.kind === "refused") throw createInsufficientCreditsError(outcome.balance, cost);
    await next();
    if (outcome.kind === "charged" && context.res.status >= 500) {
      return credits.refund(outcome.debit, crypto.randomUUID(), "It failed", Date.now());
    }
    context.header("X-Credits-Cost", String(outcome.kind === "charged" ? cost : 0));
    context.header("X-Credits-Remaining", String(outcome.balance));
  };
};

const app = new Hono();

app.get("/reports/:name", meter(2), (context) => {
  const name = context.req.param("name");
  if (name === "broken") throw new Error("This report always fails");
  return context.json({ report: name });
});

app.onError((error, context) => {
  if (!(error instanceof DomainError)) return context.json({ error: "Internal Error" }, 500);
  return Response.json(createServiceError(error), { status: ERROR_STATUSES[error.code] });
});

const server = serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000) }, ({ port }) =>
  console.log(`Listening at http://127.0.0.1:${port}`),
);

process.once("SIGTERM", () => server.close(() => credits.close()));
