import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCsvRow, parseCsvRow } from "../../server/csv/rows.ts";
import { texts, utf16Texts } from "../support/arbitraries/values.ts";
import { readCsvRows } from "../support/csv-rows.ts";
import { catchDomainError } from "../support/domain-error.ts";

const TRICKY_TEXTS = [
  "",
  " ",
  '"',
  '""',
  ",",
  "\r",
  "\n",
  "a\r\nb",
  "\r\n",
  '",\r\n"',
  "=1+1",
  "+1",
  "@SUM(A1)",
  "-1",
  "\tx",
  "'",
  "مرحبا, بالعالم",
  "‏שלום",
  "👩‍👩‍👧‍👦",
  "\ufeff",
  "null",
];

const cells = fc.oneof(fc.constant(null), fc.constantFrom(...TRICKY_TEXTS), texts, utf16Texts);
const rows = fc.array(cells, { minLength: 1, maxLength: 8 });

/** A row of one empty cell is a blank line, which readers skip. */
const tableRows = rows.filter((row) => row.length > 1);

describe("encodeCsvRow()", () => {
  test("writes rows that parseCsvRow() reads, also no value and an empty text", () => {
    fc.assert(
      fc.property(rows, (row) => {
        const line = encodeCsvRow(row);
        expect(line).toEndWith("\r\n");
        expect(parseCsvRow(line.slice(0, -2))).toEqual(row);
      }),
      { numRuns: 1000 },
    );
  });

  test("writes rows that papaparse reads", () => {
    fc.assert(
      fc.property(fc.array(tableRows, { minLength: 1, maxLength: 5 }), (table) => {
        // Readers take U+FEFF in front of the first cell for a byte-order mark.
        const text = [["id"], ...table].map(encodeCsvRow).join("");
        const [, ...read] = readCsvRows(text);
        expect(read).toEqual(table.map((row) => row.map((cell) => cell ?? "")));
      }),
      { numRuns: 1000 },
    );
  });

  test("writes numbers and booleans as JSON does", () => {
    const values = [0, -1, Number.MAX_SAFE_INTEGER, true, false, undefined];
    expect(encodeCsvRow(values)).toBe("0,-1,9007199254740991,true,false,\r\n");
  });

  test("leaves what a spreadsheet takes for a formula as it is", () => {
    expect(encodeCsvRow(["=1+1", "+1", "-1", "@A1"])).toBe("=1+1,+1,-1,@A1\r\n");
  });
});

describe("parseCsvRow()", () => {
  test.each([
    ["", [null]],
    [",", [null, null]],
    ['""', [""]],
    ['"",', ["", null]],
    [" a , b ", [" a ", " b "]],
    ['a"b,5" disk', ['a"b', '5" disk']],
    ['"a\r\nb",c', ["a\r\nb", "c"]],
    ['"a,b"', ["a,b"]],
    ['""""', ['"']],
    ['"a""b"', ['a"b']],
  ])("reads %j", (row, expected) => {
    expect(parseCsvRow(row)).toEqual(expected);
  });

  test.each([
    ['"a', "The quotes around a cell must be closed"],
    ['"', "The quotes around a cell must be closed"],
    ['"""', "The quotes around a cell must be closed"],
    ['"a"b', 'After the quotes around a cell, a comma or the end of the row must follow, got "b"'],
    [
      'x,"a" ,b',
      'After the quotes around a cell, a comma or the end of the row must follow, got " "',
    ],
  ])("rejects %j", (row, message) => {
    expect(catchDomainError(() => parseCsvRow(row))?.message).toBe(message);
  });
});
