/**
 * The reads of the microblog interface: the SQL that finds users, the fields of users and tweets,
 * and the pages of tweets. With these, other files read details, histories, lists and followers.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { TWEET_RECORD_MAX_POINTS } from "../../../core/limits.ts";
import {
  computeDaysFilterStart,
  computeDaysFilterValidity,
  paginate,
} from "../../../core/pagination.ts";
import * as schema from "../../../core/resources/microblog.ts";
import type {
  ListedUser,
  TweetDetails,
  TweetRecord,
} from "../../../core/resources/generated/types.ts";
import { createTweetMetrics, createUserMetrics } from "../../../core/responses/metrics.ts";
import { createUserDetails } from "../../../core/responses/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import type { DatabaseReads } from "../database/database.ts";
import { createFollowersRead } from "./followers.ts";
import { createOwnerTag } from "../history/change-log.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createListRead } from "./lists/entity-lists.ts";
import { createTableRead } from "./lists/list-tables.ts";
import { createItemReads } from "./item-reads.ts";
import { createItemMetricsRead, createOwnerMetricsRead } from "./metrics.ts";
import { createOwnerRead, createOwnerReads, type Owner } from "./owners.ts";
import type { MicroblogReads } from "./read-types.ts";

/** A user exists once they or a tweet were observed. */
const USERS: Owner<"user", { username: string }> = {
  kind: "user",
  fromSql: (_name, foldedName) => `
    FROM users AS owner
    WHERE owner.id = ${foldedName} AND owner.username IS NOT NULL`,
  nameSql: "owner.username",
  createNameField: (username) => ({ username }),
  // A user that is not found yet has a tag too.
  listTags: (name) => [createOwnerTag("user", foldCase(name))],
};

export function createMicroblogReads(database: DatabaseReads): MicroblogReads {
  const users = createOwnerReads(database, USERS, {
    fieldsSql: fieldsJsonSql(schema.UserDetails),
    create: createUserDetails,
  });
  const tweets = createTweetReads(database);
  return {
    user: users.details,
    userBatch: users.batch,
    userComparison: users.comparison,
    userPage: createListRead(
      database,
      { owner: USERS, summary: schema.UserSummary },
      (listed: ListedUser[], pagination) => ({ users: listed, pagination }),
    ),
    userTable: createTableRead(database, "user", USERS, (rows, pagination) => ({
      users: rows,
      pagination,
    })),
    tweets: createTweetsRead(database),
    followers: createFollowersRead(database, USERS),
    tweetTable: createTableRead(database, "tweet", USERS, (rows, pagination) => ({
      tweets: rows,
      pagination,
    })),
    tweetBatch: tweets.batch,
    tweetComparison: tweets.comparison,
    tweet: tweets.details,
    userHistory: users.history,
    tweetHistory: tweets.history,
    userMetrics: createOwnerMetricsRead(database, USERS, createUserMetrics),
    tweetMetrics: createItemMetricsRead(database, {
      kind: "tweet",
      owner: USERS,
      createMetrics: createTweetMetrics,
    }),
  };
}

/** Tweets that are formatted at once: with long histories, a few milliseconds. */
const STEP_TWEETS = 25;

const recordHistory = createHistoryReader<TweetRecord["metrics"][number]>({
  kind: "tweet",
  fields: {
    likes: "likes",
    replies: "replies",
    retweets: "retweets",
    views: "impressions",
    timestamp: "at",
  },
  zoneSuffix: "",
  maxPoints: TWEET_RECORD_MAX_POINTS,
});

interface TweetsRow {
  readonly username: string;
  /** How many tweets the days filter selects, and when the oldest of them was created. */
  readonly selected: { readonly total: number; readonly oldest: number | null };
  /** Arrays, which SQLite and JSON.parse() handle faster than objects. */
  readonly tweets: readonly (readonly [
    id: string,
    text: string | null,
    url: string | null,
    observedAt: number,
    createdAt: number,
    history: HistoryRow,
  ])[];
}

function createTweetsRead(database: DatabaseReads): MicroblogReads["tweets"] {
  const readTweets = createOwnerRead<TweetsRow>(
    database,
    USERS,
    `json_object(
      'username', owner.username,
      'selected', (
        SELECT json_object('total', count(*), 'oldest', min(created_at))
        FROM tweets
        WHERE user = owner.key AND created_at >= ?3
      ),
      'tweets', (
        SELECT json_group_array(json_array(
          id, text, url, observed_at, created_at, ${recordHistory.selectSql("page.key")}
        ))
        FROM (
          SELECT *
          FROM tweets
          WHERE user = owner.key AND created_at >= ?3
          ORDER BY created_at DESC, id DESC
          LIMIT ?4 OFFSET ?5
        ) AS page
      )
    )`,
  );
  return async (name, { days, page, limit }, now) => {
    const start = computeDaysFilterStart(days, now);
    const row = await readTweets(name, start, limit, page * limit);
    const { username, selected } = row;
    const pagination = paginate(page, limit, selected.total);
    // Without a prototype, because `__proto__` is a valid identifier.
    const tweets: Record<string, TweetRecord> = Object.create(null);
    let isThinned = false;
    for (const [index, tweet] of row.tweets.entries()) {
      const [tweetId, text, url, observedAt, createdAt, history] = tweet;
      if (index % STEP_TWEETS === STEP_TWEETS - 1) await yieldToEventLoop();
      const record = recordHistory.format(history);
      isThinned ||= record.isThinned;
      tweets[tweetId] = {
        created_at: formatInstant(createdAt),
        metrics: record.points,
        text,
        timestamp: formatInstant(observedAt),
        url,
      };
    }
    return {
      body: { username, tweets, filter_days: days, pagination },
      tags: USERS.listTags(name),
      validDuring: computeDaysFilterValidity(selected.oldest, days, now),
      isThinned,
    };
  };
}

type Tweet = TweetDetails["tweet"];
type StoredTweet = Omit<Tweet, "created_at" | "history"> & { readonly created_at: number };

const createTweetReads = (database: DatabaseReads) =>
  createItemReads(database, {
    kind: "tweet",
    owner: USERS,
    createIdField: (id) => ({ tweet_id: id }),
    fieldsSql: `json_object(
      'id', id,
      'text', text,
      'created_at', created_at,
      'metrics', ${fieldsJsonSql(schema.TweetDetails.properties.tweet.properties.metrics)}
    )`,
    pointFields: {
      timestamp: "at",
      impressions: "impressions",
      likes: "likes",
      retweets: "retweets",
    },
    createDetails: (tweet: StoredTweet, history: Tweet["history"], username): TweetDetails => ({
      username,
      tweet_id: tweet.id,
      tweet: { ...tweet, created_at: formatInstant(tweet.created_at), history },
    }),
  });
