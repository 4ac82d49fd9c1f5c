/** The parameters of requests as schemas, with the limits that their parsers enforce. */
import { Type, type TObject, type TProperties, type TSchema } from "@sinclair/typebox";
import { HISTORY_INTERVALS } from "../../../core/buckets.ts";
import { ENTITY_FIELDS } from "../../../core/kinds.ts";
import { CHANNEL_SORTS, LIST_ORDERS, USER_SORTS } from "../../../core/lists.ts";
import {
  HISTORY_CURSOR_MAX_CHARACTERS,
  HISTORY_DEFAULT_DAYS,
} from "../../../core/history-request.ts";
import {
  COMPARISON_MAX_NAMES,
  DAYS_FILTER_RANGE,
  FREE_REPEATS_MAX,
  HISTORY_LIMIT_RANGE,
  LIST_LIMIT_RANGE,
  SEARCH_MAX_CHARACTERS,
  IDENTIFIER_MAX_CHARACTERS,
  PAGE_LIMIT_RANGE,
  PAGE_NUMBER_RANGE,
  SHORTS_LIMIT_RANGE,
  USAGE_DAYS_RANGE,
  type IntegerRange,
} from "../../../core/limits.ts";
import { FOLDED_IDENTIFIER_MAX_CHARACTERS } from "../../../core/text.ts";
import { INSTANT_PATTERN } from "../../../core/time.ts";
import { USAGE_GROUPINGS } from "../../../core/usage.ts";
import { REQUEST_ID_PATTERN } from "../admission.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../reads/charge.ts";
import { FORMATS } from "../content/csv.ts";

/** Four characters for each three bytes of JSON: a character of an identifier has up to four. */
const CURSOR_MAX_CHARACTERS = Math.ceil((4 / 3) * (100 + 4 * FOLDED_IDENTIFIER_MAX_CHARACTERS));

/** JSON has up to six bytes for each character of `search` and `country`. */
const LIST_CURSOR_MAX_CHARACTERS = CURSOR_MAX_CHARACTERS + 8 * 2 * SEARCH_MAX_CHARACTERS;

function createIntegerSchema(range: IntegerRange, description: string) {
  const { min: minimum, max: maximum, default: initial } = range;
  return Type.Integer({ minimum, maximum, default: initial, description });
}

function createChoiceSchema<Choice extends string>(
  choices: readonly Choice[],
  options: { readonly default?: Choice | undefined; readonly description: string },
) {
  return Type.Unsafe<Choice>({ type: "string", enum: choices, ...options });
}

/** Parameters that can all be left out. */
function createOptional<Properties extends TProperties>(properties: Properties) {
  return Type.Partial(Type.Object(properties));
}

function createIdentifierSchema(description: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: IDENTIFIER_MAX_CHARACTERS,
    description: `${description} Percent-encoded, without control characters.`,
    examples: [example],
  });
}

/** The parameters in paths, by name. */
export const PATH_PARAMETERS: Readonly<Record<string, TSchema>> = {
  channel: createIdentifierSchema(
    "The channel's identifier, or its username in any case. An identifier takes precedence.",
    "sevenminutesoup",
  ),
  short_id: createIdentifierSchema("The short's identifier.", "u7s9Y0J4Nnm"),
  username: createIdentifierSchema(
    "The username without the @ symbol, in any case.",
    "slowcompiler",
  ),
  tweet_id: createIdentifierSchema("The tweet's identifier.", "1720756077208628457"),
};

/** The parameter of the operations that have CSV. */
const FORMAT = {
  format: createChoiceSchema(FORMATS, {
    description:
      "The format of the response. It takes precedence over the header Accept; without both, it " +
      "is json.",
  }),
};

/** The query of a page of shorts. */
const ShortsQuery = createOptional({
  limit: createIntegerSchema(SHORTS_LIMIT_RANGE, "Maximum shorts returned."),
  before: Type.String({
    pattern: INSTANT_PATTERN,
    description:
      "Only shorts published before this date (midnight UTC) or date-time (UTC without a zone).",
  }),
  cursor: Type.String({
    minLength: 1,
    maxLength: CURSOR_MAX_CHARACTERS,
    description: "The nextCursor of the previous page. It combines with before.",
  }),
  ...FORMAT,
});

const createListQuery = <Sort extends string>(sorts: readonly Sort[]) =>
  createOptional({
    limit: createIntegerSchema(LIST_LIMIT_RANGE, "Maximum entities returned."),
    cursor: Type.String({
      minLength: 1,
      maxLength: LIST_CURSOR_MAX_CHARACTERS,
      description: "The nextCursor of the previous page, with the same sort, order and filters.",
    }),
    sort: createChoiceSchema(sorts, {
      default: sorts[0],
      description: "The figure to sort by. A gain is the difference from the count so long before.",
    }),
    order: createChoiceSchema(LIST_ORDERS, {
      default: LIST_ORDERS[0],
      description:
        "desc lists the greatest first. In both, unknown figures come last, and equal ones are in the " +
        "order of the identifiers.",
    }),
    search: Type.String({
      minLength: 1,
      maxLength: SEARCH_MAX_CHARACTERS,
      description:
        "Only entities whose username or display name contains this text, in any case. A text of " +
        "one or two characters is compared with the beginning of the username.",
    }),
    ...FORMAT,
  });

