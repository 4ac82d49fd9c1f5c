/**
 * A Worker that charges a credit for each request. The sums of each API key are in a Durable Object
 * of their own, so no two requests can spend the same credit, wherever they arrive.
 */
import { DurableObject } from "cloudflare:workers";
import {
  applyEntry,
  computeBalance,
  decideCharges,
  EMPTY_LEDGER,
  type CreditSums,
} from "@creator-metrics/core";

interface Env {
  readonly ACCOUNTS: DurableObjectNamespace<Account>;
  /** The runtime gives `null` for a variable that is not set. */
  readonly ADMIN_TOKEN: unknown;
}

const NO_SUMS: CreditSums = { granted: 0, debited: 0, refunded: 0 };

/**
 * The account of an API key. While a method waits for its storage, the runtime starts no other one,
 * so nothing changes between a read and the write after it. A result leaves the object once it is
 * on disk.
 */
export class Account extends DurableObject<Env> {
  async debit(cost: number) {
    const before = (await this.ctx.storage.get<CreditSums>("sums")) ?? NO_SUMS;
    const { decided, sums } = decideCharges(before, [{ cost }]);
    await this.ctx.storage.put("sums", sums);
    return decided[0] ?? { decision: "refused", balance: 0 };
  }

  /** A reference grants once. */
  async grant(amount: number, reference: string) {
    const sums = (await this.ctx.storage.get<CreditSums>("sums")) ?? NO_SUMS;
    const known = await this.ctx.storage.get<number>(`grant ${reference}`);
    const references = new Map(known === undefined ? [] : [[reference, known]]);
    const ledger = { ...EMPTY_LEDGER, ...sums, references };
    const next = applyEntry(ledger, { kind: "grant", amount, reference });
    const changed = { ...sums, granted: next.granted };
    await this.ctx.storage.put({ sums: changed, [`grant ${reference}`]: amount });
    return computeBalance(changed);
  }
}

/** What the credits are for. */
function respond({ url }: Request): Response {
  return Response.json({ path: new URL(url).pathname });
}

async function grant(request: Request, env: Env): Promise<Response> {
  const token = env.ADMIN_TOKEN;
  const isSet = typeof token === "string" && token !== "";
  if (!isSet || request.headers.get("authorization") !== `Bearer ${token}`) {
    return Response.json({ error: "Invalid token" }, { status: 401 });
  }
  const { key, amount, reference } = await request.json<Record<string, unknown>>();
  try {
    const account = env.ACCOUNTS.getByName(String(key));
    return Response.json({ balance: await account.grant(Number(amount), String(reference)) });
  } catch (error) {
    // The ledger says what is wrong: an amount that is not allowed, or a known reference.
    return Response.json({ error: String(error) }, { status: 400 });
  }
}

export default {
  async fetch(request, env) {
    const { method, url, headers } = request;
    if (method === "POST" && new URL(url).pathname === "/grants") return grant(request, env);
    const account = env.ACCOUNTS.getByName(headers.get("x-api-key") ?? "");
    const { decision, balance } = await account.debit(1);
    if (decision !== "charged") {
      return Response.json({ error: "Insufficient Credits", balance }, { status: 402 });
    }
    const response = respond(request);
    response.headers.set("X-Credits-Remaining", String(balance));
    return response;
  },
} satisfies ExportedHandler<Env>;
