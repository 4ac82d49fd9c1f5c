import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { writeJson, writtenJson } from "../../core/json.ts";

describe("writeJson()", () => {
  test("writes what JSON.stringify() does, whichever parts were written before", () => {
    const parts = fc.array(fc.tuple(fc.jsonValue(), fc.boolean()), { maxLength: 8 });
    fc.assert(
      fc.property(parts, (values) => {
        const mixed = values.map(([value, isWritten]) => ({
          value: isWritten ? writtenJson(JSON.stringify(value)) : value,
        }));
        const plain = values.map(([value]) => ({ value }));
        expect(writeJson(mixed)).toBe(JSON.stringify(plain));
      }),
    );
  });

  test("a value without written parts is text", () => {
    expect(writeJson({ a: "é" })).toBe('{"a":"é"}');
  });

  test("a text that looks like the mark of a part is a text", () => {
    const texts = ["\\ud800", '"\\ud800"', "\u0000", "\ufffd"];
    const value = { texts, part: writtenJson("[1]"), more: texts };
    expect(writeJson(value)).toBe(JSON.stringify({ texts, part: [1], more: texts }));
  });

  test("a value that cannot be written leaves nothing behind", () => {
    expect(() => writeJson({ part: writtenJson("1"), big: 1n })).toThrow(TypeError);
    expect(JSON.stringify(writtenJson("[2]"))).toBe("[2]");
  });
});

describe("writtenJson()", () => {
  test("JSON.stringify() writes it too", () => {
    expect(JSON.stringify({ part: writtenJson('{"a":null}') })).toBe('{"part":{"a":null}}');
  });
});
