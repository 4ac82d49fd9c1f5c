/** Arbitrary values of the domain. */
import * as fc from "fast-check";
import type { ShortPosition } from "../../../core/shorts.ts";
import {
  ENTITY_FIELDS,
  type EntityFields,
  type EntityKind,
  type FieldType,
} from "../../../core/kinds.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { FIRST_INSTANT, formatInstant, LAST_INSTANT } from "../../../core/time.ts";

/** The current time in tests. */
export const NOW = Date.parse("2026-11-20T12:00:00Z");

/** Instants of all years that ISO 8601 dates can express. */
export const instants = fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT });

/** Whole numbers from 0 to 2^53 - 1, often near a limit. */
export const counts = fc.oneof(
  fc.nat(5),
  fc.integer({ min: 0, max: INTEGER_MAX }),
  fc.integer({ min: INTEGER_MAX - 5, max: INTEGER_MAX }),
);

/** Valid characters from every plane. The unit "binary" of fast-check takes 0.3 seconds to load. */
const characters = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Texts of valid characters from every plane, including NUL. */
export const texts = fc.string({ unit: characters });

/** Texts of any UTF-16 units, including lone surrogates. */
export const utf16Texts = fc.string({
  unit: fc
    .oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }))
    .map((unit) => String.fromCharCode(unit)),
});

const identifierCharacter = characters.filter((character) => !/\p{Cc}/u.test(character));

/** Identifiers that break an object that uses them as keys. */
export const TRICKY_IDENTIFIERS = ["__proto__", "constructor", "toString", "7", "-1", "a/b", "😀"];

/** Valid identifiers: a path has no segment `.` or `..`. */
export const identifiers = fc.oneof(
  fc
    .string({ unit: identifierCharacter, minLength: 1, maxLength: 20 })
    .filter((id) => id !== "." && id !== ".."),
  fc.string({ unit: identifierCharacter, minLength: 250, maxLength: 256 }),
  fc.constantFrom(...TRICKY_IDENTIFIERS),
);

/** Positions that often have the same instant, so that the identifier decides the order. */
export const positions: fc.Arbitrary<ShortPosition> = fc.record({
  publishedAt: fc.oneof(fc.nat(3), instants),
  id: fc.oneof(fc.constantFrom("a", "b", "A", "é", "！", "😀"), identifiers),
});

/** Lists of positions with unique identifiers. */
export const listings = fc.uniqueArray(positions, { selector: ({ id }) => id, maxLength: 40 });

/** Names of creators, often equal except for case. */
export const creatorNames = fc.oneof(
  fc.constantFrom("nasa", "NASA", "Nasa", "esa", "ESA", "_x", "a.b", "constructor"),
  fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,9}$/),
);

/** Few values for a describing field, so that observations often have the same one. */
const COLLIDING_VALUES: Record<FieldType, fc.Arbitrary<unknown>> = {
  identifier: fc.constantFrom("NASA", "nasa", "Nasa"),
  text: fc.constantFrom(null, "", "a", "b", "！", "😀"),
  link: fc.constantFrom(null, "https://a.example/1", "https://a.example/2"),
  instant: fc.constantFrom(null, "2020-02-29", "2020-02-29T00:00:00.001Z", "1969-12-31"),
  boolean: fc.constantFrom(null, true, false),
};

/** Unparsed observations of one entity at few instants. */
export function observationArbitrary(kind: EntityKind): fc.Arbitrary<Record<string, unknown>> {
  const fields: EntityFields = ENTITY_FIELDS[kind];
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, type] of Object.entries(fields.attributes))
    model[name] = COLLIDING_VALUES[type];
  for (const name of fields.counts) model[name] = fc.constantFrom(null, 0, -0, 1, 2, INTEGER_MAX);
  model["kind"] = fc.constant(kind);
  model["observedAt"] = fc.integer({ min: NOW - 3, max: NOW }).map(formatInstant);
  model[fields.idField] = kind === "user" ? COLLIDING_VALUES.identifier : fc.constant("__proto__");
  const optional = new Set([
    ...Object.keys(fields.attributes).filter((name) => fields.attributes[name] !== "identifier"),
    ...fields.counts,
  ]);
  const requiredKeys = Object.keys(model).filter((name) => !optional.has(name));
  return fc.record(model, { requiredKeys });
}

const VALID_VALUES: Record<FieldType, fc.Arbitrary<unknown>> = {
  identifier: identifiers,
  text: fc.oneof(fc.constant(null), texts),
  link: fc.oneof(fc.constant(null), fc.webUrl(), fc.constantFrom("x".repeat(2048), "")),
  instant: fc.oneof(fc.constant(null), instants.map(formatInstant)),
  boolean: fc.oneof(fc.constant(null), fc.boolean()),
};

const INVALID_VALUES = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, "", -1, 1.5, INTEGER_MAX + 1, Infinity, NaN, -0),
  fc.constantFrom<unknown>("\0", "\ud800", "2024-02-30", "2024-01-01T24:00", "20240101", "1"),
  fc.constantFrom<unknown>("x".repeat(257), "é".repeat(256), "x".repeat(2049), true, [], {}),
  fc.jsonValue(),
);

function mostlyValid(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 40, arbitrary: valid }, { weight: 1, arbitrary: INVALID_VALUES });
}

/** Objects similar to observations: a field is mostly valid, sometimes invalid or left out. */
export function nearlyValidArbitrary(kind: EntityKind): fc.Arbitrary<Record<string, unknown>> {
  const fields: EntityFields = ENTITY_FIELDS[kind];
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, type] of Object.entries(fields.attributes))
    model[name] = mostlyValid(VALID_VALUES[type]);
  for (const name of fields.counts) model[name] = mostlyValid(counts);
  model["kind"] = mostlyValid(fc.constant(kind));
  model["observedAt"] = mostlyValid(
    fc.integer({ min: FIRST_INSTANT, max: NOW }).map(formatInstant),
  );
  model[fields.idField] = mostlyValid(identifiers);
  return fc
    .tuple(fc.record(model), fc.option(fc.constantFrom(...Object.keys(model)), { freq: 3 }))
    .map(([value, omitted]) => {
      if (omitted === null) return value;
      return Object.fromEntries(Object.entries(value).filter(([name]) => name !== omitted));
    });
}
