import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { listRoundedNumbers } from "../../core/rounded-numbers.ts";

describe("listRoundedNumbers()", () => {
  test.each([
    ["9007199254740991.4"],
    ["9007199254740990.9999999999"],
    ["4503599627370496.1"],
    ["1099511627776.00001"],
    ["90071992547409914e-1"],
    ["9.0071992547409914E15"],
    ["9007199254740991.0000000000000001e0"],
    ["1000000000000.0000001e+1"],
  ])("lists %s, which is read as a whole number", (number) => {
    expect(Number.isInteger(Number(number))).toBe(true);
    for (const json of [number, `[${number}]`, `{"a\\"1.5":"1.5","b":-${number},"c":2}`]) {
      expect(listRoundedNumbers(json)).toEqual([number]);
      expect(JSON.parse(json)).toBeDefined();
    }
  });

  test.each([
    ["9007199254740991"],
    ["9007199254740991.0"],
    ["9007199254740991.000000000000000000000000"],
    ["1e15"],
    ["1.5e15"],
    ["1.50e+15"],
    ["9007199254740991000e-3"],
    ["9007199254740991.40e1"],
    ["1099511627776.5"],
    ["12.25"],
    ['"9007199254740991.4"'],
    ['{"9007199254740991.4":"\\\\","a":"\\"9007199254740991.4"}'],
  ])("does not list %s", (json) => {
    expect(listRoundedNumbers(json)).toEqual([]);
    expect(JSON.parse(json)).toBeDefined();
  });

  test("lists exactly the fractions that are read as whole numbers", () => {
    const scaled = fc.record({
      digits: fc.bigInt({ min: 10n ** 15n, max: 10n ** 20n }),
      exponent: fc.integer({ min: -8, max: 3 }),
      text: fc.string(),
    });
    fc.assert(
      fc.property(scaled, ({ digits, exponent, text }) => {
        const written = `${digits}e${exponent}`;
        const isFraction = exponent < 0 && digits % 10n ** BigInt(-exponent) !== 0n;
        const number = Number(written);
        const isRounded = isFraction && Number.isInteger(number) && number >= 2 ** 40;
        const json = JSON.stringify({ [text]: text, n: 0 }).replace(/0\}$/, `${written}}`);
        expect(listRoundedNumbers(json)).toEqual(isRounded ? [written] : []);
      }),
    );
  });

  test("takes no longer for texts with many escapes or zeros", () => {
    const zeros = "0".repeat(500_000);
    const json = JSON.stringify({ text: '\\"\n'.repeat(200_000), number: 0 });
    const startedAt = performance.now();
    expect(listRoundedNumbers(json.replace(/0\}$/, `9007199254740.${zeros}1${zeros}e3}`))).toEqual([
      `9007199254740.${zeros}1${zeros}e3`,
    ]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});
