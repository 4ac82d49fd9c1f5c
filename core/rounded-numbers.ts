/** Finds numbers of a JSON text whose fraction `JSON.parse()` drops, so that input is rejected. */

/** Smaller numbers keep three digits of a fraction. Hardly any count is larger: few are checked. */
export const ROUNDED_NUMBER_MIN: number = 2 ** 40;

/** Lists the numbers that `JSON.parse()` rounds: 9007199254740991.4 to 9007199254740991. */
export function listRoundedNumbers(json: string): string[] {
  // Stryker disable next-line ConditionalExpression: without the condition it is only slower.
  if (!/\d[.eE]/.test(json)) return [];
  const numbers = removeTexts(json).match(/\d[\d.eE+-]*/g) ?? [];
  return numbers.filter((text) => {
    const number = Number(text);
    return Number.isInteger(number) && number >= ROUNDED_NUMBER_MIN && !isWhole(text);
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Removes the strings of a JSON text. A regular expression would be slow for many escapes. */
function removeTexts(json: string): string {
  let rest = "";
  let end = 0;
  for (;;) {
    const start = json.indexOf('"', end);
    if (start === -1) return rest + json.slice(end);
    rest += json.slice(end, start);
    for (end = start + 1; end < json.length && json.charCodeAt(end) !== QUOTE; end++) {
      if (json.charCodeAt(end) === BACKSLASH) end++;
    }
    end++;
  }
}

const ZERO = 0x30;

/** Whether a number is whole as it is written: `1.5e1` and `1.0` are. */
function isWhole(number: string): boolean {
  const [mantissa = "", exponent = ""] = number.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  return Number(exponent) + digits.length - end >= fraction.length;
}
