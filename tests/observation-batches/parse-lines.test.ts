import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../server/observation-batches/parse-lines.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe("cutBlocks()", () => {
  test("limits the lines of a block, so that it is parsed in about a second", () => {
    const text = "x\n".repeat(1_000_000);
    const blocks = Array.from(cutBlocks(encode(text), Infinity), decode);
    expect(blocks.join("\n")).toBe(text);
    expect(Math.max(...blocks.map((block) => block.split("\n").length))).toBe(150_000);
  });

  test("limits the bytes of a block, but for its last line", () => {
    const text = Array.from({ length: 5000 }, (_, line) => "x".repeat(line % 97)).join("\n");
    for (const maxBytes of [1, 96, 1000, 100_000]) {
      const blocks = Array.from(cutBlocks(encode(text), maxBytes), decode);
      expect(blocks.join("\n")).toBe(text);
      expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(maxBytes + 97);
    }
    const long = Array.from({ length: 3000 }, () => "y".repeat(10_000)).join("\n");
    const blocks = Array.from(cutBlocks(encode(long), Infinity), decode);
    expect(blocks.join("\n")).toBe(long);
    expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(9_000_000);
  });

  test("leaves no small rest: a block that is a little too large stays whole, without a copy", () => {
    const bytes = encode(`${"y".repeat(1023)}\n`.repeat(8 * 1024 + 200));
    const [block, ...rest] = cutBlocks(bytes, Infinity);
    expect([block?.byteLength, block?.buffer === bytes.buffer, rest]).toEqual([
      bytes.byteLength,
      true,
      [],
    ]);
  });

  test("returns one empty block of nothing", () => {
    expect(Array.from(cutBlocks(encode(""), Infinity), decode)).toEqual([""]);
  });
});
