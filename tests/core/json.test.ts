import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { jsonPieces, writtenJson } from "../../core/json.ts";

const ascii = (value: unknown) =>
  new TextEncoder().encode(JSON.stringify(value).replaceAll(/[^ -~]/g, "?"));

const joined = (pieces: readonly (string | Uint8Array)[]) =>
  pieces
    .map((piece) => (typeof piece === "string" ? piece : new TextDecoder().decode(piece)))
    .join("");

describe("jsonPieces()", () => {
  test("joined, they are what JSON.stringify() writes, whichever parts were written before", () => {
    const part = fc.tuple(fc.jsonValue(), fc.boolean());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (values) => {
        const mixed = values.map(([value, isWritten]) => ({
          value: isWritten ? writtenJson(ascii(value)) : value,
        }));
        const plain = values.map(([value, isWritten]): unknown => ({
          value: isWritten ? JSON.parse(new TextDecoder().decode(ascii(value))) : value,
        }));
        expect(joined(jsonPieces(mixed))).toBe(JSON.stringify(plain));
      }),
    );
  });

  test("of a value without written parts there is one", () => {
    expect(jsonPieces({ a: "é" })).toEqual(['{"a":"é"}']);
  });

  test("a text that looks like the mark of a part is a text", () => {
    const texts = ["\\ud800", '"\\ud800"', "\u0000", "\ufffd"];
    const value = { texts, part: writtenJson(ascii([1])), more: texts };
    expect(joined(jsonPieces(value))).toBe(JSON.stringify({ texts, part: [1], more: texts }));
  });

  test("a value that cannot be written leaves nothing behind", () => {
    expect(() => jsonPieces({ part: writtenJson(ascii(1)), big: 1n })).toThrow(TypeError);
    expect(JSON.stringify(writtenJson(ascii([2])))).toBe("[2]");
  });
});

describe("writtenJson()", () => {
  test("JSON.stringify() writes it too, however long it is", () => {
    const long = Array.from({ length: 5000 }, (_, index) => index);
    expect(JSON.stringify({ part: writtenJson(ascii(long)) })).toBe(JSON.stringify({ part: long }));
  });

  test("two that say something else are not equal", () => {
    expect(writtenJson(ascii([1]))).toEqual(writtenJson(ascii([1])));
    expect(writtenJson(ascii([1]))).not.toEqual(writtenJson(ascii([2])));
  });
});
