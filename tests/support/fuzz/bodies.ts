/** Bodies of fuzz requests: valid, nearly valid, of wrong types, broken, too large. */
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { BODY_MAX_BYTES } from "../../../server/http/request-body.ts";
import { nearlyValidArbitrary, observationArbitrary } from "../arbitraries/values.ts";
import type { JsonSchema } from "../openapi-examples.ts";
import { createJsonValue, type KnownValues } from "./values.ts";

/** A body as it is sent. Each character is a byte. */
export type ByteText = string;

const toByteText = (text: string): ByteText => Buffer.from(text).toString("latin1");

/** Neither JSON nor lines of observations, or too large, or too deep. */
const BROKEN_BODIES: readonly ByteText[] = [
  ["", " ", "{", '{"a":', "{'a':1}", "[1,]", "nul", '"', "\0", "{}{}", "NaN", "1e999"],
  ["\xff\xfe", '{"channels":["\xc0\xaf"]}', "\xef\xbb\xbf{}", '"\xed\xa0\x80"', "a=1&b=2"],
  ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":null}}', '{"id":1,"id":2}'],
  ["[".repeat(BODY_MAX_BYTES), '{"a":'.repeat(10_000), " ".repeat(BODY_MAX_BYTES - 2) + "{}"],
  `"${"x".repeat(BODY_MAX_BYTES - 1)}"`,
].flat();

/** Changes one field of an object: another type, another name, or none. */
function createChanged(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.nat(), fc.constantFrom("type", "missing", "unknown"), fc.jsonValue())
    .map(([value, index, change, other]) => {
      const fields = Object.entries(Object(value));
      const [name = "__proto__"] = fields[index % Math.max(1, fields.length)] ?? [];
      const kept = fields.filter(([field]) => change === "unknown" || field !== name);
      if (change === "missing") return Object.fromEntries(kept);
      return Object.fromEntries([...kept, [change === "type" ? name : `${name}x`, other]]);
    });
}

/** Bodies for a JSON schema. */
export function createJsonBody(schema: JsonSchema, known: KnownValues): fc.Arbitrary<ByteText> {
  const valid = createJsonValue("", schema, known);
  const values = fc.oneof(
    { weight: 10, arbitrary: valid },
    { weight: 4, arbitrary: createChanged(valid) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  return fc.oneof(
    { weight: 6, arbitrary: values.map((value) => toByteText(JSON.stringify(value))) },
    { weight: 1, arbitrary: fc.constantFrom(...BROKEN_BODIES) },
  );
}

const observations = fc.oneof(
  ...ENTITY_KINDS.flatMap((kind) => [observationArbitrary(kind), nearlyValidArbitrary(kind)]),
);

/** Lines of observations, some of them wrong. */
export const observationLines: fc.Arbitrary<ByteText> = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: observations.map((line) => toByteText(JSON.stringify(line))) },
      { weight: 1, arbitrary: fc.constantFrom(...BROKEN_BODIES) },
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.join("\n"));
