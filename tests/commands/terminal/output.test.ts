import { describe, expect, test } from "bun:test";
import { stripVTControlCharacters } from "node:util";
import { formatTable } from "../../../server/commands/terminal/output.ts";

const ROWS = [
  { name: "acme", note: null, at: "2026-11-21T03:08:40.018Z", balance: 12 },
  { name: "globex", note: null, at: "2026-11-22T03:08:40.018Z", balance: 1000 },
];
const COLUMNS = ["name", "note", "at", "balance"] as const;

const format = (columns: number | undefined) =>
  formatTable(COLUMNS, ROWS, { columns, hasOutColors: false }).split("\n").slice(0, -1);

describe("formatTable()", () => {
  test("aligns numbers to the right", () => {
    expect(format(undefined)).toEqual([
      "name    note  at                        balance",
      "acme          2026-11-21T03:08:40.018Z       12",
      "globex        2026-11-22T03:08:40.018Z     1000",
    ]);
  });

  test("leaves out columns without a value, then seconds, and wraps, if it is too wide", () => {
    expect(format(47)).toEqual(format(undefined));
    expect(format(46)[1]).toBe("acme    2026-11-21T03:08:40.018Z       12");
    expect(format(40)[1]).toBe("acme    2026-11-21 03:08Z       12");
    expect(format(30)).toEqual([
      "name    at          balance",
      "acme    2026-11-21       12",
      "        03:08Z",
      "globex  2026-11-22     1000",
      "        03:08Z",
    ]);
  });

  test("cuts long words rather than that the table is lost", () => {
    const rows = [{ name: "語".repeat(17), at: "2026-11-21T03:08:40.018Z" }];
    const text = formatTable(["name", "at"], rows, { columns: 43, hasOutColors: false });
    expect(text.split("\n")).toEqual([
      `name${" ".repeat(22)}at`,
      `${"語".repeat(12)}  2026-11-21 03:08Z`,
      "語".repeat(5),
      "",
    ]);
  });

  test.each([
    "日本語",
    "👩‍👩‍👧‍👦".repeat(50),
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿👍🏽🇩🇪",
    "مرحبا",
    "e\u0301\u0301",
    "x\u0000\u009b2J",
    "a\u200bb\u00ad\u2028\ufeff",
  ])("aligns the column behind %j, in one line", (name) => {
    const rows = [
      { name, balance: 7 },
      { name: "acme", balance: 1000 },
    ];
    const lines = formatTable(["name", "balance"], rows).trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    expect(new Set(lines.map((line) => Bun.stringWidth(line))).size).toBe(1);
    expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u00ad\u200b\ufeff]/u);
  });

  test("prints a line for each value if it is too narrow for that", () => {
    expect(format(26).slice(0, 4)).toEqual([
      "name     acme",
      "at       2026-11-21T03:08:40.018Z",
      "balance  12",
      "",
    ]);
  });

  test("colours headings only if the output shows colours", () => {
    const coloured = formatTable(COLUMNS, ROWS, { columns: 80, hasOutColors: true });
    expect(coloured).not.toBe(`${format(80).join("\n")}\n`);
    expect(stripVTControlCharacters(coloured)).toBe(`${format(80).join("\n")}\n`);
  });

  test("shows controls of a text instead of obeying them", () => {
    const text = formatTable(["name"], [{ name: "a\u202Eb\u001B[31m\nc" }]);
    expect(text).toBe("name\na\\u202eb\\u001b[31m\\u000ac\n");
  });
});
