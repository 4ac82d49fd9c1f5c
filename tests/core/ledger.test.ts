import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  applyEntries,
  applyEntry,
  computeBalance,
  assertCreditAmount,
  EMPTY_LEDGER,
  type Ledger,
  type LedgerEntry,
} from "../../core/ledger.ts";
import { INTEGER_MAX } from "../../core/limits.ts";
import { TRICKY_IDENTIFIERS } from "../support/arbitraries/values.ts";
import { catchDomainError } from "../support/domain-error.ts";

function applyAll(...entries: LedgerEntry[]): Ledger {
  return entries.reduce(applyEntry, EMPTY_LEDGER);
}

const grant = (amount: number, reference?: string): LedgerEntry =>
  reference === undefined ? { kind: "grant", amount } : { kind: "grant", amount, reference };
const debit = (id: string, amount = 1): LedgerEntry => ({ kind: "debit", id, amount });
const refund = (id: string): LedgerEntry => ({ kind: "refund", debit: id });

describe("assertCreditAmount()", () => {
  test.each([0, -1, 1.5, NaN, Infinity, INTEGER_MAX + 1, -0])("rejects %d", (amount) => {
    expect(catchDomainError(() => assertCreditAmount(amount))).toEqual({
      code: "Invalid Request",
      message: `An amount must be a whole number from 1 to 9007199254740991, got ${amount}`,
    });
  });

  test("accepts 1 and 2^53 - 1, the two ends", () => {
    expect(catchDomainError(() => assertCreditAmount(1))).toBeUndefined();
    expect(catchDomainError(() => assertCreditAmount(INTEGER_MAX))).toBeUndefined();
  });
});

describe("applyEntry()", () => {
  test("grants, debits and refunds", () => {
    const ledger = applyAll(grant(10), debit("a", 3), debit("b", 2), refund("a"));
    expect(ledger).toMatchObject({ granted: 10, debited: 5, refunded: 3 });
    expect(computeBalance(ledger)).toBe(8);
  });

  test("spends the last credit and rejects the next debit", () => {
    const spent = applyAll(grant(1), debit("a"));
    expect(computeBalance(spent)).toBe(0);
    expect(catchDomainError(() => applyEntry(spent, debit("b")))).toEqual({
      code: "Insufficient Credits",
      message: "This request costs 1 credit, the balance is 0",
    });
    expect(catchDomainError(() => applyAll(grant(1), debit("a", 2)))?.message).toBe(
      "This request costs 2 credits, the balance is 1",
    );
  });

  test("debits an identifier once, even after the balance is spent", () => {
    const ledger = applyAll(grant(1), debit("a"));
    expect(applyEntry(ledger, debit("a"))).toBe(ledger);
  });

  test("debits an identifier once, also after its refund, and refunds it once", () => {
    const refunded = applyAll(grant(5), debit("a"), refund("a"));
    expect(applyEntry(refunded, debit("a"))).toBe(refunded);
    expect(applyEntry(refunded, refund("a"))).toBe(refunded);
    expect(catchDomainError(() => applyEntry(refunded, debit("a", 2)))?.code).toBe("Conflict");
    const again = applyEntry(refunded, debit("a again"));
    expect(applyEntry(again, refund("a"))).toBe(again);
    expect(again).toMatchObject({ granted: 5, debited: 2, refunded: 1 });
  });

  test("rejects a known debit with another amount", () => {
    expect(catchDomainError(() => applyAll(grant(5), debit("a", 1), debit("a", 2)))).toEqual({
      code: "Conflict",
      message: "Debit a was of 1, got 2",
    });
  });

  test("refunds a debit once", () => {
    const ledger = applyAll(grant(5), debit("a", 4), refund("a"));
    expect(applyEntry(ledger, refund("a"))).toBe(ledger);
    expect(computeBalance(ledger)).toBe(5);
  });

  test("rejects the refund of an unknown debit", () => {
    expect(catchDomainError(() => applyAll(grant(5), refund("a")))).toEqual({
      code: "Invalid Request",
      message: "There is no debit a",
    });
  });

  test("grants a reference once and rejects it with another amount", () => {
    const ledger = applyAll(grant(5, "order-1"));
    expect(applyEntry(ledger, grant(5, "order-1"))).toBe(ledger);
    expect(catchDomainError(() => applyEntry(ledger, grant(6, "order-1")))).toEqual({
      code: "Conflict",
      message: "Reference order-1 granted 5 before, it cannot grant 6",
    });
  });

  test("grants the same amount twice without a reference", () => {
    expect(computeBalance(applyAll(grant(5), grant(5)))).toBe(10);
  });

  test.each(TRICKY_IDENTIFIERS)("accepts %j as debit and as reference", (id) => {
    const ledger = applyAll(grant(5, id), grant(5, id), debit(id, 2), debit(id, 2), refund(id));
    expect(ledger).toMatchObject({ granted: 5, debited: 2, refunded: 2 });
  });

  test("rejects grants over 2^53 - 1 in all", () => {
    expect(catchDomainError(() => applyAll(grant(INTEGER_MAX), grant(1)))).toEqual({
      code: "Invalid Request",
      message:
        "An account is granted 9007199254740991 credits at most in all: " +
        "9007199254740991 so far, got 1",
    });
  });

  test("rejects debits over 2^53 - 1 in all", () => {
    const ledger = applyAll(grant(INTEGER_MAX), debit("a", INTEGER_MAX), refund("a"));
    expect(computeBalance(ledger)).toBe(INTEGER_MAX);
    expect(catchDomainError(() => applyEntry(ledger, debit("b")))).toEqual({
      code: "Invalid Request",
      message:
        "An account is debited 9007199254740991 credits at most in all: " +
        "9007199254740991 so far, got 1",
    });
  });

  test("does not change its argument", () => {
    const before = applyAll(grant(5, "r"), debit("a"));
    const copy = structuredClone(before);
    applyEntry(before, grant(5, "s"));
    applyEntry(before, debit("b"));
    applyEntry(before, refund("a"));
    expect(before).toEqual(copy);
    expect(EMPTY_LEDGER).toEqual(applyAll());
    expect(EMPTY_LEDGER.debits.size + EMPTY_LEDGER.references.size).toBe(0);
  });
});

