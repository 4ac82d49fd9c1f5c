/**
 * The credit ledger: grants, debits and refunds of an account. A ledger is a value; each operation
 * returns the next one. The balance is grants - debits + refunds and never negative.
 *
 * The store restates these rules in SQL; `tests/store/accounts/ledger.test.ts` and
 * `tests/store/accounts/debits.test.ts` compare both.
 */
import { DomainError, createInvalidRequestError } from "./errors.ts";
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
  /** The last debit of each identifier. */
  readonly debits: ReadonlyMap<string, { readonly amount: number; readonly refunded: boolean }>;
}

/** The ledger of a new account. Nobody can change it: its maps are new ones each time. */
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
 * @returns The next ledger. It is the same one for a repeated operation: a reference is granted
 * once, an identifier debited once, a debit refunded once. After a refund, the identifier can be
 * debited again, of any amount: what it paid for was given back.
 * @throws {DomainError} `Insufficient Credits` for a debit over the balance; `Conflict` for a known
 * reference, or an identifier that is debited, with another amount; `Invalid Request` for an amount that is no whole
 * number from 1, for sums over 2^53 - 1, and for a refund of an unknown debit.
 *
 * @example
 * const granted = applyEntry(EMPTY_LEDGER, { kind: "grant", amount: 10 });
 * computeBalance(applyEntry(granted, { kind: "debit", id: "a", amount: 1 })); // 9
 */
export function applyEntry(ledger: Ledger, entry: LedgerEntry): Ledger {
  return replay([entry], ledger);
}

/**
 * Applies operations to a ledger, in their order. It takes time in proportion to their number, where
 * {@link applyEntry} copies the ledger for each.
 *
 * @param ledger The ledger before them.
 * @returns The ledger after them; the same one if nothing changed.
 * @throws {DomainError} Like {@link applyEntry}, for the first operation that is refused.
 *
 * @example
 * const ledger = replay([{ kind: "grant", amount: 10 }, { kind: "debit", id: "a", amount: 1 }]);
 * computeBalance(ledger); // 9
 */
export function replay(entries: Iterable<LedgerEntry>, ledger: Ledger = EMPTY_LEDGER): Ledger {
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
interface LedgerDraft {
  granted: number;
  debited: number;
  refunded: number;
  references: Map<string, number>;
  debits: Map<string, { readonly amount: number; readonly refunded: boolean }>;
}

/** @returns Whether anything changed. */
function applyToDraft(draft: LedgerDraft, entry: LedgerEntry): boolean {
  switch (entry.kind) {
    case "grant":
      return grant(draft, entry.amount, entry.reference);
    case "debit":
      return debit(draft, entry.id, entry.amount);
    case "refund":
      return refund(draft, entry.debit);
  }
}

function grant(ledger: LedgerDraft, amount: number, reference: string | undefined): boolean {
  assertCreditAmount(amount);
  // Stryker disable next-line ConditionalExpression: nothing is granted under no reference.
  if (reference !== undefined) {
    const previous = ledger.references.get(reference);
    if (previous === amount) return false;
    if (previous !== undefined) throw createReferenceConflictError(reference, previous, amount);
  }
  if (ledger.granted + amount > INTEGER_MAX) {
    throw createSumTooLargeError("granted", ledger.granted, amount);
  }
  if (reference !== undefined) ledger.references.set(reference, amount);
  ledger.granted += amount;
  return true;
}

function debit(ledger: LedgerDraft, id: string, amount: number): boolean {
  assertCreditAmount(amount);
  const existing = ledger.debits.get(id);
  if (existing?.refunded === false) {
    if (existing.amount === amount) return false;
    throw new DomainError("Conflict", `Debit ${id} was of ${existing.amount}, got ${amount}`);
  }
  const balance = computeBalance(ledger);
  if (balance < amount) throw new InsufficientCreditsError(balance, amount);
  // Refunded credits are debited again, so debits can exceed grants and reach the limit.
  if (ledger.debited + amount > INTEGER_MAX) {
    throw createSumTooLargeError("debited", ledger.debited, amount);
  }
  ledger.debits.set(id, { amount, refunded: false });
  ledger.debited += amount;
  return true;
}

function refund(ledger: LedgerDraft, id: string): boolean {
  const existing = ledger.debits.get(id);
  if (existing === undefined) throw createInvalidRequestError(`There is no debit ${id}`);
  if (existing.refunded) return false;
  ledger.debits.set(id, { ...existing, refunded: true });
  ledger.refunded += existing.amount;
  return true;
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

/**
 * The error for a debit over the balance. Amounts are credits.
 *
 * @example
 * new InsufficientCreditsError(0, 1).message; // "This request costs 1 credit, the balance is 0"
 */
export class InsufficientCreditsError extends DomainError {
  /** Credits that the account has. */
  readonly balance: number;

  /** Creates the error of a request with a cost. */
  constructor(balance: number, cost: number) {
    const price = `${cost} ${cost === 1 ? "credit" : "credits"}`;
    super("Insufficient Credits", `This request costs ${price}, the balance is ${balance}`);
    this.balance = balance;
  }
}

/**
 * The error for a reference that granted another amount before.
 *
 * @param before Credits that it granted.
 * @param amount Credits that it should grant.
 *
 * @example
 * createReferenceConflictError("invoice 7", 5, 6).code; // "Conflict"
 */
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

/**
 * The error for an amount that would take the sum of grants or debits over 2^53 - 1.
 *
 * @param sum Credits before it.
 * @param amount In credits.
 *
 * @example
 * createSumTooLargeError("granted", INTEGER_MAX, 1).code; // "Invalid Request"
 */
export function createSumTooLargeError(
  what: "granted" | "debited",
  sum: number,
  amount: number,
): DomainError {
  return createInvalidRequestError(
    `An account is ${what} ${INTEGER_MAX} credits at most in all: ${sum} so far, got ${amount}`,
  );
}
