/** The resources and pages of the microblog interface. */
import { Type, type Static } from "@sinclair/typebox";
import { DAYS, PAGE_LIMIT } from "../limits.ts";
import {
  Change,
  closed,
  Count,
  CountOrNull,
  Instant,
  InstantOrNull,
  LinkOrNull,
  nullable,
  TextOrNull,
} from "./fields.ts";

/** Where a page stands in its listing. */
export const Pagination = closed({
  page: Type.Integer({ minimum: 0, description: "0-based" }),
  limit: Type.Integer({ minimum: PAGE_LIMIT.min, maximum: PAGE_LIMIT.max }),
  total: Type.Integer({ minimum: 0, description: "Items that the filter selects" }),
  page_count: Type.Integer({ minimum: 0 }),
  has_more: Type.Boolean(),
});
export type Pagination = Static<typeof Pagination>;

const FilterDays = Type.Integer({
  minimum: DAYS.min,
  maximum: DAYS.max,
  description: "The days filter applied",
});

/** The answer of `GET /api/microblog/{username}/details`. */
export const UserDetails = closed({
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
export type UserDetails = Static<typeof UserDetails>;

/** A value of the `tweets` map of a page of tweets. */
export const TweetRecord = closed({
  created_at: Instant,
  metrics: Type.Array(
    closed({
      likes: CountOrNull,
      replies: CountOrNull,
      retweets: CountOrNull,
      views: CountOrNull,
      timestamp: Type.String({
        pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}$",
        description: "UTC, written without a zone",
      }),
    }),
    { description: "Oldest first" },
  ),
  text: TextOrNull,
  timestamp: Type.String({
    format: "date-time",
    description: "The time of the newest observation",
  }),
  url: LinkOrNull,
});
export type TweetRecord = Static<typeof TweetRecord>;

/** The answer of `GET /api/microblog/{username}/tweets`: newest first. */
export const TweetsPage = closed({
  username: Type.String(),
  tweets: Type.Record(Type.String(), TweetRecord, { description: "By tweet identifier" }),
  filter_days: FilterDays,
  pagination: Pagination,
});
export type TweetsPage = Static<typeof TweetsPage>;

/** The answer of `GET /api/microblog/{username}/followers`: newest first. */
export const FollowersPage = closed({
  username: Type.String(),
  followers: closed({
    USER: closed({
      metrics: Type.Array(
        closed({
          followers: Count,
          change: Type.Unsafe<number>({
            ...Change,
            description: "Since the count known just before; 0 for the first",
          }),
          timestamp: Instant,
        }),
      ),
    }),
  }),
  filter_days: FilterDays,
  pagination: Pagination,
});
export type FollowersPage = Static<typeof FollowersPage>;

/** The answer of `GET /api/microblog/{username}/tweet/{tweet_id}`. */
export const TweetDetails = closed({
  username: Type.String(),
  tweet_id: Type.String(),
  tweet: closed({
    id: Type.String(),
    text: TextOrNull,
    created_at: Instant,
    metrics: closed({
      impressions: CountOrNull,
      likes: CountOrNull,
      retweets: CountOrNull,
      replies: CountOrNull,
      quotes: CountOrNull,
    }),
    history: Type.Array(
      closed({
        timestamp: Instant,
        impressions: CountOrNull,
        likes: CountOrNull,
        retweets: CountOrNull,
      }),
      { description: "Oldest first" },
    ),
  }),
});
export type TweetDetails = Static<typeof TweetDetails>;
