/** Values for fuzz requests: valid for a schema of the document, at its edges, or hostile. */
import * as fc from "fast-check";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { TRICKY_IDENTIFIERS, utf16Texts } from "../arbitraries/values.ts";
import type { JsonSchema } from "../openapi-examples.ts";

/** Values that exist in the fuzzed service, by the name of the parameter or field. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

/** Rows with lower identifiers may be changed and revoked; the fuzz requests need the others. */
export const EXPENDABLE_ID_MAX = 20;

/** Segments of a path, and values of a query, as they are sent. */
export const HOSTILE_SEGMENTS: readonly string[] = [
  String.raw`.. . %2e%2e %2E ..%2f.. ..\.. %5c..%5c %2F a%2Fb ;a=b '"<b> + * :a {a}`.split(" "),
  "% %zz %00 a%00b %FF %ED%A0%80 %C0%AF %E2%80%AE %0d%0aX-A:1 %25 %20 %F0%9F%98%80".split(" "),
  // UTF-8 that is not percent-encoded, and what is no UTF-8.
  ["Ã©", "ð\x9f\x98\x80", "\xff", ""],
  ["x".repeat(256), "x".repeat(257), "%F0%9F%98%80".repeat(256), "y".repeat(4000)],
  TRICKY_IDENTIFIERS.map(encodeURIComponent),
].flat();

const INSTANTS = [
  "2026-11-19 2026-11-20T08:15:30.123Z 2026-11-20T08:15 2026-11-20T08:15:30+05:30 2030-01-01",
  "0001-01-01 9999-12-31T23:59:59.999999Z 2024-02-29 2024-01-01 2026-02-30 2026-11-20T24:00",
  "2026-11-20T08:15:60 0000-01-01 1969-12-31",
].flatMap((line) => line.split(" "));

const INTEGER_TEXTS = ["", " 1", "+1", "-0", "01", "1.0", "1e1", "0x5", "NaN", "9007199254740992"];

/** Whole numbers at the limits of a schema, also outside of them. */
function listEdges({ minimum = 0, maximum = INTEGER_MAX }: JsonSchema): number[] {
  return [minimum - 1, minimum, minimum + 1, maximum - 1, maximum, maximum + 1];
}

const createInteger = (schema: JsonSchema) =>
  fc.oneof(
    fc.integer({ min: schema.minimum ?? 0, max: EXPENDABLE_ID_MAX }),
    fc.constantFrom(...listEdges(schema)),
  );

/** Texts that a schema allows, mostly. */
function createText(name: string, schema: JsonSchema, known: KnownValues): fc.Arbitrary<string> {
  const values = known[name] ?? schema.enum?.map(String);
  if (values !== undefined) return fc.constantFrom(...values);
  if (schema.format === "date" || schema.pattern?.includes("T(") === true)
    return fc.constantFrom(...INSTANTS);
  return fc.oneof(fc.constantFrom("1", "acme", "nasa", ...TRICKY_IDENTIFIERS), utf16Texts);
}

/** Percent-encodes a text; lone surrogates become what other programs send for them. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Values of a path or query parameter, as they are sent. */
export function createParameterValue(
  { name, schema }: { readonly name: string; readonly schema: JsonSchema },
  known: KnownValues,
): fc.Arbitrary<string> {
  const { maxLength = 256 } = schema;
  const valid =
    schema.type === "integer"
      ? createInteger(schema).map(String)
      : createText(name, schema, known).map(encode);
  const edges = fc.constantFrom(
    "",
    "x".repeat(maxLength),
    "x".repeat(maxLength + 1),
    `${name},${name}`,
    ...(schema.type === "integer" ? INTEGER_TEXTS.map(encode) : []),
    ...(schema.enum ?? []).map((value) => encode(String(value).toUpperCase())),
  );
  return fc.oneof(
    { weight: 12, arbitrary: valid },
    { weight: 1, arbitrary: edges },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_SEGMENTS) },
  );
}

/** Values of JSON that a schema allows, mostly. */
export function createJsonValue(
  name: string,
  schema: JsonSchema,
  known: KnownValues,
): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((option) => createJsonValue(name, option, known)));
  }
  if (schema.type === "object") {
    const fields = Object.entries(schema.properties ?? {}).map(
      ([field, property]) => [field, createJsonValue(field, property, known)] as const,
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
  }
  if (schema.type === "array") {
    const item = createJsonValue(name, schema.items ?? {}, known);
    return fc.oneof(
      { weight: 9, arbitrary: fc.array(item, { maxLength: 5 }) },
      { weight: 1, arbitrary: fc.array(item, { minLength: 99, maxLength: 102 }) },
    );
  }
  if (schema.type === "integer") return createInteger(schema);
  if (schema.type === "boolean") return fc.boolean();
  return schema.type === "null" ? fc.constant(null) : createText(name, schema, known);
}
