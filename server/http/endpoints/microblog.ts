/** The endpoints of the microblog API: users, tweets, followers, histories and comparisons. */
import type { TProperties } from "@sinclair/typebox";
import { DAYS_FILTER_RANGE, PAGE_LIMIT_RANGE, PAGE_NUMBER_RANGE } from "../../../core/limits.ts";
import { parseListRequest } from "../../../core/lists.ts";
import { parsePageRequest } from "../../../core/pagination.ts";
import { createNamedResults } from "../../../core/batch.ts";
import { formatInstant } from "../../../core/time.ts";
import { createServiceError } from "../../../core/errors.ts";
import type { UserPage } from "../../../core/resources/generated/types.ts";
import * as itemSchemas from "../../../core/resources/items.ts";
import * as tableSchemas from "../../../core/resources/tables.ts";
import * as schemas from "../../../core/resources/microblog.ts";
import type { CacheableResult } from "../../store/reads/read-types.ts";
import * as ownerSchemas from "../../../core/resources/owners.ts";
import { defineRead, type ReadEndpoint } from "./endpoint.ts";
import {
  createComparison,
  defineBatch,
  defineComparison,
  defineHistory,
  type OwnerInterface,
} from "./owners.ts";
import { defineItemBatch, defineItemComparison } from "./items.ts";
import {
  assertListIsGiven,
  chooseListColumns,
  defineItemList,
  hideDerivedColumns,
  HOW_FIELDS_WORK,
} from "./lists.ts";
import {
  createFloorParameter,
  createIntegerParameter,
  createListQuery,
  FORMAT,
  LIST_ERROR,
} from "./parameters.ts";

const MICROBLOG: OwnerInterface<"user"> = {
  part: "Microblog",
  kind: "user",
  owners: "users",
  names: "usernames",
  example: "slowcompiler",
  limitError: "Invalid Pagination Parameters",
};

const TWEETS = { kind: "tweet", items: "tweets" } as const;
const NAMED_TWEETS = { ...TWEETS, example: "1720756077208628457" } as const;

const USER_ERROR = { "User Not Found": "User nobody not found" } as const;
const TWEET_ERRORS = {
  ...USER_ERROR,
  "Tweet Not Found": "Tweet 7 of user slowcompiler not found",
} as const;

const PAGE_QUERY: TProperties = {
  days: createIntegerParameter(DAYS_FILTER_RANGE, "Days to filter by, back from now."),
  page: createIntegerParameter(PAGE_NUMBER_RANGE, "Page number, 0-based."),
  limit: createIntegerParameter(PAGE_LIMIT_RANGE, "Items per page."),
};

const createPageErrors = (outOfRange: string) => ({
  "Invalid Pagination Parameters": 'days must be a whole number from 1 to 14, got "15"',
  ...USER_ERROR,
  "Page Out of Range": outOfRange,
});