/** The query of the list of channels. */
const ChannelListQuery = Type.Object({
  ...createListQuery(CHANNEL_SORTS).properties,
  country: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SEARCH_MAX_CHARACTERS,
      description: "Only channels of this country, in any case.",
    }),
  ),
});

/** The query of the list of users. */
const UserListQuery = createListQuery(USER_SORTS);

/** What selects the buckets of a history or a comparison. */
const BUCKETS = {
  from: Type.String({
    pattern: INSTANT_PATTERN,
    description: `An instant of the first bucket, which is listed whole, as a date or date-time. It defaults to ${HISTORY_DEFAULT_DAYS} days before to, or before now.`,
  }),
  to: Type.String({
    pattern: INSTANT_PATTERN,
    description:
      "The instant after the last one, whose bucket is listed whole. Without it, the history goes to its newest observation.",
  }),
  interval: createChoiceSchema(HISTORY_INTERVALS, {
    default: "day",
    description: "How observations are grouped, in UTC; raw lists each. A week begins on Monday.",
  }),
  limit: createIntegerSchema(HISTORY_LIMIT_RANGE, "Maximum buckets returned."),
  cursor: Type.String({
    minLength: 1,
    maxLength: HISTORY_CURSOR_MAX_CHARACTERS,
    description: "The nextCursor of the previous page, with the same interval.",
  }),
};

/** The query of a history. */
const HistoryQuery = createOptional({ ...BUCKETS, ...FORMAT });

const createNamesSchema = (example: string) =>
  Type.String({
    minLength: 1,
    maxLength: COMPARISON_MAX_NAMES * (IDENTIFIER_MAX_CHARACTERS + 1),
    description: `1 to ${COMPARISON_MAX_NAMES} names, separated by commas.`,
    examples: [example],
  });

/** What a comparison has besides its names. */
const createComparisonQuery = <Count extends string>(counts: readonly Count[]) =>
  createOptional({
    count: createChoiceSchema(counts, {
      default: counts[0],
      description: "The count that is compared.",
    }),
    ...BUCKETS,
  });

/** The query of a page of tweets or follower counts. */
const PageQuery = createOptional({
  days: createIntegerSchema(DAYS_FILTER_RANGE, "Days to filter by, back from now."),
  page: createIntegerSchema(PAGE_NUMBER_RANGE, "Page number, 0-based."),
  limit: createIntegerSchema(PAGE_LIMIT_RANGE, "Items per page."),
});

/** The query of an account's usage. */
const UsageQuery = createOptional({
  from: Type.String({
    format: "date",
    maxLength: 10,
    description: `The first day, UTC. It defaults to ${USAGE_DAYS_RANGE.default - 1} days before the last.`,
  }),
  to: Type.String({
    format: "date",
    maxLength: 10,
    description: "The last day, UTC. It defaults to today.",
  }),
  by: Type.String({
    minLength: 1,
    maxLength: 20,
    description:
      `How the usage is grouped: one or more of ${USAGE_GROUPINGS.join(", ")}, separated by commas, but ` +
      "not both day and hour. Only groups with use are listed.",
  }),
});

const FollowersQuery = createOptional({ ...PageQuery.properties, ...FORMAT });

/** The queries by `operationId`. Eden takes their types from here. */
export const QUERIES = {
  listChannels: ChannelListQuery,
  listShorts: ShortsQuery,
  getChannelHistory: HistoryQuery,
  getShortHistory: HistoryQuery,
  compareChannels: Type.Object({
    channels: createNamesSchema("sevenminutesoup,nobody"),
    ...createComparisonQuery(ENTITY_FIELDS.channel.counts).properties,
  }),
  listUsers: UserListQuery,
  compareUsers: Type.Object({
    usernames: createNamesSchema("slowcompiler,nobody"),
    ...createComparisonQuery(ENTITY_FIELDS.user.counts).properties,
  }),
  getUserHistory: HistoryQuery,
  getTweetHistory: HistoryQuery,
  listTweets: PageQuery,
  listFollowers: FollowersQuery,
  getAccount: UsageQuery,
} satisfies Readonly<Record<string, TObject>>;

const NO_QUERY = Type.Object({});

/** The query of an operation. */
export function findQuery(operationId: string): TObject {
  const queries: Readonly<Record<string, TObject>> = QUERIES;
  return queries[operationId] ?? NO_QUERY;
}

/** The header that every request may have. */
export const CommonHeaders: TObject = createOptional({
  "X-Request-Id": Type.String({
    pattern: REQUEST_ID_PATTERN.source,
    description: "Your identifier of the request. The response repeats it, or has a new one.",
  }),
});

/** The headers that a charged read may have. */
export const ChargedReadHeaders: TObject = createOptional({
  "If-None-Match": Type.String({
    maxLength: 4096,
    description:
      "The ETag of the response that you have: 304 if it is still current, at the same cost.",
  }),
  "Idempotency-Key": Type.String({
    pattern: IDEMPOTENCY_KEY_PATTERN.source,
    description:
      "A key of your choice. The first request with it is charged, and within 24 hours up to " +
      `${FREE_REPEATS_MAX} repeats are free, so a retry costs nothing; the next one is charged ` +
      "again. With another URL or body it is 400.",
  }),
});