const amounts = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -1, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: INTEGER_MAX - 6, max: INTEGER_MAX + 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(0.5, NaN, 2 ** 52) },
);
const names = fc.constantFrom("a", "b", "c", "d", "__proto__");
const entries: fc.Arbitrary<LedgerEntry> = fc.oneof(
  fc
    .tuple(amounts, fc.option(names, { nil: undefined }))
    .map(([amount, name]) => grant(amount, name)),
  fc.tuple(names, amounts).map(([name, amount]) => debit(name, amount)),
  names.map(refund),
);
const sequences = fc.array(entries, { maxLength: 60 });

/** The sums of a journal, as exact BigInt. */
function sumEntries(applied: readonly LedgerEntry[]): bigint {
  const amountOf = new Map<string, number>();
  return applied.reduce((sum, entry) => {
    if (entry.kind === "grant") return sum + BigInt(entry.amount);
    if (entry.kind === "refund") return sum + BigInt(amountOf.get(entry.debit) ?? 0);
    amountOf.set(entry.id, entry.amount);
    return sum - BigInt(entry.amount);
  }, 0n);
}

function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** Applies the valid entries; `applied` are those that changed the ledger. */
function applyAccepted(sequence: readonly LedgerEntry[]) {
  const applied: LedgerEntry[] = [];
  let ledger = EMPTY_LEDGER;
  for (const entry of sequence) {
    const before = ledger;
    const error = catchDomainError(() => (ledger = applyEntry(before, entry)));
    if (error === undefined && ledger !== before) applied.push(entry);
  }
  return { ledger, applied };
}

