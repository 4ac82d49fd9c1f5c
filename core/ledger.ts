/**
 * The credit ledger: what an account was granted, what it was debited, what was refunded.
 *
 * A ledger is a value and an operation gives the next one. After every operation grants - debits +
 * refunds = balance, and the balance is never negative. The store restates these rules in SQL, and
 * `tests/store/accounts/ledger.test.ts` compares its results with these functions. The command
 * `credits verify` does not call them: it recomputes the sums of a database from its own journal.
 */
import { DomainError } from "./errors.ts";
import { MAX_INTEGER } from "./limits.ts";

/** The sums of an account, in credits. */
export interface CreditSums {
  readonly granted: number;
  readonly debited: number;
  readonly refunded: number;
}

/** One operation, as the journal keeps it. Amounts are whole numbers of credits, 1 or more. */
export type LedgerEntry =
  | { readonly kind: "grant"; readonly amount: number; readonly reference?: string }
  | { readonly kind: "debit"; readonly id: string; readonly amount: number }
  | { readonly kind: "refund"; readonly debit: string };

/** An account's ledger. */
export interface Ledger extends CreditSums {
  /** The amount that each reference granted. */
  readonly references: ReadonlyMap<string, number>;
  /** The debits by their identifier, and whether each was given back. */
  readonly debits: ReadonlyMap<string, { readonly amount: number; readonly refunded: boolean }>;
}

/** The ledger of a new account. */
export const EMPTY_LEDGER: Ledger = {
  granted: 0,
  debited: 0,
  refunded: 0,
  references: new Map(),
  debits: new Map(),
};

/**
 * The credits that an account can spend.
 *
 * @example
 * readBalance({ granted: 10, debited: 3, refunded: 1 }); // 8
 */
export function computeBalance(sums: CreditSums): number {
  return sums.granted - sums.debited + sums.refunded;
}

/**
 * Applies one operation to a ledger.
 *
 * @returns The next ledger; the same one where the operation was applied before: a reference
 * grants once, a debit's identifier debits once, and a debit is refunded once.
 * @throws {DomainError} `Insufficient Credits` for a debit over the balance; `Conflict` for a
 * reference or a debit that was used with another amount; `Invalid Request` for an amount that is
 * no whole number from 1, grants or debits past 2^53 - 1 in all, or a refund of a debit that is not
 * there.
 *
 * @example
 * const granted = applyEntry(EMPTY_LEDGER, { kind: "grant", amount: 10 });
 * readBalance(applyEntry(granted, { kind: "debit", id: "a", amount: 1 })); // 9
 */
export function applyEntry(ledger: Ledger, entry: LedgerEntry): Ledger {
  switch (entry.kind) {
    case "grant":
      return grant(ledger, entry.amount, entry.reference);
    case "debit":
      return debit(ledger, entry.id, entry.amount);
    case "refund":
      return refund(ledger, entry.debit);
  }
}

function grant(ledger: Ledger, amount: number, reference: string | undefined): Ledger {
  assertCreditAmount(amount);
  if (reference !== undefined) {
    const previousAmount = ledger.references.get(reference);
    if (previousAmount === amount) return ledger;
    if (previousAmount !== undefined)
      throw referenceConflictError(reference, previousAmount, amount);
  }
  if (ledger.granted + amount > MAX_INTEGER) throw grantTooLargeError(ledger.granted, amount);
  const references =
    reference === undefined ? ledger.references : new Map(ledger.references).set(reference, amount);
  return { ...ledger, granted: ledger.granted + amount, references };
}

function debit(ledger: Ledger, id: string, amount: number): Ledger {
  assertCreditAmount(amount);
  const existing = ledger.debits.get(id);
  if (existing?.amount === amount) return ledger;
  if (existing !== undefined) {
    throw new DomainError("Conflict", `Debit ${id} was of ${existing.amount}, got ${amount}`);
  }
  const balance = computeBalance(ledger);
  if (balance < amount) throw new InsufficientCreditsError(balance, amount);
  // Refunds let the debits of an account grow past its grants, and past what adds up exactly.
  if (ledger.debited + amount > MAX_INTEGER) throw debitTooLargeError(ledger.debited, amount);
  const debits = new Map(ledger.debits).set(id, { amount, refunded: false });
  return { ...ledger, debited: ledger.debited + amount, debits };
}

function refund(ledger: Ledger, id: string): Ledger {
  const existing = ledger.debits.get(id);
  if (existing === undefined) throw new DomainError("Invalid Request", `There is no debit ${id}`);
  if (existing.refunded) return ledger;
  const debits = new Map(ledger.debits).set(id, { ...existing, refunded: true });
  return { ...ledger, refunded: ledger.refunded + existing.amount, debits };
}

/**
 * Checks an amount of credits.
 *
 * @throws {DomainError} `Invalid Request` when it is no whole number from 1 to 2^53 - 1.
 */
export function assertCreditAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 1) {
    throw new DomainError(
      "Invalid Request",
      `An amount must be a whole number from 1 to ${MAX_INTEGER}, got ${amount}`,
    );
  }
}

/** The error of a debit over the balance. */
export class InsufficientCreditsError extends DomainError {
  /** In credits. */
  readonly balance: number;

  /**
   * @param balance What the account has, in credits.
   * @param cost What the request costs, in credits.
   */
  constructor(balance: number, cost: number) {
    const price = `${cost} ${cost === 1 ? "credit" : "credits"}`;
    super("Insufficient Credits", `This request costs ${price}, the balance is ${balance}`);
    this.balance = balance;
  }
}

/** The error of a reference that granted another amount before. */
export function referenceConflictError(
  reference: string,
  before: number,
  amount: number,
): DomainError {
  return new DomainError(
    "Conflict",
    `Reference ${reference} granted ${before} before, it cannot grant ${amount}`,
  );
}

function debitTooLargeError(debited: number, amount: number): DomainError {
  return new DomainError(
    "Invalid Request",
    `An account is debited ${MAX_INTEGER} credits at most in all: ${debited} so far, got ${amount}`,
  );
}

/** The error of a grant that no account can hold. */
export function grantTooLargeError(granted: number, amount: number): DomainError {
  return new DomainError(
    "Invalid Request",
    `An account is granted ${MAX_INTEGER} credits at most in all: ${granted} so far, got ${amount}`,
  );
}
