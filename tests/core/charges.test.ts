import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  decideCharge,
  decideCharges,
  PAYMENT_TTL_MS,
  type ChargeDecision,
  type RequestCharge,
} from "../../core/charges.ts";
import { FREE_REPEATS_MAX } from "../../core/limits.ts";
import { applyEntry, computeBalance, EMPTY_LEDGER, type Ledger } from "../../core/ledger.ts";
import { DomainError } from "../../core/errors.ts";

const key = (value: string, fingerprint = "a URL") => ({ value, fingerprint });
const paid = (fingerprint: string, repeats = 0) => ({ fingerprint, repeats });
const sums = (granted: number) => ({ granted, debited: 0, refunded: 0 });
const decisions = (balance: number, charges: readonly RequestCharge[]) =>
  decideCharges(sums(balance), charges).decided.map(({ decision }) => decision);

describe("decideCharge()", () => {
  test("charges up to the balance, and refuses what costs more", () => {
    expect(decideCharge(2, { cost: 2 })).toBe("charged");
    expect(decideCharge(1, { cost: 2 })).toBe("refused");
  });

  test("takes nothing for a request that its idempotency key has paid for, at any balance", () => {
    const charge = { cost: 2, idempotencyKey: key("one") };
    expect(decideCharge(0, charge, paid("a URL"))).toBe("repeated");
    expect(decideCharge(9, charge, paid("another URL"))).toBe("misused");
    expect(decideCharge(2, charge)).toBe("charged");
  });

  test("ignores a payment of a request without an idempotency key", () => {
    expect(decideCharge(2, { cost: 2 }, paid("a URL"))).toBe("charged");
  });

  test.each([Number.NaN, -1])("refuses a charge on a balance of %d", (balance) => {
    expect(decideCharge(balance, { cost: 1 })).toBe("refused");
  });

  test.each([0, -3, 0.5, Number.NaN, 2 ** 53])("rejects the cost %d, paid or not", (cost) => {
    const charge = { cost, idempotencyKey: key("one") };
    expect(() => decideCharge(5, charge)).toThrow(DomainError);
    expect(() => decideCharge(5, charge, paid("a URL"))).toThrow(DomainError);
  });
});

