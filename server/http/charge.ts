/** Priced reads: the debit is committed before the read, and given back if it fails. */
import { isCharged } from "../../core/credits.ts";
import { STATUSES, asDomainError } from "./errors.ts";
import { callerOf } from "./door.ts";

/** A committed debit and the balance it left. */
export interface Receipt<Debit> {
  readonly debit: Debit;
  readonly balance: number;
}

/** Charges and refunds. */
export interface Charger<Debit = unknown> {
  debit(account: number, cost: number): Promise<Receipt<Debit>>;
  refund(debit: Debit, reason: string): Promise<void>;
}

/** The parts of a route's context that a priced read uses. */
interface ReadContext {
  readonly request: Request;
  readonly set: { readonly headers: Record<string, string | number | undefined> };
}

/**
 * Charges a request whose parameters were accepted, reads its answer and writes it as JSON. What
 * is found or is not there stays charged; what fails is refunded.
 *
 * @param cost In credits.
 * @throws {DomainError} `Insufficient Credits`; whatever the read throws.
 */
export async function chargedRead<Debit>(
  charger: Charger<Debit>,
  cost: number,
  { request, set }: ReadContext,
  read: () => Promise<unknown>,
): Promise<string> {
  const { debit, balance } = await charger.debit(callerOf(request).account, cost);
  try {
    const body = JSON.stringify(await read());
    set.headers["content-type"] = "application/json";
    showCost(set.headers, cost, balance);
    return body;
  } catch (error) {
    if (isCharged(STATUSES[asDomainError(error).code])) showCost(set.headers, cost, balance);
    else await charger.refund(debit, "The answer failed");
    throw error;
  }
}

function showCost(
  headers: Record<string, string | number | undefined>,
  cost: number,
  balance: number,
): void {
  headers["x-credits-cost"] = String(cost);
  headers["x-credits-remaining"] = String(balance);
}

/** Every value that the query of a request gives a parameter, in order. */
export function queryValues({ url }: Request): (name: string) => readonly string[] {
  const start = url.indexOf("?");
  if (start === -1) return () => [];
  const parameters = new URLSearchParams(url.slice(start));
  return (name) => parameters.getAll(name);
}
