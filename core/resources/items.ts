/** Response schemas of batches and comparisons of shorts and tweets, which are found by identifier. */
import * as Type from "@sinclair/typebox";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { ENTITY_FIELDS } from "../kinds.ts";
import { BATCH_MAX_NAMES } from "../limits.ts";
import {
  ChannelName,
  CountOrNull,
  createChoice,
  CursorPagination,
  describe,
  Identifier,
  Instant,
  ServiceError,
  strictObject,
  Username,
  VideoError,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createKindFields } from "./kind-fields.ts";
import { TweetDetails } from "./microblog.ts";
import { OptionalZone } from "./owners.ts";
import { ShortDetails } from "./video.ts";

const short = createKindFields("short");
const tweet = createKindFields("tweet");

/** The body of `POST /api/video/shorts` and `POST /api/microblog/tweets`. */
export const ItemBatchRequest: ResourceSchemas["ItemBatchRequest"] = strictObject({
  ids: Type.Array(Identifier, {
    minItems: 1,
    maxItems: BATCH_MAX_NAMES,
    description: "Identifiers; one can be repeated",
  }),
});

const ID = Type.String({ description: "As the request has it" });

/** Creates the schema of results by identifier: the fields of a found item, or an error. */
const createResultsSchema = <
  Found extends Record<string, Type.TSchema>,
  NotFound extends Type.TSchema,
>(
  found: Found,
  error: NotFound,
) =>
  Type.Array(
    Type.Union([
      strictObject({ id: ID, found: Type.Literal(true), ...found }),
      strictObject({ id: ID, found: Type.Literal(false), error }),
    ]),
    { description: "In the order of the request" },
  );

/** The response of `POST /api/video/shorts`. */
export const ShortBatch: ResourceSchemas["ShortBatch"] = strictObject({
  results: createResultsSchema({ channel: ChannelName, details: ShortDetails }, VideoError),
});

/** The response of `POST /api/microblog/tweets`. */
export const TweetBatch: ResourceSchemas["TweetBatch"] = strictObject({
  results: createResultsSchema({ details: TweetDetails }, ServiceError),
});

const createValues = () =>
  Type.Array(CountOrNull, {
    description:
      "In the order of the items, the newest known value in the row; null if there is none",
  });

const ByDate = {
  by: Type.Literal("date"),
  interval: createChoice(HISTORY_INTERVALS, "How the observations are grouped"),
  zone: OptionalZone,
};

const DateRows = {
  rows: Type.Array(
    strictObject({
      timestamp: describe(Instant, "The start of the bucket; with raw, the instant itself"),
      values: createValues(),
    }),
    { description: "Oldest first; a bucket without any observation is not listed" },
  ),
  pagination: CursorPagination,
};

const ByAge = {
  by: Type.Literal("age"),
  step: Type.Integer({ minimum: 1, maximum: 24, description: "The hours of a row" }),
};

const AgeRows = {
  rows: Type.Array(
    strictObject({
      hours: Type.Integer({
        minimum: 0,
        description: "The hours since the publication at which the row begins",
      }),
      values: createValues(),
    }),
    { description: "By ascending hours; a row without any known value is not listed" },
  ),
  pagination: CursorPagination,
};

const ShortCount = createChoice(ENTITY_FIELDS.short.counts, "The count that is compared");

const Shorts = createResultsSchema(
  {
    channel: ChannelName,
    title: short.attributes.title,
    publishedAt: describe(Instant, "When the short was published"),
  },
  VideoError,
);

/** The response of `GET /api/video/compare-shorts`, by date or by hours since the publication. */
export const ShortComparison: ResourceSchemas["ShortComparison"] = Type.Union([
  strictObject({ count: ShortCount, ...ByDate, shorts: Shorts, ...DateRows }),
  strictObject({ count: ShortCount, ...ByAge, shorts: Shorts, ...AgeRows }),
]);

const TweetCount = createChoice(ENTITY_FIELDS.tweet.counts, "The count that is compared");

const Tweets = createResultsSchema(
  {
    username: Username,
    text: tweet.attributes.text,
    created_at: describe(Instant, "When the tweet was created"),
  },
  ServiceError,
);

/** The response of `GET /api/microblog/compare-tweets`, by date or by hours since the creation. */
export const TweetComparison: ResourceSchemas["TweetComparison"] = Type.Union([
  strictObject({ count: TweetCount, ...ByDate, tweets: Tweets, ...DateRows }),
  strictObject({ count: TweetCount, ...ByAge, tweets: Tweets, ...AgeRows }),
]);
