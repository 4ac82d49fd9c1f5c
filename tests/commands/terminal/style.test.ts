import { expect, test } from "bun:test";
import {
  cutText,
  formatAge,
  formatChange,
  formatPercent,
} from "../../../server/commands/terminal/style.ts";

test("formatChange() has the sign of a gain", () => {
  expect([1234, 0, -1234].map(formatChange)).toEqual(["+1,234", "0", "-1,234"]);
});

test("formatPercent() has two decimals below 10, one above", () => {
  expect([0.126, -0.126, 0, 12.34, -1234.56].map(formatPercent)).toEqual([
    "+0.13%",
    "-0.13%",
    "0.00%",
    "+12.3%",
    "-1,234.6%",
  ]);
});

test("formatPercent() rounds before it chooses decimals and sign", () => {
  expect([9.999, -9.996, -0.001, 0.004, 9.994].map(formatPercent)).toEqual([
    "+10.0%",
    "-10.0%",
    "0.00%",
    "0.00%",
    "+9.99%",
  ]);
});

test.each([
  [0, "0 min"],
  [119 * 60_000, "119 min"],
  [120 * 60_000, "2 h"],
  [47.9 * 3_600_000, "47 h"],
  [48 * 3_600_000, "2 d"],
  [729 * 86_400_000, "729 d"],
  [730 * 86_400_000, "730 d"],
  [731 * 86_400_000, "2 y"],
  [1096 * 86_400_000, "3 y"],
])("formatAge() formats %d ms as %s", (ms, age) => {
  expect(formatAge(ms)).toBe(age);
});

test.each([
  ["Seven Minute Soup", 17, "Seven Minute Soup"],
  ["Seven Minute Soup", 6, "Seven…"],
  ["日本語", 5, "日本…"],
  ["日本語", 4, "日…"],
  ["👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"],
  ["\u202ea\u001b[2J", 8, "\\u202ea…"],
  ["", 3, ""],
])("cutText() cuts %j to %d columns", (text, width, cut) => {
  expect(cutText(text, width)).toBe(cut);
  expect(Bun.stringWidth(cutText(text, width))).toBeLessThanOrEqual(width);
});
