/** Applies grants, debits and refunds to an immutable credit ledger with no negative balance. */
import {
  createInsufficientCreditsError,
  createInvalidRequestError,
  DomainError,
} from "./errors.ts";
import { INTEGER_MAX } from "./limits.ts";

/** The sums of an account, in credits. */
export interface CreditSums {
  /** Credits ever granted. */
  readonly granted: number;
  /** Credits ever debited. */
  readonly debited: number;
  /** Credits ever refunded. */
  readonly refunded: number;
}

/** One operation. Amounts are whole credits, 1 or more. */
export type LedgerEntry =
  | { readonly kind: "grant"; readonly amount: number; readonly reference?: string }
  | { readonly kind: "debit"; readonly id: string; readonly amount: number }
  /** `debit` is the identifier of the refunded debit. */
  | { readonly kind: "refund"; readonly debit: string };

/** The ledger of an account. */
export interface Ledger extends CreditSums {
  /** The granted amount, by reference. */
  readonly references: ReadonlyMap<string, number>;
  /** The debits, by identifier: credits, and whether they were given back. */
  readonly debits: ReadonlyMap<string, { readonly amount: number; readonly isRefunded: boolean }>;
}

/** The ledger of a new account. It cannot be changed: each read of a map gives a new map. */
export const EMPTY_LEDGER: Ledger = Object.freeze({
  granted: 0,
  debited: 0,
  refunded: 0,
  get references() {
    return new Map();
  },
  get debits() {
    return new Map();
  },
});

/**
 * The balance of an account, in credits.
 *
 * @example
 * computeBalance({ granted: 10, debited: 3, refunded: 1 }); // 8
 */
export function computeBalance(sums: CreditSums): number {
  return sums.granted - sums.debited + sums.refunded;
}

/**
 * Applies one operation to a ledger.
 *
 * @returns The next ledger; the same ledger for a repeated operation. A reference is granted once,
 * an identifier debited once, even after its refund, and a debit refunded once. If a request may
 * pay again, such as one with an idempotency key, each payment needs a new identifier.
 * @throws {DomainError} `Insufficient Credits` for a debit over the balance; `Conflict` for a known
 * reference or identifier with another amount; `Invalid Request` for an amount that is no whole
 * number from 1, for sums over 2^53 - 1, and for a refund of an unknown debit.
 *
 * @example
 * const granted = applyEntry(EMPTY_LEDGER, { kind: "grant", amount: 10 });
 * computeBalance(applyEntry(granted, { kind: "debit", id: "a", amount: 1 })); // 9
 */
export function applyEntry(ledger: Ledger, entry: LedgerEntry): Ledger {
  return applyEntries(ledger, [entry]);
}

/**
 * Applies operations in order to one copy of the ledger; {@link applyEntry} copies it each time.
 *
 * @returns The ledger after all operations; the same ledger if nothing changed.
 * @throws {DomainError} Like {@link applyEntry}, for the first operation that is refused.
 *
 * @example
 * const entries = [{ kind: "grant", amount: 10 }, { kind: "debit", id: "a", amount: 1 }];
 * computeBalance(applyEntries(EMPTY_LEDGER, entries)); // 9
 */
export function applyEntries(ledger: Ledger, entries: Iterable<LedgerEntry>): Ledger {
  const draft: LedgerDraft = {
    ...ledger,
    references: new Map(ledger.references),
    debits: new Map(ledger.debits),
  };
  let isChanged = false;
  for (const entry of entries) isChanged = applyToDraft(draft, entry) || isChanged;
  return isChanged ? draft : ledger;
}

/** A ledger while operations are applied to it. */
type LedgerDraft = { -readonly [Name in keyof CreditSums]: number } & {
  readonly references: Map<string, number>;
  readonly debits: Map<string, { readonly amount: number; readonly isRefunded: boolean }>;
};

/** Returns whether anything changed. */
function applyToDraft(draft: LedgerDraft, entry: LedgerEntry): boolean {
  if (entry.kind === "refund") return refund(draft, entry.debit);
  assertCreditAmount(entry.amount);
  return entry.kind === "grant"
    ? grant(draft, entry.amount, entry.reference)
    : debit(draft, entry.id, entry.amount);
}

function grant(ledger: LedgerDraft, amount: number, reference: string | undefined): boolean {
  // Stryker disable next-line ConditionalExpression: nothing is granted under no reference.
  if (reference !== undefined) {
    const previous = ledger.references.get(reference);
    if (previous === amount) return false;
    if (previous !== undefined) throw createReferenceConflictError(reference, previous, amount);
  }
  assertSum("granted", ledger.granted, amount);
  ledger.granted += amount;
  if (reference !== undefined) ledger.references.set(reference, amount);
  return true;
}

function debit(ledger: LedgerDraft, id: string, amount: number): boolean {
  const existing = ledger.debits.get(id);
  if (existing?.amount === amount) return false;
  if (existing !== undefined) {
    throw new DomainError("Conflict", `Debit ${id} was of ${existing.amount}, got ${amount}`);
  }
  const balance = computeBalance(ledger);
  if (balance < amount) throw createInsufficientCreditsError(balance, amount);
  assertSum("debited", ledger.debited, amount);
  ledger.debited += amount;
  ledger.debits.set(id, { amount, isRefunded: false });
  return true;
}

function refund(ledger: LedgerDraft, id: string): boolean {
  const existing = ledger.debits.get(id);
  if (existing === undefined) throw createInvalidRequestError(`There is no debit ${id}`);
  if (existing.isRefunded) return false;
  ledger.debits.set(id, { ...existing, isRefunded: true });
  ledger.refunded += existing.amount;
  return true;
}

/** Limits a sum to 2^53 - 1. Debits can reach it, too: refunded credits can be debited again. */
export function assertSum(name: "granted" | "debited", sum: number, amount: number): void {
  if (sum + amount > INTEGER_MAX) throw createSumTooLargeError(name, sum, amount);
}

/**
 * Checks an amount of credits.
 *
 * @param amount In credits.
 * @throws {DomainError} `Invalid Request` unless it is a whole number from 1 to 2^53 - 1.
 *
 * @example
 * assertCreditAmount(1); // undefined
 */
export function assertCreditAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 1) {
    throw createInvalidRequestError(
      `An amount must be a whole number from 1 to ${INTEGER_MAX}, got ${amount}`,
    );
  }
}

/** The error for a reference that granted another amount before. */
export function createReferenceConflictError(
  reference: string,
  before: number,
  amount: number,
): DomainError {
  return new DomainError(
    "Conflict",
    `Reference ${reference} granted ${before} before, it cannot grant ${amount}`,
  );
}

/** The error for an amount that would take the sum of grants or debits over 2^53 - 1. */
export function createSumTooLargeError(
  name: "granted" | "debited",
  sum: number,
  amount: number,
): DomainError {
  return createInvalidRequestError(
    `An account is ${name} ${INTEGER_MAX} credits at most in all: ${sum} so far, got ${amount}`,
  );
}
