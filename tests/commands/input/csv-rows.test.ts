import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCsvRow, parseCsvRow } from "../../../server/csv/rows.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import { createRowCutter, type FileRow } from "../../../server/commands/input/csv-rows.ts";
import { texts as anyTexts } from "../../support/arbitraries/values.ts";

const TOO_LONG = `A row has at most ${OBSERVATION_LINE_MAX_BYTES} bytes: is a quote missing?`;

/** Cuts pieces of a file into rows. */
function cutPieces(pieces: readonly Uint8Array[]): FileRow[] {
  const cutter = createRowCutter();
  return [...pieces.flatMap((piece) => cutter.cut(piece)), ...cutter.end()];
}

/** Splits bytes at positions. */
function split(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const ends = [...new Set(positions.map((at) => at % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const encode = (text: string) => new TextEncoder().encode(text);

const cells = fc.oneof(
  fc.constant(null),
  fc.constantFrom("", '"', "\n", "\r\n", "\r", 'a"b', "x,y", '"\n"', "日本\n🍲", "plain"),
  anyTexts.filter((text) => !text.endsWith("\r")),
);
const tables = fc.array(fc.array(cells, { minLength: 1, maxLength: 5 }), { maxLength: 8 });

describe("createRowCutter()", () => {
  test("finds the rows of any table, their lines, wherever the pieces end", () => {
    fc.assert(
      fc.property(tables, fc.array(fc.nat()), fc.boolean(), (table, positions, hasLineFeeds) => {
        const texts = table.map((row) => encodeCsvRow(row).slice(0, -2));
        const lineEnd = hasLineFeeds ? "\n" : "\r\n";
        const file = texts.map((text) => `${text}${lineEnd}`).join("");
        const rows = cutPieces(split(encode(file), positions));
        expect(rows.map(({ text }) => parseCsvRow(text ?? ""))).toEqual(table);
        let line = 1;
        for (const [index, text] of texts.entries()) {
          expect(rows[index]).toEqual({ line, text, problem: undefined });
          line += text.split("\n").length;
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("needs no last line end", () => {
    const rows = cutPieces([encode('a,b\nc,"d\ne"')]);
    expect(rows.map(({ line, text }) => [line, text])).toEqual([
      [1, "a,b"],
      [2, 'c,"d\ne"'],
    ]);
    expect(cutPieces([])).toEqual([]);
    expect(cutPieces([encode("")])).toEqual([]);
  });

  test.each([
    ['a,5" disk\nb', ['a,5" disk', "b"]],
    ['"a"x"\nb', ['"a"x"', "b"]],
    ['"a" ,"b\nc', ['"a" ,"b\nc']],
    ['x"y,"z\n"\nb', ['x"y,"z\n"', "b"]],
  ])("ends a row with quotes in the wrong place, %j, at its line end", (file, texts) => {
    expect(cutPieces([encode(file)]).map(({ text }) => text)).toEqual(texts);
  });

  test("says of a row that is not UTF-8 that it is not, and reads the others", () => {
    const file = Buffer.concat([encode("é,1\n"), Buffer.of(0x61, 0xff, 0x0a), encode("日,2\n")]);
    for (const position of [0, 1, 2, 5, 6, 7, 8, 9]) {
      expect(cutPieces(split(file, [position]))).toEqual([
        { line: 1, text: "é,1", problem: undefined },
        { line: 2, text: undefined, problem: "The row must be valid UTF-8" },
        { line: 3, text: "日,2", problem: undefined },
      ]);
    }
  });

  test.each([
    ["without quotes", "x".repeat(OBSERVATION_LINE_MAX_BYTES + 1)],
    ["in quotes", `"${"x\n".repeat(OBSERVATION_LINE_MAX_BYTES)}"`],
    ["of two-byte characters", "é".repeat(OBSERVATION_LINE_MAX_BYTES / 2 + 1)],
  ])("says of a row that is too long, %s, that it is, and reads the next", (_, long) => {
    const file = encode(`a\n${long}\nb\n`);
    for (const size of [file.length, 65_536, 1_000_003]) {
      const positions = Array.from({ length: Math.floor(file.length / size) }, (__, n) => n * size);
      const [first, second, third, ...more] = cutPieces(split(file, positions));
      expect([first?.text, third?.text, more.length]).toEqual(["a", "b", 0]);
      expect(second).toEqual({ line: 2, text: undefined, problem: TOO_LONG });
      expect(third?.line).toBe(2 + long.split("\n").length);
    }
  });

  test("reads a row that is just short enough", () => {
    const row = "x".repeat(OBSERVATION_LINE_MAX_BYTES);
    const [found] = cutPieces(split(encode(`${row}\n`), [65_536, 700_000]));
    expect(found?.text === row).toBe(true);
  });

  test("says of quotes that never close where they are, and keeps little of the rest", () => {
    const cutter = createRowCutter();
    const piece = encode("x,y\n".repeat(65_536));
    expect(cutter.cut(encode('a,b\n"c,d\n')).map(({ text }) => text)).toEqual(["a,b"]);
    for (let count = 0; count < 200; count++) expect(cutter.cut(piece)).toEqual([]);
    expect(cutter.end()).toEqual([{ line: 2, text: undefined, problem: TOO_LONG }]);
  });
});
