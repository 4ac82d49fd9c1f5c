/** Schemas of parameters that several endpoints have, with the limits of their parsers. */
import { Type, type TProperties, type TSchema } from "@sinclair/typebox";
import {
  IDENTIFIER_MAX_CHARACTERS,
  LIST_LIMIT_RANGE,
  SEARCH_MAX_CHARACTERS,
  type IntegerRange,
} from "../../../core/limits.ts";
import { LIST_ORDERS } from "../../../core/lists.ts";
import { FOLDED_IDENTIFIER_MAX_CHARACTERS } from "../../../core/text.ts";
import { INSTANT_PATTERN } from "../../../core/time.ts";
import { FORMATS } from "../content/csv.ts";

/** Base64 has four characters for three bytes of JSON, and JSON up to four bytes a character. */
const CURSOR_MAX_CHARACTERS = Math.ceil((4 / 3) * (100 + 4 * FOLDED_IDENTIFIER_MAX_CHARACTERS));

/** JSON has up to six bytes for each character of `search` and `country`. */
const LIST_CURSOR_MAX_CHARACTERS = CURSOR_MAX_CHARACTERS + 8 * 2 * SEARCH_MAX_CHARACTERS;

export function createIntegerParameter(range: IntegerRange, description: string) {
  const { min: minimum, max: maximum, default: initial } = range;
  return Type.Optional(Type.Integer({ minimum, maximum, default: initial, description }));
}

export const createChoiceParameter = (
  choices: readonly string[],
  description: string,
  initial?: string,
) => Type.Optional(Type.String({ enum: [...choices], default: initial, description }));

export const createInstantParameter = (description: string) =>
  Type.Optional(Type.String({ pattern: INSTANT_PATTERN, description }));

/** A text that selects entities of a list. */
export const createFilterParameter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SEARCH_MAX_CHARACTERS, description }));

export const createCursorParameter = (description: string, maxLength = CURSOR_MAX_CHARACTERS) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

export const FORMAT: TProperties = {
  format: createChoiceParameter(
    FORMATS,
    "The format of the response. It takes precedence over the header Accept; without both, it is json.",
  ),
};

export const createListQuery = (sorts: readonly string[]): TProperties => ({
  limit: createIntegerParameter(LIST_LIMIT_RANGE, "Maximum entities returned."),
  cursor: createCursorParameter(
    "The nextCursor of the previous page, with the same sort, order and filters.",
    LIST_CURSOR_MAX_CHARACTERS,
  ),
  sort: createChoiceParameter(
    sorts,
    "The figure to sort by. A gain is the difference from the count so long before.",
    sorts[0],
  ),
  order: createChoiceParameter(
    LIST_ORDERS,
    "desc lists the greatest first. In both, unknown figures come last, and equal ones are in the " +
      "order of the identifiers.",
    LIST_ORDERS[0],
  ),
  search: createFilterParameter(
    "Only entities whose username or display name contains this text, in any case. A text of " +
      "one or two characters is compared with the beginning of the username.",
  ),
  ...FORMAT,
});

const createIdentifierParameter = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: IDENTIFIER_MAX_CHARACTERS,
    description: `${description} Percent-encoded, without control characters.`,
    examples: [example],
  });

export const PATH_PARAMETERS: Readonly<Record<string, TSchema>> = {
  channel: createIdentifierParameter(
    "The channel's identifier, or its username in any case. An identifier takes precedence.",
    "sevenminutesoup",
  ),
  short_id: createIdentifierParameter("The short's identifier.", "u7s9Y0J4Nnm"),
  username: createIdentifierParameter(
    "The username without the @ symbol, in any case.",
    "slowcompiler",
  ),
  tweet_id: createIdentifierParameter("The tweet's identifier.", "1720756077208628457"),
};
