import { describe, expect, test } from "bun:test";
import { readBlocks } from "../../../server/commands/input/input-blocks.ts";
import { OBSERVATION_LINE_MAX_BYTES } from "../../../core/limits.ts";

const KIB = 1024;

const encodeText = (text: string) => new TextEncoder().encode(text);
const decodeText = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function* streamTexts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield encodeText(text);
}

/** Lines of many lengths. */
const LINES = Array.from({ length: 5000 }, (_, index) => `${index} ${"x".repeat(index % 97)}\n`);

describe("readBlocks()", () => {
  test.each([
    ["one piece", [LINES.join("")]],
    ["pieces that end anywhere", LINES.join("").match(/[^]{1,1000}/g) ?? []],
    ["a piece for each line", LINES],
  ])(
    "cuts %s into blocks of whole lines, none longer than a piece and a line",
    async (_, texts) => {
      const blocks = await Array.fromAsync(readBlocks(streamTexts(...texts)));
      expect(blocks.map(({ bytes }) => decodeText(bytes)).join("")).toBe(LINES.join(""));
      let line = 1;
      const pieceBytes = Math.max(...texts.map(({ length }) => length));
      for (const { bytes, findFileLine } of blocks) {
        expect(bytes.byteLength).toBeLessThanOrEqual(pieceBytes + 110);
        expect(decodeText(bytes)).toEndWith("\n");
        expect(findFileLine(1)).toBe(line);
        line += decodeText(bytes).split("\n").length - 1;
      }
    },
  );

  test("keeps only the beginning of a line that is too long", async () => {
    const long = "y".repeat(3 * OBSERVATION_LINE_MAX_BYTES);
    const pieces = `a\n${long}\nb`.match(/[^]{1,65536}/g) ?? [];
    const blocks = await Array.fromAsync(readBlocks(streamTexts(...pieces)));
    const [first, second, third] = blocks
      .map(({ bytes }) => decodeText(bytes))
      .join("")
      .split("\n");
    expect([first, third]).toEqual(["a", "b"]);
    expect(second?.length).toBeGreaterThan(OBSERVATION_LINE_MAX_BYTES);
    expect(second?.length).toBeLessThan(OBSERVATION_LINE_MAX_BYTES + 64 * KIB);
  });
});
