/** Schemas of `/api/microblog`. */
import * as Type from "@sinclair/typebox";
import type * as resources from "../resources/microblog.ts";
import { DAYS_FILTER_RANGE, PAGE_LIMIT_RANGE } from "../limits.ts";
import {
  CountChange,
  strictObject,
  Count,
  CountOrNull,
  CursorPagination,
  createHistorySchema,
  Instant,
  InstantOrNull,
  LinkOrNull,
  nullable,
  TextOrNull,
} from "./fields.ts";
import type { ObjectSchema } from "./object-schema.ts";

/** The place of a page in its listing. */
export const Pagination: ObjectSchema<resources.Pagination> = strictObject({
  page: Type.Integer({ minimum: 0, description: "0-based" }),
  limit: Type.Integer({ minimum: PAGE_LIMIT_RANGE.min, maximum: PAGE_LIMIT_RANGE.max }),
  total: Type.Integer({ minimum: 0, description: "Items that the days filter selects" }),
  page_count: Type.Integer({ minimum: 0 }),
  has_more: Type.Boolean(),
});

const FilterDays = Type.Integer({
  minimum: DAYS_FILTER_RANGE.min,
  maximum: DAYS_FILTER_RANGE.max,
  description: "The days filter applied",
});

/** The response of `GET /api/microblog/{username}/details`. */
export const UserDetails: ObjectSchema<resources.UserDetails> = strictObject({
  username: Type.String(),
  displayName: TextOrNull,
  followers_count: CountOrNull,
  following_count: CountOrNull,
  tweet_count: CountOrNull,
  profile_image_url: LinkOrNull,
  description: TextOrNull,
  created_at: InstantOrNull,
  verified: nullable(Type.Boolean()),
});

/** The fields of a user in the list of users. */
export const UserSummary: ObjectSchema<resources.UserSummary> = strictObject({
  username: Type.String(),
  displayName: TextOrNull,
  followers_count: CountOrNull,
  following_count: CountOrNull,
  tweet_count: CountOrNull,
  profile_image_url: LinkOrNull,
  verified: nullable(Type.Boolean()),
});

const ChangeOrNull = nullable(CountChange);

/** An element of a page of users: a summary, and the figure that the page is sorted by. */
export const ListedUser: ObjectSchema<resources.ListedUser> = strictObject({
  ...UserSummary.properties,
  dailyGain: Type.Optional(ChangeOrNull),
  weeklyGain: Type.Optional(ChangeOrNull),
  monthlyGain: Type.Optional(ChangeOrNull),
});

/** The response of `GET /api/microblog/users`. */
export const UserList: ObjectSchema<resources.UserList> = strictObject({
  users: Type.Array(ListedUser),
  pagination: CursorPagination,
});

/** A value of the `tweets` map of a page of tweets. */
export const TweetRecord: ObjectSchema<resources.TweetRecord> = strictObject({
  created_at: Instant,
  metrics: Type.Array(
    strictObject({
      likes: CountOrNull,
      replies: CountOrNull,
      retweets: CountOrNull,
      views: CountOrNull,
      timestamp: Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}$",
        description: "UTC, without a zone suffix",
      }),
    }),
    { description: "Oldest first" },
  ),
  text: TextOrNull,
  timestamp: Type.Unsafe<string>({ ...Instant, description: "When the tweet was last observed" }),
  url: LinkOrNull,
});

/** The response of `GET /api/microblog/{username}/tweets`, newest first. */
export const TweetsPage: ObjectSchema<resources.TweetsPage> = strictObject({
  username: Type.String(),
  tweets: Type.Record(Type.String(), TweetRecord, { description: "By tweet identifier" }),
  filter_days: FilterDays,
  pagination: Pagination,
});

/** The response of `GET /api/microblog/{username}/followers`, newest first. */
export const FollowersPage: ObjectSchema<resources.FollowersPage> = strictObject({
  username: Type.String(),
  followers: strictObject({
    USER: strictObject({
      metrics: Type.Array(
        strictObject({
          followers: Count,
          change: Type.Unsafe<number>({
            ...CountChange,
            description: "Difference from the count before; 0 for the first",
          }),
          timestamp: Instant,
        }),
      ),
    }),
  }),
  filter_days: FilterDays,
  pagination: Pagination,
});

/** The response of `GET /api/microblog/{username}/tweet/{tweet_id}`. */
export const TweetDetails: ObjectSchema<resources.TweetDetails> = strictObject({
  username: Type.String(),
  tweet_id: Type.String(),
  tweet: strictObject({
    id: Type.String(),
    text: TextOrNull,
    created_at: Instant,
    metrics: strictObject({
      impressions: CountOrNull,
      likes: CountOrNull,
      retweets: CountOrNull,
      replies: CountOrNull,
      quotes: CountOrNull,
    }),
    history: createHistorySchema({
      impressions: CountOrNull,
      likes: CountOrNull,
      retweets: CountOrNull,
    }),
  }),
});
