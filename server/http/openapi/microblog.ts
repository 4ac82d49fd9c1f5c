/** The microblog interface as the reference describes it. */
import { DAYS_FILTER, PAGE_NUMBER, PAGE_LIMIT } from "../../../core/limits.ts";
import {
  describeBadParameter,
  describeOperation,
  describePathParameter,
  describeQueryParameter,
  createIntegerSchema,
  type ErrorExample,
} from "./operation.ts";

const USERNAME_PARAMETER = describePathParameter(
  "username",
  "The username without the @ symbol, regardless of case.",
  "slowcompiler",
);

const PAGE_PARAMETERS = [
  describeQueryParameter(
    "days",
    "Days to filter by, back from now.",
    createIntegerSchema(DAYS_FILTER),
  ),
  describeQueryParameter("page", "Page number, 0-based.", createIntegerSchema(PAGE_NUMBER)),
  describeQueryParameter("limit", "Items per page.", createIntegerSchema(PAGE_LIMIT)),
];

const USER_NOT_FOUND: ErrorExample = ["User Not Found", "User nobody not found"];

const BAD_USERNAME = describeBadParameter("username");

const createPageErrors = (items: string): readonly ErrorExample[] => [
  ["Invalid Pagination Parameters", 'days must be a whole number from 1 to 14, got "15"'],
  BAD_USERNAME,
  USER_NOT_FOUND,
  ["Page Out of Range", `Page 9 is out of range: ${items}, from 0`],
];

const common = { tag: "Microblog", isCharged: true } as const;

/** The operations of the microblog interface. */
export const MICROBLOG_OPERATIONS = {
  user: describeOperation({
    ...common,
    id: "getUser",
    path: "/api/microblog/slowcompiler/details",
    summary: "Details of a user",
    description: "A user is known once a user or a tweet of theirs was observed. 1 credit.",
    parameters: [USERNAME_PARAMETER],
    success: {
      status: 200,
      description: "The user",
      schema: "UserDetails",
      example: {
        username: "slowcompiler",
        displayName: "Slow Compiler 🐢",
        followers_count: 144_892,
        following_count: 529,
        tweet_count: 13_233,
        profile_image_url: "https://example.com/microblog/slowcompiler/avatar.png",
        description: "Writes software at a walking pace. Opinions compiled with warnings.",
        created_at: "2018-05-03T10:14:27.318Z",
        verified: true,
      },
    },
    errors: [BAD_USERNAME, USER_NOT_FOUND],
  }),

  tweets: describeOperation({
    ...common,
    id: "listTweets",
    path: "/api/microblog/slowcompiler/tweets",
    summary: "Latest tweets of a user",
    description:
      "The tweets created within the last days, newest first, by created_at, then identifier; " +
      "each with all its observations, oldest first. 1 credit.",
    parameters: [USERNAME_PARAMETER, ...PAGE_PARAMETERS],
    success: {
      status: 200,
      description: "A page of tweets",
      schema: "TweetsPage",
      headers: ["X-History-Thinned"],
      example: {
        username: "slowcompiler",
        tweets: {
          "2102880192584779832": {
            created_at: "2026-11-20T20:15:07.536Z",
            metrics: [
              {
                likes: 168,
                replies: 19,
                retweets: 33,
                views: 12_516,
                timestamp: "2026-11-21T02:28:29.872",
              },
            ],
            text: "Spent the morning on reading the error message 🐢",
            timestamp: "2026-11-21T02:28:29.872Z",
            url: "https://example.com/microblog/slowcompiler/tweet/2102880192584779832",
          },
        },
        filter_days: 3,
        pagination: { page: 0, limit: 1, total: 13, page_count: 13, has_more: true },
      },
    },
    errors: createPageErrors("13 items at 50 a page make 1 page"),
  }),

  followers: describeOperation({
    ...common,
    id: "listFollowers",
    path: "/api/microblog/slowcompiler/followers",
    summary: "Follower counts and growth of a user",
    description:
      "The known counts of the last days, newest first; change is the difference from the count " +
      "known just before, 0 for the first ever. 1 credit.",
    parameters: [USERNAME_PARAMETER, ...PAGE_PARAMETERS],
    success: {
      status: 200,
      description: "A page of follower counts",
      schema: "FollowersPage",
      example: {
        username: "slowcompiler",
        followers: {
          USER: {
            metrics: [{ followers: 144_892, change: 1, timestamp: "2026-11-21T02:38:09.821Z" }],
          },
        },
        filter_days: 3,
        pagination: { page: 0, limit: 1, total: 72, page_count: 72, has_more: true },
      },
    },
    errors: createPageErrors("72 items at 50 a page make 2 pages"),
  }),

  tweet: describeOperation({
    ...common,
    id: "getTweet",
    path: "/api/microblog/slowcompiler/tweet/1720756077208628457",
    summary: "Metrics of a tweet",
    description: "With its history, oldest first. 1 credit.",
    parameters: [
      USERNAME_PARAMETER,
      describePathParameter("tweet_id", "The tweet's identifier.", "1720756077208628457"),
    ],
    success: {
      status: 200,
      description: "The tweet",
      schema: "TweetDetails",
      headers: ["X-History-Thinned"],
      example: {
        username: "slowcompiler",
        tweet_id: "1720756077208628457",
        tweet: {
          id: "1720756077208628457",
          text: "Today I learned: a cache with no way to clear it — change my mind",
          created_at: "2024-01-01T09:10:18.908Z",
          metrics: { impressions: 26_981, likes: 913, retweets: 87, replies: 134, quotes: 12 },
          history: [
            {
              timestamp: "2026-11-20T11:32:13.024Z",
              impressions: 26_981,
              likes: 913,
              retweets: 87,
            },
          ],
        },
      },
    },
    errors: [
      BAD_USERNAME,
      USER_NOT_FOUND,
      ["Tweet Not Found", "Tweet 7 of user slowcompiler not found"],
    ],
  }),
};
