/** Schemas of texts that clients and sources send. */
import * as Type from "@sinclair/typebox";
import { IDENTIFIER_MAX_CHARACTERS } from "../limits.ts";

/**
 * Creates the schema of a text without NUL and lone surrogates. Its length is in the pattern,
 * because TypeBox counts UTF-16 units where JSON Schema counts characters.
 *
 * @param excluded Characters that it may not have, in the syntax of a class of a pattern.
 */
export const createTextSchema = (
  min: number,
  max: number,
  { excluded = "\\u0000" }: { readonly excluded?: string } = {},
): Type.TString => {
  // A surrogate pair is one character with the flag u, which Ajv sets, and two without it.
  const character = `[^${excluded}\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff]`;
  return Type.String({ pattern: `^(?:${character}){${min},${max}}$` });
};

/** The days that exist, from the year 0 to 9999. */
export const DATE_PATTERN: string =
  "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|" +
  "02-(?:0[1-9]|1\\d|2[0-8]))|" +
  "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

/** An identifier, as `isIdentifier()` of core checks it. */
export const Identifier: Type.TString = createTextSchema(1, IDENTIFIER_MAX_CHARACTERS, {
  excluded: "\\u0000-\\u001f\\u007f-\\u009f",
});
