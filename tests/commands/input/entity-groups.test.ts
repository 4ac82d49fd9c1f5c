import { describe, expect, test } from "bun:test";
import type { InputBlock } from "../../../server/commands/input/csv-blocks.ts";
import { groupByEntity, type GroupedBlock } from "../../../server/commands/input/entity-groups.ts";

const NO_REJECTIONS = { rejected: [], causes: [] };
const BLOCK_LINES = 500;
const BLOCKS = 8;

/** Lines of 200 entities in turn, spelled in several ways. */
const LINES = Array.from({ length: BLOCKS * BLOCK_LINES }, (_, index) => {
  const id = `Entity ${index % 200}`;
  if (index % 3 === 0) return `{"kind":"user","username":"${id.toUpperCase()}","n":${index}}`;
  if (index % 3 === 1) return `{ "username" : "${id}", "kind" : "user", "name":"id", "n":${index}}`;
  return `{"text":"\\"id\\":\\"none\\"","username":"${id.toLowerCase()}","n":${index}}`;
});

/** Cuts lines into blocks; the second one has a rejected row. */
async function* createBlocks(
  lines: readonly string[] = LINES,
  failure?: Error,
): AsyncGenerator<InputBlock> {
  for (let first = 0; first < lines.length; first += BLOCK_LINES) {
    const text = `${lines.slice(first, first + BLOCK_LINES).join("\n")}\n`;
    const rejected = [{ line: first + 1, reason: "wrong" }];
    const rejections = first === BLOCK_LINES ? { rejected, causes: [] } : NO_REJECTIONS;
    const bytes = new TextEncoder().encode(text);
    yield { bytes, findFileLine: (line) => first + line, rejections };
  }
  if (failure !== undefined) throw failure;
}

const readLines = ({ bytes }: InputBlock) => new TextDecoder().decode(bytes).trim().split("\n");
const readEntity = (line: string) => /entity \d+/i.exec(line)?.[0].toLowerCase();

/** Expects each line once, with its number in the file, and those of an entity in their order. */
function expectAllLines(blocks: readonly GroupedBlock[], lines: readonly string[] = LINES): void {
  const found = blocks.flatMap((block) =>
    readLines(block).map((line, index) => ({ line, number: block.findFileLine(index + 1) })),
  );
  expect(found.map(({ line, number }) => line === lines[number - 1])).not.toContain(false);
  expect(found.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
    lines.map((_, index) => index + 1),
  );
  for (const block of blocks) {
    const numbers = readLines(block).map((_, index) => block.findFileLine(index + 1));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

describe("groupByEntity()", () => {
  test("yields all lines of an entity in one block, however the identifier is spelled", async () => {
    const blocks = await Array.fromAsync(groupByEntity(createBlocks()));
    expectAllLines(blocks);
    expect(blocks.length).toBeGreaterThan(10);
    const entities = blocks.flatMap((block) =>
      Array.from(new Set(readLines(block).map(readEntity))),
    );
    expect(entities.length).toBe(200);
  });

  test("says how many blocks follow, and keeps the rows that were rejected before", async () => {
    const blocks = await Array.fromAsync(groupByEntity(createBlocks()));
    expect(blocks.map(({ following }) => following)).toEqual(
      blocks.map((_, index) => blocks.length - 1 - index),
    );
    expect(blocks.flatMap(({ rejections }) => rejections.rejected)).toEqual([
      { line: BLOCK_LINES + 1, reason: "wrong" },
    ]);
  });

  test("keeps a limited number of bytes, and then yields their groups", async () => {
    const windowBytes = LINES.slice(0, 2 * BLOCK_LINES).join("\n").length;
    const blocks = await Array.fromAsync(groupByEntity(createBlocks(), windowBytes));
    expectAllLines(blocks);
    const windows = blocks.filter(({ following }) => following === 0);
    expect(windows.length).toBe(BLOCKS / 2);
  });

  test("leaves a single block, and blocks with long runs of an entity, as they are", async () => {
    const single = LINES.slice(0, BLOCK_LINES);
    const byEntity = LINES.toSorted((a, b) =>
      String(readEntity(a)).localeCompare(String(readEntity(b))),
    );
    for (const lines of [single, byEntity]) {
      const before = await Array.fromAsync(createBlocks(lines));
      const after = await Array.fromAsync(groupByEntity(createBlocks(lines)));
      expect(after.map(readLines)).toEqual(before.map(readLines));
      expect(after.every(({ following }) => following === 0)).toBe(true);
    }
  });

  test("yields all lines from before an error, and then throws it", async () => {
    const blocks: GroupedBlock[] = [];
    const failure = new Error("broken");
    async function readAll() {
      for await (const block of groupByEntity(createBlocks(LINES, failure))) blocks.push(block);
    }
    await expect(readAll()).rejects.toBe(failure);
    expectAllLines(blocks);
  });
});