describe("applyEntry()", () => {
  test("keeps grants - debits + refunds = balance >= 0 in any sequence", () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        for (let length = 0; length <= sequence.length; length++) {
          const { ledger, applied } = applyAccepted(sequence.slice(0, length));
          expect(BigInt(computeBalance(ledger))).toBe(sumEntries(applied));
          expect(computeBalance(ledger)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("keeps sums equal to its references and debits", () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        const { ledger, applied } = applyAccepted(sequence);
        const debits = applied.filter((entry) => entry.kind === "debit");
        expect(ledger.debited).toBe(sumNumbers(debits.map(({ amount }) => amount)));
        const unrefunded = [...ledger.debits.values()].filter(({ isRefunded }) => !isRefunded);
        expect(ledger.debited - ledger.refunded).toBe(
          sumNumbers(unrefunded.map(({ amount }) => amount)),
        );
        for (const { id, amount } of debits) expect(ledger.debits.get(id)?.amount).toBe(amount);
        const grants = applied.filter((entry) => entry.kind === "grant");
        expect(ledger.references).toEqual(
          new Map(
            grants.flatMap(({ reference, amount }) => {
              return reference === undefined ? [] : [[reference, amount]];
            }),
          ),
        );
      }),
    );
  });

  test("changes nothing when entries with an identifier are repeated", () => {
    fc.assert(
      fc.property(sequences, (sequence) => {
        const { ledger, applied } = applyAccepted(sequence);
        for (const entry of applied) {
          if (entry.kind === "grant" && entry.reference === undefined) continue;
          expect(applyEntry(ledger, entry)).toBe(ledger);
        }
      }),
    );
  });
});

describe("applyEntries()", () => {
  test("gives what applyEntry() gives step by step, and does not change its argument", () => {
    fc.assert(
      fc.property(sequences, sequences, (before, sequence) => {
        const { ledger, applied } = applyAccepted(before);
        const copy = structuredClone(ledger);
        expect(applyEntries(EMPTY_LEDGER, applied)).toEqual(ledger);
        const error = catchDomainError(() => applyEntries(ledger, sequence));
        const stepByStep = () => sequence.reduce(applyEntry, ledger);
        expect(error).toEqual(catchDomainError(stepByStep));
        if (error === undefined) expect(applyEntries(ledger, sequence)).toEqual(stepByStep());
        expect(ledger).toEqual(copy);
      }),
    );
  });

  test("is not affected by who tries to change EMPTY_LEDGER", () => {
    expect(() => Object.assign(EMPTY_LEDGER, { granted: 100 })).toThrow(TypeError);
    expect(() => Object.assign(EMPTY_LEDGER, { debits: new Map() })).toThrow(TypeError);
    for (const map of [EMPTY_LEDGER.references, EMPTY_LEDGER.debits]) {
      if (map instanceof Map) map.set("a", 100);
    }
    const { references, debits, ...sums } = applyEntries(EMPTY_LEDGER, [grant(5, "r"), debit("a")]);
    expect([...references, ...debits]).toEqual([
      ["r", 5],
      ["a", { amount: 1, isRefunded: false }],
    ]);
    expect(sums).toEqual({ granted: 5, debited: 1, refunded: 0 });
    expect(EMPTY_LEDGER.debits.size + EMPTY_LEDGER.references.size).toBe(0);
  });

  test("returns the same ledger if nothing changes", () => {
    const ledger = applyAll(grant(5, "r"), debit("a"), debit("b"), refund("b"));
    expect(applyEntries(ledger, [grant(5, "r"), debit("a"), refund("b")])).toBe(ledger);
    expect(applyEntries(EMPTY_LEDGER, [])).toBe(EMPTY_LEDGER);
  });

  test("applies 100,000 operations", () => {
    const debits = Array.from({ length: 99_999 }, (_, index) => debit(`d${index}`));
    const ledger = applyEntries(EMPTY_LEDGER, [grant(99_999), ...debits]);
    expect([computeBalance(ledger), ledger.debits.size]).toEqual([0, 99_999]);
  });
});
