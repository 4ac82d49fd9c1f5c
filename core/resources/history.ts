/** Schemas of the histories of channels, shorts, users and tweets. */
import * as Type from "@sinclair/typebox";
import {
  BucketStart,
  ChannelName,
  describe,
  Instant,
  Interval,
  strictObject,
  Username,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createKindFields } from "./kind-fields.ts";
import { CursorPagination } from "./pagination.ts";

/** Creates the fields that a page of the history of any kind has. */
const createPageFields = <
  Counts extends Type.TProperties,
  Changes extends Type.TProperties,
>(fields: {
  readonly counts: Counts;
  readonly changes: Changes;
}) => ({
  interval: Interval,
  history: Type.Array(
    strictObject({
      timestamp: BucketStart,
      observedAt: describe(Instant, "The newest observation of the bucket"),
      ...fields.counts,
      change: strictObject(fields.changes, {
        description:
          "Differences from the last known counts before the bucket, also before from; null if either is unknown",
      }),
    }),
    {
      description:
        "Oldest first, each with the newest known value of each count; a bucket without an observation is not listed",
    },
  ),
  pagination: CursorPagination,
});

const channel = createKindFields("channel");
const short = createKindFields("short");
const user = createKindFields("user");
const tweet = createKindFields("tweet");

/** The counts of a channel; `null` if no source reported them. */
export const ChannelCounts: ResourceSchemas["ChannelCounts"] = strictObject(channel.counts);

/** The counts of a short; `null` if no source reported them. */
export const ShortCounts: ResourceSchemas["ShortCounts"] = strictObject(short.counts);

/** The counts of a user; `null` if no source reported them. */
export const UserCounts: ResourceSchemas["UserCounts"] = strictObject(user.counts);

/** The counts of a tweet; `null` if no source reported them. */
export const TweetCounts: ResourceSchemas["TweetCounts"] = strictObject(tweet.counts);

/** The response of `GET /api/video/{channel}/history`. */
export const ChannelHistory: ResourceSchemas["ChannelHistory"] = strictObject({
  channel: ChannelName,
  ...createPageFields(channel),
});

/** The response of `GET /api/video/{channel}/short/{short_id}/history`. */
export const ShortHistory: ResourceSchemas["ShortHistory"] = strictObject({
  channel: ChannelName,
  short_id: Type.String({ description: "Identifier of the short" }),
  ...createPageFields(short),
});

/** The response of `GET /api/microblog/{username}/history`. */
export const UserHistory: ResourceSchemas["UserHistory"] = strictObject({
  username: Username,
  ...createPageFields(user),
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}/history`. */
export const TweetHistory: ResourceSchemas["TweetHistory"] = strictObject({
  username: Username,
  tweet_id: Type.String({ description: "Identifier of the tweet" }),
  ...createPageFields(tweet),
});
