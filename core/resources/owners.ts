/** Schemas of histories of every kind, and of batches and comparisons of channels and users. */
import * as Type from "@sinclair/typebox";
import { HISTORY_INTERVALS } from "../buckets.ts";
import { ENTITY_FIELDS, type EntityKind } from "../kinds.ts";
import { BATCH_MAX_NAMES } from "../limits.ts";
import {
  ChannelName,
  CountOrNull,
  createChoice,
  CursorPagination,
  describe,
  Identifier,
  Instant,
  ListName,
  ServiceError,
  strictObject,
  Username,
  VideoError,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createKindFields } from "./kind-fields.ts";
import { UserDetails } from "./microblog.ts";
import { ChannelDetails } from "./video.ts";

const Interval = createChoice(HISTORY_INTERVALS, "How the observations are grouped");

/** The time zone of the buckets; absent unless the request has one. */
export const OptionalZone: Type.TOptional<Type.TString> = Type.Optional(
  Type.String({ description: "The time zone of the buckets, as zone names it; without it, UTC" }),
);

const BucketStart = describe(
  Instant,
  "The start of the bucket; with the interval raw, the instant itself",
);

/** Creates the schemas of the fields of a page of a history, with the counts of its kind. */
function createPageFields<Kind extends EntityKind>(kind: Kind) {
  const { counts, changes } = createKindFields(kind);
  const bucket = strictObject({
    timestamp: BucketStart,
    observedAt: describe(Instant, "The newest observation of the bucket"),
    ...counts,
    change: strictObject(changes, {
      description:
        "Differences from the last known counts before the bucket, also before from; null if either is unknown",
    }),
  });
  const description =
    "Oldest first, each with the newest known value of each count; a bucket without an observation is not listed";
  return {
    interval: Interval,
    zone: OptionalZone,
    history: Type.Array(bucket, { description }),
    pagination: CursorPagination,
  };
}

/** The response of `GET /api/video/{channel}/history`. */
export const ChannelHistory: ResourceSchemas["ChannelHistory"] = strictObject({
  channel: ChannelName,
  ...createPageFields("channel"),
});

/** The response of `GET /api/video/{channel}/short/{short_id}/history`. */
export const ShortHistory: ResourceSchemas["ShortHistory"] = strictObject({
  channel: ChannelName,
  short_id: Type.String({ description: "Identifier of the short" }),
  ...createPageFields("short"),
});

/** The response of `GET /api/microblog/{username}/history`. */
export const UserHistory: ResourceSchemas["UserHistory"] = strictObject({
  username: Username,
  ...createPageFields("user"),
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/history`. */
export const TweetHistory: ResourceSchemas["TweetHistory"] = strictObject({
  username: Username,
  tweet_id: Type.String({ description: "Identifier of the tweet" }),
  ...createPageFields("tweet"),
});

const createNamesSchema = (description: string) =>
  Type.Array(Identifier, { minItems: 1, maxItems: BATCH_MAX_NAMES, description });

/** The body of a batch that has the names of a saved list. */
const ListBatchRequest = strictObject({ list: describe(ListName, "A saved list of the account") });

/** The body of `POST /api/video/details`. */
export const ChannelBatchRequest: ResourceSchemas["ChannelBatchRequest"] = Type.Union([
  strictObject({
    channels: createNamesSchema("Identifiers, or usernames in any case; a name can be repeated"),
  }),
  ListBatchRequest,
]);

/** The body of `POST /api/microblog/details`. */
export const UserBatchRequest: ResourceSchemas["UserBatchRequest"] = Type.Union([
  strictObject({
    usernames: createNamesSchema("Usernames without the @ symbol, in any case; may be repeated"),
  }),
  ListBatchRequest,
]);

const NAME = Type.String({ description: "As the request has it" });

/** Creates the schema of results by name: the fields of a found entity, or the error of a 404. */
const createNamedSchema = <
  Found extends Record<string, Type.TSchema>,
  NotFound extends Type.TSchema,
>(
  found: Found,
  error: NotFound,
) =>
  Type.Array(
    Type.Union([
      strictObject({ name: NAME, found: Type.Literal(true), ...found }),
      strictObject({ name: NAME, found: Type.Literal(false), error }),
    ]),
    { description: "In the order of the request; error is the body of the 404 of a single read" },
  );

/** The response of `POST /api/video/details`. */
export const ChannelBatch: ResourceSchemas["ChannelBatch"] = strictObject({
  results: createNamedSchema({ details: ChannelDetails }, VideoError),
});

/** The response of `POST /api/microblog/details`. */
export const UserBatch: ResourceSchemas["UserBatch"] = strictObject({
  results: createNamedSchema({ details: UserDetails }, ServiceError),
});

/** The fields that the comparisons of all kinds have after their entities. */
const TABLE_FIELDS = {
  rows: Type.Array(
    strictObject({
      timestamp: BucketStart,
      values: Type.Array(CountOrNull, {
        description:
          "In the order of the entities, the newest known value in the bucket; null if there is none",
      }),
    }),
    { description: "Oldest first; a bucket without any observation is not listed" },
  ),
  pagination: CursorPagination,
};

/** The response of `GET /api/video/compare`. */
export const ChannelComparison: ResourceSchemas["ChannelComparison"] = strictObject({
  count: createChoice(ENTITY_FIELDS.channel.counts, "The count that is compared"),
  interval: Interval,
  zone: OptionalZone,
  channels: createNamedSchema({ channel: ChannelName }, VideoError),
  ...TABLE_FIELDS,
});

/** The response of `GET /api/microblog/compare`. */
export const UserComparison: ResourceSchemas["UserComparison"] = strictObject({
  count: createChoice(ENTITY_FIELDS.user.counts, "The count that is compared"),
  interval: Interval,
  zone: OptionalZone,
  users: createNamedSchema({ username: Username }, ServiceError),
  ...TABLE_FIELDS,
});
