import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { stringifyToPieces, createRawJson } from "../server/raw-json.ts";

const encodeAscii = (value: unknown) =>
  new TextEncoder().encode(JSON.stringify(value).replaceAll(/[^ -~]/g, "?"));

const joinPieces = (pieces: readonly (string | Uint8Array)[]) =>
  pieces
    .map((piece) => (typeof piece === "string" ? piece : new TextDecoder().decode(piece)))
    .join("");

describe("stringifyToPieces()", () => {
  test("joined, they are what JSON.stringify() writes, whichever parts were written before", () => {
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

  test("of a value without written parts there is one", () => {
    expect(stringifyToPieces({ a: "é" })).toEqual(['{"a":"é"}']);
  });

  test("a text that looks like the mark of a part is a text", () => {
    const texts = ["\\ud800", '"\\ud800"', "\u0000", "\ufffd"];
    const value = { texts, part: createRawJson(encodeAscii([1])), more: texts };
    expect(joinPieces(stringifyToPieces(value))).toBe(
      JSON.stringify({ texts, part: [1], more: texts }),
    );
  });

  test("a value that cannot be written leaves nothing behind", () => {
    expect(() => stringifyToPieces({ part: createRawJson(encodeAscii(1)), big: 1n })).toThrow(
      TypeError,
    );
    expect(JSON.stringify(createRawJson(encodeAscii([2])))).toBe("[2]");
  });
});

describe("createRawJson()", () => {
  test("JSON.stringify() writes it too, however long it is", () => {
    const long = Array.from({ length: 5000 }, (_, index) => index);
    expect(JSON.stringify({ part: createRawJson(encodeAscii(long)) })).toBe(
      JSON.stringify({ part: long }),
    );
  });

  test("two that say something else are not equal", () => {
    expect(createRawJson(encodeAscii([1]))).toEqual(createRawJson(encodeAscii([1])));
    expect(createRawJson(encodeAscii([1]))).not.toEqual(createRawJson(encodeAscii([2])));
  });
});
