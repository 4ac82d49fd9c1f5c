/** Initials of names in any script, and their hues. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { computeHue, createInitials } from "../../server/pages/initials.ts";

test.each([
  ["NASA", "N"],
  ["Marques Brownlee", "MB"],
  ["Jean-Luc de la Tour", "JT"],
  ["bsky.app", "BA"],
  ["@some_name", "SN"],
  ["3Blue1Brown", "3"],
  ["  élodie  ", "É"],
  ["straße ßa", "Sß"],
  ["O’Neill Pat", "OP"],
  ["Юрий Гагарин", "ЮГ"],
  ["Νίκος Καζαντζάκης", "ΝΚ"],
  ["فاطمة الزهراء", "ف"],
  ["משה כהן", "מ"],
  ["李小龙", "李"],
  ["ヒカキン TV", "ヒ"],
  ["김연아", "김"],
  ["काव्या", "का"],
  ["🚀 Rocket Lab", "RL"],
  ["🚀🚀", "🚀"],
  ["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"],
  ["🇵🇹", "🇵🇹"],
  ["Anna 李", "A"],
  ["", "–"],
  ["...", "–"],
  ["\u202e\u200b\u2066", "–"],
  ["\u202eevil name", "EN"],
  ["Z\u0351\u0352\u0353\u0354\u0355algo", "Z\u0353\u0354"],
  ["<script>alert(1)</script>", "SS"],
])("createInitials(%j) is %j", (name, initials) => {
  expect(createInitials(name)).toBe(initials.normalize("NFC"));
});

test("createInitials() is short, has no control or direction character, and takes any text", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })),
      (name) => {
        const initials = createInitials(name);
        expect(initials.length).toBeGreaterThan(0);
        expect(initials.length).toBeLessThanOrEqual(32);
        expect(initials).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      },
    ),
    { numRuns: 5000 },
  );
});

test("computeHue() is a whole number of degrees, the same for each name, and spread evenly", () => {
  const names = Array.from({ length: 3600 }, (_, index) => `creator${index}`);
  const hues = names.map(computeHue);
  expect(hues.map((hue) => Number.isInteger(hue) && hue >= 0 && hue < 360)).not.toContain(false);
  expect(names.map(computeHue)).toEqual(hues);
  const sectors = Array.from(Map.groupBy(hues, (hue) => Math.floor(hue / 30)).values());
  expect(sectors).toHaveLength(12);
  for (const { length } of sectors) expect(length).toBeGreaterThan(150);
});
