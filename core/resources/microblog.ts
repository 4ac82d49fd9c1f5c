/** Response schemas of `/api/microblog`. `owners.ts` has histories, batches and comparisons. */
import * as Type from "@sinclair/typebox";
import { DAYS_FILTER_RANGE } from "../limits.ts";
import {
  Count,
  CountChange,
  createHistorySchema,
  CursorPagination,
  describe,
  Instant,
  Pagination,
  strictObject,
  Username,
} from "./fields.ts";
import type { ResourceSchemas } from "./generated/schemas.ts";
import { createGainSchemas, createKindFields } from "./kind-fields.ts";

const { attributes, counts } = createKindFields("user");
const tweet = createKindFields("tweet");

const FilterDays = Type.Integer({
  minimum: DAYS_FILTER_RANGE.min,
  maximum: DAYS_FILTER_RANGE.max,
  description: "The days filter applied",
});

/** A user in the list of users. */
export const UserSummary: ResourceSchemas["UserSummary"] = strictObject({
  username: Username,
  displayName: attributes.displayName,
  ...counts,
  profile_image_url: attributes.profile_image_url,
  verified: attributes.verified,
});

/** The response of `GET /api/microblog/{username}/details`. */
export const UserDetails: ResourceSchemas["UserDetails"] = strictObject({
  username: Username,
  displayName: attributes.displayName,
  ...counts,
  profile_image_url: attributes.profile_image_url,
  description: attributes.description,
  created_at: attributes.created_at,
  verified: attributes.verified,
});

/** A user in a page of users: a summary, and the figure that the page is sorted by. */
export const ListedUser: ResourceSchemas["ListedUser"] = strictObject({
  ...UserSummary.properties,
  ...createGainSchemas("user"),
});

/** The response of `GET /api/microblog/users`. */
export const UserList: ResourceSchemas["UserList"] = strictObject({
  users: Type.Array(ListedUser, { description: "The users of the page" }),
  pagination: CursorPagination,
});

const { impressions, ...reactions } = tweet.counts;
const { likes, retweets, replies } = reactions;

/** A tweet in a page of tweets. */
export const TweetRecord: ResourceSchemas["TweetRecord"] = strictObject({
  created_at: describe(Instant, "When the tweet was created"),
  metrics: Type.Array(
    strictObject({
      likes,
      replies,
      retweets,
      views: impressions,
      timestamp: Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}$",
        description: "UTC, without a zone suffix",
      }),
    }),
    { description: "Oldest first" },
  ),
  text: tweet.attributes.text,
  timestamp: describe(Instant, "When the tweet was last observed"),
  url: tweet.attributes.url,
});

// `Type.Record()` would add a third to a bundle: it parses patterns.
const TweetRecords = Type.Unsafe<Record<string, Type.Static<typeof TweetRecord>>>({
  [Type.Kind]: "Record",
  type: "object",
  description: "By tweet identifier",
  patternProperties: { "^(.*)$": TweetRecord },
});

/**
 * The response of `GET /api/microblog/{username}/tweets`, newest first. JavaScript lists
 * identifiers that are whole numbers below 2^32 - 1 before all others, in ascending order.
 */
export const TweetsPage: ResourceSchemas["TweetsPage"] = strictObject({
  username: Username,
  tweets: TweetRecords,
  filter_days: FilterDays,
  pagination: Pagination,
});

/** The response of `GET /api/microblog/{username}/followers`, newest first. */
export const FollowersPage: ResourceSchemas["FollowersPage"] = strictObject({
  username: Username,
  followers: strictObject(
    {
      USER: strictObject({
        metrics: Type.Array(
          strictObject({
            followers: Count,
            change: describe(CountChange, "Difference from the count before; 0 for the first"),
            timestamp: Instant,
          }),
        ),
      }),
    },
    { description: "The follower counts of the page" },
  ),
  filter_days: FilterDays,
  pagination: Pagination,
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}`. */
export const TweetDetails: ResourceSchemas["TweetDetails"] = strictObject({
  username: Username,
  tweet_id: Type.String({ description: "Identifier of the tweet" }),
  tweet: strictObject(
    {
      id: tweet.attributes.id,
      text: tweet.attributes.text,
      created_at: describe(Instant, "When the tweet was created"),
      metrics: strictObject({ impressions, ...reactions }, { description: "The newest counts" }),
      history: createHistorySchema({ impressions, likes, retweets }),
    },
    { description: "The tweet" },
  ),
});
