import { describe, expect, test } from "bun:test";
import { parseObservation } from "../../core/observations.ts";
import {
  decodeBatchMessage,
  encodeBatchMessage,
  type BatchMessage,
} from "../../server/observation-batches/batch-message.ts";
import { createBatchBuilder } from "../../server/observation-batches/observation-batch.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const CAUSES = [{ cause: "wrong", lines: 2 }];

/** Batches of all kinds, with texts of many parts. */
function createBatches(textCharacters = 60_000) {
  const builder = createBatchBuilder();
  const observedAt = "2026-11-20";
  const text = "é".repeat(textCharacters);
  for (let nth = 0; nth < 7; nth++) {
    const id = `i${nth % 3}`;
    for (const fields of [
      {
        kind: "channel",
        id,
        description: text.slice(nth),
        subscribers: nth,
        viewCount: 2 ** 53 - 1,
      },
      { kind: "short", id, channel: "c", views: nth },
      { kind: "user", username: id, name: `ü${nth}` },
      { kind: "tweet", id, username: "a", text },
    ]) {
      builder.add(parseObservation({ ...fields, observedAt }, NOW));
    }
  }
  return builder.build();
}

/** Arrays in place of typed arrays, whose views of a buffer `toEqual()` takes for different. */
const toArrays = ({ batches, ...rest }: BatchMessage) => ({
  ...rest,
  batches: batches.map((batch) =>
    Object.fromEntries(
      Object.entries(batch).map(([name, value]) => [
        name,
        typeof value === "string" ? value : Array.from<unknown>(value),
      ]),
    ),
  ),
});

describe("decodeBatchMessage()", () => {
  test("returns what encodeBatchMessage() got, at any offset of a buffer", async () => {
    const message = { batches: createBatches(), read: 9, causes: CAUSES };
    const bytes = encodeBatchMessage(message);
    expect(toArrays(await decodeBatchMessage(bytes))).toEqual(toArrays(message));
    for (const offset of [1, 8]) {
      const buffer = new Uint8Array(bytes.length + offset + 5);
      buffer.set(bytes, offset);
      const view = buffer.subarray(offset, offset + bytes.length);
      expect(toArrays(await decodeBatchMessage(view))).toEqual(toArrays(message));
    }
    const empty = { batches: [], read: 2, causes: CAUSES };
    expect(await decodeBatchMessage(encodeBatchMessage(empty))).toEqual(empty);
  });

  test("says that the sender is of another version, if the bytes are not a message", async () => {
    const bytes = encodeBatchMessage({ batches: createBatches(10), read: 9, causes: [] });
    const text = new TextDecoder("latin1").decode(bytes);
    const change = (from: string, to: string) => Buffer.from(text.replace(from, to), "latin1");
    for (const wrong of [
      new Uint8Array(),
      bytes.subarray(0, 100),
      bytes.subarray(0, bytes.length - 100),
      new TextEncoder().encode("{}{}{}{}"),
      change("subscribers", "subscribees"),
      change('"channel"', '"chanmel"'),
    ]) {
      await expect(decodeBatchMessage(wrong)).rejects.toThrow("of another version");
    }
  });
});
