import { describe, expect, test } from "bun:test";
import type { InputBlock } from "../../../server/commands/input/csv-blocks.ts";
import { readParts, type InputPart } from "../../../server/commands/input/input-parts.ts";
import { decodeBatchMessage } from "../../../server/observation-batches/batch-message.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const BLOCK_LINES = 500;
const BLOCKS = 8;
const ENTITIES = 200;
const LINES_AGE_MS = 86_400_000;
const NO_REJECTIONS = { rejected: [], causes: [] };

/** Lines of 200 users in turn, spelled in several ways; the instant tells the number of the line. */
const LINES = Array.from({ length: BLOCKS * BLOCK_LINES }, (_, index) => {
  const username = index % 3 === 0 ? `Entity${index % ENTITIES}` : `entity${index % ENTITIES}`;
  const observedAt = new Date(NOW - LINES_AGE_MS + index).toISOString();
  return JSON.stringify({ kind: "user", username, observedAt, followers_count: index });
});

/** Cuts lines into blocks; the second one has a rejected row. */
async function* createBlocks(
  lines: readonly string[] = LINES,
  failure?: Error,
): AsyncGenerator<InputBlock> {
  for (let first = 0; first < lines.length; first += BLOCK_LINES) {
    const text = `${lines.slice(first, first + BLOCK_LINES).join("\n")}\n`;
    const rejected = [{ line: 10_000 + first, reason: "wrong" }];
    const causes = [{ cause: "wrong", lines: 1 }];
    const rejections = first === BLOCK_LINES ? { rejected, causes } : NO_REJECTIONS;
    const bytes = new TextEncoder().encode(text);
    yield { bytes, findFileLine: (line) => first + line, rejections };
  }
  if (failure !== undefined) throw failure;
}

const read = (blocks: AsyncIterable<InputBlock>, windowMaxBytes?: number) =>
  readParts(blocks, { now: () => NOW, takeInputBytes: () => 1000 }, windowMaxBytes);

/** The observations of each entity in each part, as the numbers of their lines. */
async function decodeParts(parts: readonly InputPart[]) {
  const messages = await Promise.all(parts.map(({ message }) => decodeBatchMessage(message)));
  return messages.map(({ batches }) =>
    batches.flatMap(({ entityIds, ends, counts, instants }) => {
      const lines = Array.from(instants, (at) => at - NOW + LINES_AGE_MS);
      expect(new Set(lines).isSubsetOf(new Set(counts))).toBe(true);
      return entityIds.map((id, index) => ({
        id,
        lines: lines.slice(ends[index - 1] ?? 0, ends[index]),
      }));
    }),
  );
}

/** Expects each line once, and those of an entity in their order. */
async function expectAllLines(parts: readonly InputPart[]): Promise<void> {
  const entities = (await decodeParts(parts)).flat();
  expect(entities.flatMap(({ lines }) => lines).toSorted((a, b) => a - b)).toEqual(
    LINES.map((_, index) => index),
  );
  for (const { id, lines } of entities) {
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
    expect(new Set(lines.map((line) => `entity${line % ENTITIES}`))).toEqual(new Set([id]));
  }
}

describe("readParts()", () => {
  test("has all observations of an entity in one part, however it is spelled", async () => {
    const parts = await Array.fromAsync(read(createBlocks()));
    await expectAllLines(parts);
    const [only] = await decodeParts(parts);
    expect([parts.length, only?.length]).toEqual([1, ENTITIES]);
  });

  test("keeps a limited number of bytes, and then yields their parts", async () => {
    const parts = await Array.fromAsync(read(createBlocks(), 200_000));
    await expectAllLines(parts);
    expect(parts.length).toBe(BLOCKS / 2);
  });

  test("counts the lines and the bytes of the input, and numbers the rejected lines", async () => {
    const lines = LINES.with(3, "{}");
    const parts = await Array.fromAsync(read(createBlocks(lines)));
    expect(parts).toMatchObject([
      {
        read: LINES.length + 1,
        inputBytes: 1000,
        rejections: {
          rejected: [
            { line: 4, reason: "kind must be one of channel, short, user, tweet, got undefined" },
            { line: 10_000 + BLOCK_LINES, reason: "wrong" },
          ],
          causes: [
            { cause: "kind must be one of channel, short, user, tweet", lines: 1 },
            { cause: "wrong", lines: 1 },
          ],
        },
      },
    ]);
  });

  test("yields a part without observations if all lines were rejected, none for no lines", async () => {
    const [part, ...others] = await Array.fromAsync(read(createBlocks(["{}"])));
    expect([part?.read, part?.rejections.rejected.length, others.length]).toEqual([1, 1, 0]);
    expect(await Array.fromAsync(read(createBlocks([])))).toEqual([]);
  });

  test("yields all lines from before an error, and then throws it", async () => {
    const parts: InputPart[] = [];
    const failure = new Error("broken");
    async function readAll() {
      for await (const part of read(createBlocks(LINES, failure))) parts.push(part);
    }
    await expect(readAll()).rejects.toBe(failure);
    await expectAllLines(parts);
  });
});
