/** Decides charges by an account's sums and its idempotency keys, without a history of debits. */
import { assertWholeNumber } from "./errors.ts";
import { assertCreditAmount, assertSum, computeBalance, type CreditSums } from "./ledger.ts";
import { FREE_REPEATS_MAX } from "./limits.ts";
import { DAY_MS } from "./time.ts";

/** A payment that an idempotency key made at or before `now - PAYMENT_TTL_MS` has expired. */
export const PAYMENT_TTL_MS: number = DAY_MS;

/** A client's idempotency key. By default, 10 repeats of the request that paid with it are free. */
export interface IdempotencyKey {
  /** The text that the client sent. */
  readonly value: string;
  /** The identity of the request: a hash of the path, the query and the body. */
  readonly fingerprint: string;
}

/** The charge of one request. */
export interface RequestCharge {
  /** Whole credits, 1 or more. */
  readonly cost: number;
  /** Without a key, a request with the same content is charged again. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** Whether it waited for the response to the paying request. Such a repeat is not counted. */
  readonly hasWaited?: boolean | undefined;
}

/** The payment of an idempotency key. */
export interface Payment {
  /** The fingerprint of the request that was paid for. */
  readonly fingerprint: string;
  /** The counted free repeats since the payment. */
  readonly repeats: number;
}

/**
 * A decision on a charge: `charged`; `repeated`, if its idempotency key has paid for it; `refused`,
 * if it costs more than the balance; `misused`, if its key has paid for another request.
 */
export type ChargeDecision = "charged" | "repeated" | "refused" | "misused";

/**
 * Decides one charge.
 *
 * @param balance Credits before the charge.
 * @param payment The unexpired payment of its idempotency key; `freeRepeatsMax` repeats use it up.
 * @throws {DomainError} `Invalid Request` for a cost that is no whole number from 1.
 *
 * @example
 * decideCharge(1, { cost: 1 }); // "charged"
 * decideCharge(0, { cost: 1 }); // "refused"
 *
 * const charge = { cost: 1, idempotencyKey: { value: "k", fingerprint: "a URL" } };
 * decideCharge(1, charge, { fingerprint: "a URL", repeats: 9 }); // "repeated"
 * decideCharge(1, charge, { fingerprint: "a URL", repeats: 10 }); // "charged"
 */
export function decideCharge(
  balance: number,
  { cost, idempotencyKey, hasWaited = false }: RequestCharge,
  payment?: Payment,
  freeRepeatsMax: number = FREE_REPEATS_MAX,
): ChargeDecision {
  assertCreditAmount(cost);
  if (payment !== undefined && idempotencyKey !== undefined) {
    if (payment.fingerprint !== idempotencyKey.fingerprint) return "misused";
    if (hasWaited || payment.repeats < freeRepeatsMax) return "repeated";
  }
  return balance >= cost ? "charged" : "refused"; // NaN pays for nothing
}

/**
 * Decides charges of an account, in order. A refused charge leaves the balance to the next charge.
 *
 * @param sums The sums of the account before the charges.
 * @param payments The valid payments of idempotency keys, by the value of the key.
 * @param freeRepeatsMax The free repeats of a payment, apart from requests that waited for it.
 * @returns The decisions, each with the balance after it; the sums and payments after all charges.
 * @throws {DomainError} `Invalid Request` for a cost that is no whole number from 1, or debits over
 * 2^53 - 1.
 * @throws {RangeError} Unless the sums and their balance are whole numbers from 0.
 *
 * @example
 * const sums = { granted: 5, debited: 0, refunded: 0 };
 * const { decided } = decideCharges(sums, [{ cost: 4 }, { cost: 2 }, { cost: 1 }]);
 * decided.map(({ decision }) => decision); // ["charged", "refused", "charged"]
 */
export function decideCharges(
  sums: CreditSums,
  charges: readonly RequestCharge[],
  payments: ReadonlyMap<string, Payment> = new Map(),
  freeRepeatsMax: number = FREE_REPEATS_MAX,
): {
  decided: { readonly decision: ChargeDecision; readonly balance: number }[];
  sums: CreditSums;
  payments: Map<string, Payment>;
} {
  const { granted, refunded } = sums;
  let { debited } = sums;
  let balance = computeBalance(sums);
  for (const [name, sum] of Object.entries({ granted, debited, refunded, balance })) {
    assertWholeNumber(name, sum, 0);
  }
  const paid = new Map(payments);
  const decided = charges.map((charge) => {
    const { cost, idempotencyKey: key, hasWaited = false } = charge;
    const payment = key && paid.get(key.value);
    const decision = decideCharge(balance, charge, payment, freeRepeatsMax);
    if (decision === "charged") {
      assertSum("debited", debited, cost);
      balance -= cost;
      debited += cost;
      if (key !== undefined) paid.set(key.value, { fingerprint: key.fingerprint, repeats: 0 });
    }
    if (decision === "repeated" && !hasWaited && key && payment) {
      paid.set(key.value, { ...payment, repeats: payment.repeats + 1 });
    }
    return { decision, balance };
  });
  return { decided, sums: { ...sums, debited }, payments: paid };
}
