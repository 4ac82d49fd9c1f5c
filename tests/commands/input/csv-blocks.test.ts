import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { encodeCsvRow, parseCsvRow } from "../../../server/csv/rows.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";
import { cutRows } from "../../../server/commands/input/csv-blocks.ts";
import { texts as anyTexts } from "../../support/arbitraries/values.ts";

const TOO_LONG = `A row has at most ${OBSERVATION_LINE_MAX_BYTES} bytes: is a quote missing?`;

async function* stream(pieces: readonly Uint8Array[]) {
  yield* pieces;
}

/** Cuts pieces of a file into rows. */
async function cutPieces(pieces: readonly Uint8Array[]) {
  const rows = await Array.fromAsync(cutRows(stream(pieces)));
  return rows.flat();
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

describe("cutRows()", () => {
  test("finds the rows of any table, their lines, wherever the pieces end", async () => {
    const inputs = [tables, fc.array(fc.nat()), fc.boolean()] as const;
    await fc.assert(
      fc.asyncProperty(...inputs, async (table, positions, hasLineFeeds) => {
        const texts = table.map((row) => encodeCsvRow(row).slice(0, -2));
        const lineEnd = hasLineFeeds ? "\n" : "\r\n";
        const file = texts.map((text) => `${text}${lineEnd}`).join("");
        const rows = await cutPieces(split(encode(file), positions));
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

  test("needs no last line end", async () => {
    const rows = await cutPieces([encode('a,b\nc,"d\ne"')]);
    expect(rows.map(({ line, text }) => [line, text])).toEqual([
      [1, "a,b"],
      [2, 'c,"d\ne"'],
    ]);
    expect(await cutPieces([])).toEqual([]);
    expect(await cutPieces([encode("")])).toEqual([]);
  });

  test.each([
    ['a,5" disk\nb', ['a,5" disk', "b"]],
    ['"a"x"\nb', ['"a"x"', "b"]],
    ['"a" ,"b\nc', ['"a" ,"b\nc']],
    ['x"y,"z\n"\nb', ['x"y,"z\n"', "b"]],
  ])("ends a row with quotes in the wrong place, %j, at its line end", async (file, texts) => {
    const rows = await cutPieces([encode(file)]);
    expect(rows.map(({ text }) => text)).toEqual(texts);
  });

  test("says of a row that is not UTF-8 that it is not, and reads the others", async () => {
    const file = Buffer.concat([encode("é,1\n"), Buffer.of(0x61, 0xff, 0x0a), encode("日,2\n")]);
    for (const position of [0, 1, 2, 5, 6, 7, 8, 9]) {
      expect(await cutPieces(split(file, [position]))).toEqual([
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
  ])("says of a row that is too long, %s, that it is, and reads the next", async (_, long) => {
    const file = encode(`a\n${long}\nb\n`);
    for (const size of [file.length, 65_536, 1_000_003]) {
      const positions = Array.from({ length: Math.floor(file.length / size) }, (__, n) => n * size);
      const [first, second, third, ...more] = await cutPieces(split(file, positions));
      expect([first?.text, third?.text, more.length]).toEqual(["a", "b", 0]);
      expect(second).toEqual({ line: 2, text: undefined, problem: TOO_LONG });
      expect(third?.line).toBe(2 + long.split("\n").length);
    }
  });

  test("reads a row that is just short enough", async () => {
    const row = "x".repeat(OBSERVATION_LINE_MAX_BYTES);
    const [found] = await cutPieces(split(encode(`${row}\n`), [65_536, 700_000]));
    expect(found?.text === row).toBe(true);
  });

  test("says of quotes that never close where they are, and keeps little of the rest", async () => {
    const piece = encode("x,y\n".repeat(65_536));
    const rest = Array.from({ length: 200 }, () => piece);
    expect(await cutPieces([encode('a,b\n"c,d\n'), ...rest])).toEqual([
      { line: 1, text: "a,b", problem: undefined },
      { line: 2, text: undefined, problem: TOO_LONG },
    ]);
  });
});
