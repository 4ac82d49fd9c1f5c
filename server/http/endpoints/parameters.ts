/** Schemas of parameters that several endpoints have, with the limits of their parsers. */
import { Type, type TProperties, type TSchema } from "@sinclair/typebox";
import { COLUMNS } from "../../../core/columns.ts";
import type { EntityKind, OwnerKind } from "../../../core/kinds.ts";
import {
  IDENTIFIER_MAX_CHARACTERS,
  INTEGER_MAX,
  LIST_LIMIT_RANGE,
  LIST_NAME_MAX_CHARACTERS,
  SEARCH_MAX_CHARACTERS,
  ZONE_MAX_CHARACTERS,
  type IntegerRange,
} from "../../../core/limits.ts";
import { LIST_ORDERS } from "../../../core/lists.ts";
import { SORTS } from "../../../core/list-sorts.ts";
import { FOLDED_IDENTIFIER_MAX_CHARACTERS } from "../../../core/text.ts";
import { INSTANT_PATTERN } from "../../../core/time.ts";
import { ZONE_PATTERN } from "../../../core/zones.ts";
import { FORMATS } from "../content/csv.ts";

/** Base64 has four characters for three bytes of JSON, and JSON up to four bytes a character. */
const CURSOR_MAX_CHARACTERS = Math.ceil((4 / 3) * (100 + 4 * FOLDED_IDENTIFIER_MAX_CHARACTERS));

/** JSON has up to six bytes for each character of `search`, `country` and `list`; 60 for numbers. */
const LIST_CURSOR_MAX_CHARACTERS =
  CURSOR_MAX_CHARACTERS + 8 * (2 * SEARCH_MAX_CHARACTERS + LIST_NAME_MAX_CHARACTERS) + 80;

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

export const createZoneParameter = (description: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: ZONE_MAX_CHARACTERS,
      pattern: ZONE_PATTERN,
      description: `${description} An IANA name that the service knows, in any case, and no offset; UTC without it.`,
      examples: ["Europe/Lisbon"],
    }),
  );

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

/** The name of a saved list, in place of names. */
export const createSavedListParameter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: LIST_NAME_MAX_CHARACTERS, description }));

/** The error of a request whose saved list does not exist. It is free. */
export const LIST_ERROR = { "List Not Found": "List nothing not found" } as const;

/** The names of columns, separated by commas. */
export const createFieldsParameter = (kind: EntityKind, description: string) => {
  const columns = COLUMNS[kind];
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: columns.join().length,
      description: `${description} Names: ${columns.join(", ")}.`,
    }),
  );
};

/** The least main count of a list. */
export const createFloorParameter = (count: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: INTEGER_MAX,
      description: `Only those with at least so many ${count}.`,
    }),
  );

export const LIST_CURSOR = createCursorParameter(
  "The nextCursor of the previous page, with the same sort, order and filters.",
  LIST_CURSOR_MAX_CHARACTERS,
);

export const ORDER = createChoiceParameter(
  LIST_ORDERS,
  "desc lists the greatest first. In both, unknown figures come last, and equal ones are in the " +
    "order of the identifiers.",
  LIST_ORDERS[0],
);

export const createListQuery = (kind: OwnerKind): TProperties => ({
  limit: createIntegerParameter(LIST_LIMIT_RANGE, "Maximum entities returned."),
  cursor: LIST_CURSOR,
  sort: createChoiceParameter(
    SORTS[kind],
    "The figure to sort by. A gain is the difference from the count so long before.",
    SORTS[kind][0],
  ),
  order: ORDER,
  search: createFilterParameter(
    "Only entities whose username or display name contains this text, in any case. A text of " +
      "one or two characters is compared with the beginning of the username.",
  ),
  fields: createFieldsParameter(
    kind,
    "The columns of a row, separated by commas; then `limit` is at most 100. A trend is a list of " +
      "days with their known values; in CSV one column, `2026-11-20:7 2026-11-21:9`.",
  ),
  list: createSavedListParameter(
    "Only entities of this saved list of the account, in any case. The key needs the scope lists.",
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
  list: Type.String({
    minLength: 1,
    maxLength: LIST_NAME_MAX_CHARACTERS,
    description:
      "The name of the list in any case. Percent-encoded, without control characters, spaces at its " +
      "ends, and not . or ..",
    examples: ["Rivals"],
  }),
  tweet_id: createIdentifierParameter("The tweet's identifier.", "1720756077208628457"),
};
