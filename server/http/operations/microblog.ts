/** The microblog interface as the reference describes it. */
import { DAYS, PAGE, PAGE_LIMIT } from "../../../core/limits.ts";
import {
  badParameter,
  describe,
  pathParameter,
  queryParameter,
  wholeNumber,
  type ErrorExample,
} from "./describe.ts";

const USERNAME = pathParameter(
  "username",
  "The username without the @ symbol, regardless of case.",
  "slowcompiler",
);

const PAGE_PARAMETERS = [
  queryParameter("days", "Days to filter by, back from now.", wholeNumber(DAYS)),
  queryParameter("page", "Page number, 0-based.", wholeNumber(PAGE)),
  queryParameter("limit", "Items per page.", wholeNumber(PAGE_LIMIT)),
];

const NO_USER: ErrorExample = ["User Not Found", "User nobody not found"];

const BAD_PATH = badParameter("username");

const PAGE_ERRORS: readonly ErrorExample[] = [
  ["Invalid Pagination Parameters", 'days must be a whole number from 1 to 14, got "15"'],
  BAD_PATH,
  NO_USER,
  ["Page Out of Range", "Page 9 is out of range: 60 items at 50 a page make 2 pages, from 0"],
];

const PAGINATION = { page: 0, limit: 50, total: 1, page_count: 1, has_more: false };

const common = { tag: "Microblog", isCharged: true } as const;

/** The operations of the microblog interface. */
export const MICROBLOG_OPERATIONS = {
  user: describe({
    ...common,
    id: "getUser",
    path: "/api/microblog/slowcompiler/details",
    summary: "Details of a user",
    description: "A user is known once a user or a tweet of theirs was observed. 1 credit.",
    parameters: [USERNAME],
    success: {
      status: 200,
      description: "The user",
      schema: "UserDetails",
      example: {
        username: "slowcompiler",
        displayName: "Slow Compiler",
        followers_count: 48_210,
        following_count: 301,
        tweet_count: 9_120,
        profile_image_url: "https://example.com/users/slowcompiler.jpg",
        description: "Still linking.",
        created_at: "2014-05-09T12:30:00.000Z",
        verified: false,
      },
    },
    errors: [BAD_PATH, NO_USER],
  }),

  tweets: describe({
    ...common,
    id: "listTweets",
    path: "/api/microblog/slowcompiler/tweets",
    summary: "Latest tweets of a user",
    description:
      "The tweets created within the last days, newest first, by created_at, then identifier; " +
      "each with all its observations, oldest first. 1 credit.",
    parameters: [USERNAME, ...PAGE_PARAMETERS],
    success: {
      status: 200,
      description: "A page of tweets",
      schema: "TweetsPage",
      headers: ["X-History-Thinned"],
      example: {
        username: "slowcompiler",
        tweets: {
          "1346889436626259968": {
            created_at: "2026-11-20T08:15:30.123Z",
            metrics: [
              {
                likes: 100,
                replies: 5,
                retweets: 10,
                views: 1_500,
                timestamp: "2026-11-20T09:00:00.000",
              },
            ],
            text: "It links!",
            timestamp: "2026-11-20T09:00:00.000Z",
            url: "https://example.com/slowcompiler/1346889436626259968",
          },
        },
        filter_days: 3,
        pagination: PAGINATION,
      },
    },
    errors: PAGE_ERRORS,
  }),

  followers: describe({
    ...common,
    id: "listFollowers",
    path: "/api/microblog/slowcompiler/followers",
    summary: "Follower counts and growth of a user",
    description:
      "The known counts of the last days, newest first; change is the difference from the count " +
      "known just before, 0 for the first ever. 1 credit.",
    parameters: [USERNAME, ...PAGE_PARAMETERS],
    success: {
      status: 200,
      description: "A page of follower counts",
      schema: "FollowersPage",
      example: {
        username: "slowcompiler",
        followers: {
          USER: {
            metrics: [{ followers: 48_210, change: -3, timestamp: "2026-11-20T09:00:00.000Z" }],
          },
        },
        filter_days: 3,
        pagination: PAGINATION,
      },
    },
    errors: PAGE_ERRORS,
  }),

  tweet: describe({
    ...common,
    id: "getTweet",
    path: "/api/microblog/slowcompiler/tweet/1346889436626259968",
    summary: "Metrics of a tweet",
    description: "With its history, oldest first. 1 credit.",
    parameters: [
      USERNAME,
      pathParameter("tweet_id", "The tweet's identifier.", "1346889436626259968"),
    ],
    success: {
      status: 200,
      description: "The tweet",
      schema: "TweetDetails",
      headers: ["X-History-Thinned"],
      example: {
        username: "slowcompiler",
        tweet_id: "1346889436626259968",
        tweet: {
          id: "1346889436626259968",
          text: "It links!",
          created_at: "2026-11-20T08:15:30.123Z",
          metrics: { impressions: 1_500, likes: 100, retweets: 10, replies: 5, quotes: null },
          history: [
            {
              timestamp: "2026-11-20T09:00:00.000Z",
              impressions: 1_500,
              likes: 100,
              retweets: 10,
            },
          ],
        },
      },
    },
    errors: [BAD_PATH, NO_USER, ["Tweet Not Found", "Tweet 7 of user slowcompiler not found"]],
  }),
};