export const MICROBLOG_ENDPOINTS: readonly ReadEndpoint[] = [
  defineRead({
    id: "listUsers",
    operation: "GET /api/microblog/users",
    part: "Microblog",
    summary: "List the users",
    description:
      "A page of all users that are known, with the figure that it is sorted by. A user who is known " +
      "only by tweets has null for everything else, and comes last. Pages neither skip nor repeat a " +
      "user while others change. Of a long list, a page with `search` can have fewer users than " +
      "`limit`, or none, and go on: read while `hasMore` is true. " +
      HOW_FIELDS_WORK,
    query: { ...createListQuery("user"), minFollowers: createFloorParameter("followers") },
    result: { schema: tableSchemas.UserPage, description: "A page of users", headers: ["Link"] },
    errors: {
      "Invalid Request": 'order must be one of desc, asc, got "up"',
      "Invalid Pagination Parameters": 'limit must be a whole number from 1 to 1000, got "0"',
      ...LIST_ERROR,
    },
    savedList: { kind: "user" },
    parse: ({ query, derivedMetrics }) =>
      assertListIsGiven(parseListRequest("user", query, MICROBLOG.limitError), derivedMetrics),
    async load(
      { microblog, derivedMetrics },
      _,
      request,
      signal,
    ): Promise<CacheableResult<UserPage>> {
      const { fields } = request;
      if (fields === undefined) return microblog.userPage(request, signal);
      const table = await microblog.userTable({ ...request, fields }, signal);
      return hideDerivedColumns(request, table, derivedMetrics);
    },
    csv: {
      items: "users",
      createFileName: () => "users.csv",
      chooseColumns: (summary, request) => chooseListColumns(summary, request),
    },
  }),
  defineRead({
    id: "getUser",
    operation: "GET /api/microblog/{username}/details",
    part: "Microblog",
    summary: "Details of a user",
    description: "A user is known once the user or one of the user's tweets was observed.",
    result: { schema: schemas.UserDetails, description: "The user", headers: ["X-Observed-At"] },
    errors: USER_ERROR,
    load: ({ microblog }, { username }) => microblog.user(username),
  }),
  defineRead({
    id: "listTweets",
    operation: "GET /api/microblog/{username}/tweets",
    part: "Microblog",
    summary: "Latest tweets of a user",
    description:
      "The tweets created within the last days, newest first, by created_at, then identifier. Each has " +
      "all its observations, oldest first.",
    query: PAGE_QUERY,
    result: {
      schema: schemas.TweetsPage,
      description: "A page of tweets",
      headers: ["X-History-Thinned"],
    },
    errors: createPageErrors("Page 9 is out of range: 13 items at 50 a page make 1 page, from 0"),
    parse: ({ query }) => parsePageRequest(query),
    load: ({ microblog, now }, { username }, request) => microblog.tweets(username, request, now()),
  }),
  defineRead({
    id: "listFollowers",
    operation: "GET /api/microblog/{username}/followers",
    part: "Microblog",
    summary: "Follower counts and growth of a user",
    description:
      "The known counts of the last days, newest first. A change is the difference from the previous " +
      "known count, 0 for the first ever. In CSV, the Link header leads to the next page.",
    query: { ...PAGE_QUERY, ...FORMAT },
    result: {
      schema: schemas.FollowersPage,
      description: "A page of follower counts",
      headers: ["X-Observed-At", "Link"],
    },
    errors: createPageErrors("Page 9 is out of range: 72 items at 50 a page make 2 pages, from 0"),
    parse: ({ query }) => parsePageRequest(query),
    load: ({ microblog, now }, { username }, request) =>
      microblog.followers(username, request, now()),
    csv: {
      items: "followers.USER.metrics",
      createFileName: ({ username }) => `${username}-followers.csv`,
      // In CSV, only a header can tell that there are more pages.
      findNextPage: ({ pagination: { has_more, page } }) => (has_more ? page + 1 : undefined),
    },
  }),
  defineRead({
    id: "getTweet",
    operation: "GET /api/microblog/{username}/tweet/{tweet_id}",
    part: "Microblog",
    summary: "Metrics of a tweet",
    description: "With its history, oldest first.",
    result: {
      schema: schemas.TweetDetails,
      description: "The tweet",
      headers: ["X-History-Thinned", "X-Observed-At"],
    },
    errors: TWEET_ERRORS,
    load: ({ microblog }, { username, tweet_id }) => microblog.tweet(username, tweet_id),
  }),
  defineItemList(MICROBLOG, {
    id: "listAllTweets",
    operation: "GET /api/microblog/tweets",
    ...TWEETS,
    schema: tableSchemas.TweetTable,
    load: ({ microblog }, _, request, signal) => microblog.tweetTable(request, signal),
  }),
  defineItemBatch(MICROBLOG, {
    ...NAMED_TWEETS,
    id: "batchTweets",
    operation: "POST /api/microblog/tweets",
    schema: itemSchemas.TweetBatch,
    load: ({ microblog }, ids) => microblog.tweetBatch(ids),
    create: ({ details }) => ({ details }),
    createError: createServiceError,
  }),
  defineItemComparison(MICROBLOG, {
    ...NAMED_TWEETS,
    id: "compareTweets",
    operation: "GET /api/microblog/compare-tweets",
    schema: itemSchemas.TweetComparison,
    read: ({ microblog }, request) => microblog.tweetComparison(request),
    create: ({ owner, title, publishedAt }) => ({
      username: owner,
      text: title,
      created_at: formatInstant(publishedAt),
    }),
    createError: createServiceError,
  }),
  defineHistory(MICROBLOG, {
    id: "getUserHistory",
    operation: "GET /api/microblog/{username}/history",
    summary: "History of a user",
    schema: ownerSchemas.UserHistory,
    errors: USER_ERROR,
    load: ({ microblog }, { username }, request) => microblog.userHistory(username, request),
  }),
  defineHistory(MICROBLOG, {
    id: "getTweetHistory",
    operation: "GET /api/microblog/{username}/tweet/{tweet_id}/history",
    summary: "History of a tweet",
    schema: ownerSchemas.TweetHistory,
    errors: TWEET_ERRORS,
    load: ({ microblog }, { username, tweet_id }, request) =>
      microblog.tweetHistory(username, tweet_id, request),
  }),
  defineBatch(MICROBLOG, {
    id: "batchUsers",
    operation: "POST /api/microblog/details",
    body: ownerSchemas.UserBatchRequest,
    schema: ownerSchemas.UserBatch,
    async load({ microblog }, names) {
      const found = await microblog.userBatch(names);
      return {
        results: createNamedResults(names, found, (details) => ({ details }), createServiceError),
      };
    },
  }),
  defineComparison(MICROBLOG, {
    id: "compareUsers",
    operation: "GET /api/microblog/compare",
    schema: ownerSchemas.UserComparison,
    load: ({ microblog }, _, request) =>
      createComparison(request, microblog.userComparison(request), (entities) => {
        const describe = (username: string) => ({ username });
        const { names } = request;
        return { users: createNamedResults(names, entities, describe, createServiceError) };
      }),
  }),
];
