import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { createRawJson, readRawJson, readRawParts, stringifyToPieces } from "../server/raw-json.ts";

const encodeAscii = (value: unknown) =>
  new TextEncoder().encode(JSON.stringify(value).replaceAll(/[^ -~]/g, "?"));

const joinPieces = (pieces: readonly (string | Uint8Array)[]) =>
  pieces
    .map((piece) => (typeof piece === "string" ? piece : new TextDecoder().decode(piece)))
    .join("");

describe("stringifyToPieces()", () => {
  test("returns pieces that join to what JSON.stringify() returns", () => {
    const part = fc.tuple(fc.jsonValue(), fc.boolean());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (values) => {
        const mixed = values.map(([value, isWritten]) => ({
          value: isWritten ? createRawJson(encodeAscii(value)) : value,
        }));
        const plain = values.map(([value, isWritten]): unknown => ({
          value: isWritten ? JSON.parse(new TextDecoder().decode(encodeAscii(value))) : value,
        }));
        expect(joinPieces(stringifyToPieces(mixed))).toBe(JSON.stringify(plain));
      }),
    );
  });

  test("returns one piece for a value without raw parts", () => {
    expect(stringifyToPieces({ a: "é" })).toEqual(['{"a":"é"}']);
  });

  test("keeps texts that look like the placeholder", () => {
    const texts = ["\\ud800", '"\\ud800"', "\u0000", "\ufffd"];
    const value = { texts, part: createRawJson(encodeAscii([1])), more: texts };
    expect(joinPieces(stringifyToPieces(value))).toBe(
      JSON.stringify({ texts, part: [1], more: texts }),
    );
  });

  test("leaves no state behind when it throws", () => {
    expect(() => stringifyToPieces({ part: createRawJson(encodeAscii(1)), big: 1n })).toThrow(
      TypeError,
    );
    expect(JSON.stringify(createRawJson(encodeAscii([2])))).toBe("[2]");
  });
});

describe("createRawJson()", () => {
  test("works with JSON.stringify(), at any length", () => {
    const long = Array.from({ length: 5000 }, (_, index) => index);
    expect(JSON.stringify({ part: createRawJson(encodeAscii(long)) })).toBe(
      JSON.stringify({ part: long }),
    );
  });

  test("returns unequal values for different JSON", () => {
    expect(createRawJson(encodeAscii([1]))).toEqual(createRawJson(encodeAscii([1])));
    expect(createRawJson(encodeAscii([1]))).not.toEqual(createRawJson(encodeAscii([2])));
  });
});

describe("readRawJson() and readRawParts()", () => {
  test("read a value from its JSON, or as it is", () => {
    const raw = createRawJson(encodeAscii({ items: [1, 2] }));
    for (const value of [raw, { items: [1, 2] }]) {
      expect(readRawJson(value)).toEqual({ items: [1, 2] });
      expect([...readRawParts(value)]).toEqual([{ items: [1, 2] }]);
    }
  });

  test("read a long list in its parts", () => {
    const parts = [{ items: [1] }, { items: [2] }];
    const raw = createRawJson<{ items: number[] }>(encodeAscii({ items: [1, 2] }), () => parts);
    expect([...readRawParts(raw)]).toEqual(parts);
    expect(JSON.stringify(raw)).toBe('{"items":[1,2]}');
  });
});
