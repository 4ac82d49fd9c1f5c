/** Schemas of the histories of channels, shorts, users and tweets. */
import * as Type from "@sinclair/typebox";
import type { EntityKind } from "../kinds.ts";
import {
  BucketStart,
  ChannelName,
  CursorPagination,
  describe,
  Instant,
  Interval,
  strictObject,
  Username,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createKindFields } from "./kind-fields.ts";

/** Creates the fields that a page of the history of any kind has. */
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
