/** Schemas of parameters that several endpoints of the administration API have. */
import { Type, type TOptional, type TString } from "@sinclair/typebox";
import { IDENTIFIER_MAX_CHARACTERS, LIST_LIMIT_RANGE } from "../../../../core/limits.ts";
import { INSTANT_PATTERN } from "../../../../core/time.ts";

/** The name of an account. */
export const AccountParameter: TString = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_MAX_CHARACTERS,
  description: "The name of the account.",
  examples: ["acme"],
});

/** A parameter that is one of some names. */
export const createChoiceFilter = (
  choices: readonly string[],
  description: string,
): TOptional<TString> => Type.Optional(Type.String({ enum: [...choices], description }));

/** A date or date-time. */
export const createInstantFilter = (description: string): TOptional<TString> =>
  Type.Optional(Type.String({ pattern: INSTANT_PATTERN, description }));

/** The parameters of a list that comes in pages. */
export const createPageParameters = (rows: string, cursorMaxLength: number) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: LIST_LIMIT_RANGE.min,
      maximum: LIST_LIMIT_RANGE.max,
      default: LIST_LIMIT_RANGE.default,
      description: `The most ${rows} of a page.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: cursorMaxLength,
      description: "`next` of the previous page, which had the same other parameters.",
    }),
  ),
});