describe("decideCharges()", () => {
  test("leaves the balance to those behind a charge that costs too much", () => {
    expect(decisions(5, [{ cost: 4 }, { cost: 2 }, { cost: 1 }])).toEqual([
      "charged",
      "refused",
      "charged",
    ]);
  });

  test("returns the balance after each charge, and the sums after all", () => {
    const before = { granted: 10, debited: 4, refunded: 1 };
    const { decided, sums: after } = decideCharges(before, [{ cost: 3 }, { cost: 9 }, { cost: 1 }]);
    expect(decided.map(({ balance }) => balance)).toEqual([4, 4, 3]);
    expect(after).toEqual({ granted: 10, debited: 8, refunded: 1 });
    expect(computeBalance(after)).toBe(3);
  });

  test("charges two requests with one idempotency key once", () => {
    const charges = [key("one"), key("one"), key("one", "another URL"), key("two")];
    expect(
      decisions(
        9,
        charges.map((idempotencyKey) => ({ cost: 1, idempotencyKey })),
      ),
    ).toEqual(["charged", "repeated", "misused", "charged"]);
  });

  test("a refused request does not use its idempotency key", () => {
    const idempotencyKey = key("one");
    expect(
      decisions(1, [
        { cost: 2, idempotencyKey },
        { cost: 1, idempotencyKey },
      ]),
    ).toEqual(["refused", "charged"]);
  });

  test("does not change the payments that it is given", () => {
    const payments = new Map([["one", paid("a URL")]]);
    const charges = [
      { cost: 1, idempotencyKey: key("one") },
      { cost: 1, idempotencyKey: key("two") },
    ];
    const { decided, payments: after } = decideCharges(sums(9), charges, payments);
    expect(decided.map(({ decision }) => decision)).toEqual(["repeated", "charged"]);
    expect(Array.from(payments)).toEqual([["one", paid("a URL")]]);
    expect(Array.from(after)).toEqual([
      ["one", paid("a URL", 1)],
      ["two", paid("a URL")],
    ]);
  });

  test("charges the request after 10 repeats, and begins anew", () => {
    const charges = Array.from({ length: 23 }, () => ({ cost: 1, idempotencyKey: key("one") }));
    const repeats = Array.from({ length: FREE_REPEATS_MAX }, (): ChargeDecision => "repeated");
    expect(decisions(9, charges)).toEqual([
      "charged",
      ...repeats,
      "charged",
      ...repeats,
      "charged",
    ]);
    expect(decisions(1, charges.slice(0, 12))).toEqual(["charged", ...repeats, "refused"]);
  });

  test("charges the request after as many repeats as it is told", () => {
    const charges = Array.from({ length: 4 }, () => ({ cost: 1, idempotencyKey: key("one") }));
    const { decided } = decideCharges(sums(9), charges, new Map(), 1);
    const expected = ["charged", "repeated", "charged", "repeated"];
    expect<string[]>(decided.map(({ decision }) => decision)).toEqual(expected);
  });

  test("takes nothing for requests that waited for the one that paid, and does not count them", () => {
    const payments = new Map([["one", paid("a URL", FREE_REPEATS_MAX - 1)]]);
    const waited = { cost: 1, idempotencyKey: key("one"), hasWaited: true };
    const counted = { ...waited, hasWaited: false };
    const { decided } = decideCharges(sums(9), [waited, counted, waited, counted], payments);
    expect(decided.map(({ decision }) => decision)).toEqual([
      "repeated",
      "repeated",
      "repeated",
      "charged",
    ]);
  });

  test("rejects another request with a key whose repeats are used up", () => {
    const payments = new Map([["one", paid("another URL", FREE_REPEATS_MAX)]]);
    const charges = [{ cost: 1, idempotencyKey: key("one") }];
    expect(decideCharges(sums(9), charges, payments).decided[0]?.decision).toBe("misused");
  });

  test.each([0, -1, 0.5, Number.NaN, 2 ** 53])("rejects the cost %d", (cost) => {
    expect(() => decideCharges(sums(9), [{ cost }])).toThrow(DomainError);
  });

  test.each([
    [{ granted: Number.NaN }, "granted must be a whole number from 0, got NaN"],
    [{ debited: -1 }, "debited must be a whole number from 0, got -1"],
    [{ refunded: 0.5 }, "refunded must be a whole number from 0, got 0.5"],
    [{ debited: 10 }, "balance must be a whole number from 0, got -1"],
  ])("rejects the sums %j", (wrong, message) => {
    expect(() => decideCharges({ ...sums(9), ...wrong }, [])).toThrow(new RangeError(message));
  });

  test("rejects debits over 2^53 - 1 in all, as applyEntry() does", () => {
    const max = Number.MAX_SAFE_INTEGER;
    const before = { granted: max, debited: max - 1, refunded: max - 1 };
    expect(decideCharges(before, [{ cost: 1 }]).sums.debited).toBe(max);
    const debit = { kind: "debit", id: "a", amount: 2 } as const;
    for (const decide of [
      () => decideCharges(before, [{ cost: 1 }, { cost: 1 }]),
      () => applyEntry({ ...EMPTY_LEDGER, ...before }, debit),
    ]) {
      expect(decide).toThrow("An account is debited 9007199254740991 credits at most in all");
    }
  });

  test("decides like applyEntry(), one debit after another", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.array(fc.integer({ min: 1, max: 6 })), (granted, costs) => {
        let ledger: Ledger = { ...EMPTY_LEDGER, granted };
        const expected = costs.map((amount, index) => {
          try {
            ledger = applyEntry(ledger, { kind: "debit", id: `${index}`, amount });
            return { decision: "charged", balance: computeBalance(ledger) };
          } catch {
            return { decision: "refused", balance: computeBalance(ledger) };
          }
        });
        const charges = costs.map((cost) => ({ cost }));
        const { decided, sums: after } = decideCharges(sums(granted), charges);
        expect<unknown>(decided).toEqual(expected);
        expect(computeBalance(after)).toBe(computeBalance(ledger));
      }),
    );
  });
});

describe("PAYMENT_TTL_MS", () => {
  test("is one day", () => {
    expect(PAYMENT_TTL_MS).toBe(24 * 3_600_000);
  });
});
