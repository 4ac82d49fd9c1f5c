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
    ["one piece that is longer than many blocks", [LINES.join("")]],
    ["pieces that end anywhere", LINES.join("").match(/[^]{1,1000}/g) ?? []],
    ["a piece for each line", LINES],
  ])("cuts %s into blocks of whole lines, none much longer than asked", async (_, texts) => {
    const blocks = await Array.fromAsync(readBlocks(streamTexts(...texts), 16 * KIB));
    expect(blocks.map(({ bytes }) => decodeText(bytes)).join("")).toBe(LINES.join(""));
    let line = 1;
    for (const { bytes, findFileLine } of blocks) {
      expect(bytes.byteLength).toBeLessThan(21 * KIB);
      expect(decodeText(bytes)).toEndWith("\n");
      expect(findFileLine(1)).toBe(line);
      line += decodeText(bytes).split("\n").length - 1;
    }
    expect(blocks.length).toBeGreaterThan(10);
  });

  test("keeps only the beginning of a line that is too long", async () => {
    const long = "y".repeat(3 * OBSERVATION_LINE_MAX_BYTES);
    const blocks = await Array.fromAsync(readBlocks(streamTexts(`a\n${long}\nb`), 64 * KIB));
    const [first, second, third] = blocks
      .map(({ bytes }) => decodeText(bytes))
      .join("")
      .split("\n");
    expect([first, third]).toEqual(["a", "b"]);
    expect(second?.length).toBeGreaterThan(OBSERVATION_LINE_MAX_BYTES);
    expect(second?.length).toBeLessThan(OBSERVATION_LINE_MAX_BYTES + 64 * KIB);
  });
});
