/** Reads of the microblog interface. Each is one SQL statement that returns one JSON text. */
import { computeDaysFilterStart, computeDaysFilterValidity } from "../../../core/days.ts";
import { createTweetNotFoundError, createUserNotFoundError } from "../../../core/errors.ts";
import { HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS } from "../../../core/limits.ts";
import { paginate } from "../../../core/pagination.ts";
import * as schema from "../../../core/schema/microblog.ts";
import type { TweetDetails, TweetRecord } from "../../../core/resources/mod.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import type { MicroblogReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { yieldToEventLoop } from "../database/paged-scan.ts";
import { readFollowers } from "./followers.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createUserTag } from "../history/change-log.ts";
import { createUserComparisonRead } from "./comparisons.ts";
import { createUserPageRead } from "./entity-lists.ts";
import { createTweetHistoryRead, createUserHistoryRead } from "./histories.ts";
import { createUserBatchRead, createUserRead, FROM_USER } from "./users.ts";

export function createMicroblogReads(database: Database): MicroblogReads {
  return {
    user: createUserRead(database),
    userBatch: createUserBatchRead(database),
    userComparison: createUserComparisonRead(database),
    userPage: createUserPageRead(database),
    tweets: createTweetsRead(database),
    followers: (username, request, now) => readFollowers(database, username, request, now),
    tweet: createTweetRead(database),
    userHistory: createUserHistoryRead(database),
    tweetHistory: createTweetHistoryRead(database),
  };
}

/** Tweets that are formatted at once: with long histories, a few milliseconds. */
const STEP_TWEETS = 25;

/** The history of a tweet in the record of a page. */
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

// The tweets are arrays, which SQLite and JSON.parse() handle faster than objects.
const SELECT_TWEETS = `
  SELECT json_object(
    'username', username,
    'selected', (
      SELECT json_object('total', count(*), 'oldest', min(created_at))
      FROM tweets
      WHERE user = users.key AND created_at >= ?2
    ),
    'tweets', (
      SELECT json_group_array(json_array(
        id, text, url, observed_at, created_at, ${recordHistory.selectSql("page.key")}
      ))
      FROM (
        SELECT *
        FROM tweets
        WHERE user = users.key AND created_at >= ?2
        ORDER BY created_at DESC, id DESC
        LIMIT ?3 OFFSET ?4
      ) AS page
    )
  )
  ${FROM_USER}`;

interface TweetsRow {
  readonly username: string;
  /** How many tweets the days filter selects, and when the oldest of them was created. */
  readonly selected: { readonly total: number; readonly oldest: number | null };
  readonly tweets: readonly TweetRow[];
}

type TweetRow = readonly [
  id: string,
  text: string | null,
  url: string | null,
  observedAt: number,
  createdAt: number,
  history: HistoryRow,
];

function createTweetsRead(database: Database): MicroblogReads["tweets"] {
  return async (username, { days, page, limit }, now) => {
    const id = foldCase(username);
    const args = [id, computeDaysFilterStart(now, days), limit, page * limit];
    const row = await database.queryJson<TweetsRow>(SELECT_TWEETS, args);
    if (row === undefined) throw createUserNotFoundError(username);
    const pagination = paginate(page, limit, row.selected.total);
    // Without a prototype, because `__proto__` is a valid identifier.
    const tweets: Record<string, TweetRecord> = Object.create(null);
    let isThinned = false;
    for (const [index, tweet] of row.tweets.entries()) {
      const [tweetId, text, url, observedAt, createdAt, history] = tweet;
      if (index % STEP_TWEETS === STEP_TWEETS - 1) await yieldToEventLoop();
      const { points, isThinned: isRecordThinned } = recordHistory.format(history);
      isThinned ||= isRecordThinned;
      tweets[tweetId] = {
        created_at: formatInstant(createdAt),
        metrics: points,
        text,
        timestamp: formatInstant(observedAt),
        url,
      };
    }
    return {
      body: { username: row.username, tweets, filter_days: days, pagination },
      tags: [createUserTag(id)],
      validDuring: computeDaysFilterValidity(now, row.selected.oldest, days),
      isThinned,
    };
  };
}

const tweetHistory = createHistoryReader<TweetDetails["tweet"]["history"][number]>({
  kind: "tweet",
  fields: { timestamp: "at", impressions: "impressions", likes: "likes", retweets: "retweets" },
  zoneSuffix: "Z",
  maxPoints: HISTORY_MAX_POINTS,
});

const SELECT_TWEET = `
  SELECT json_object(
    'username', users.username,
    'observedAt', (SELECT observed_at FROM tweets WHERE id = ?2),
    'tweet', (
      SELECT json_object(
        'id', id,
        'text', text,
        'created_at', created_at,
        'metrics', ${fieldsJsonSql(schema.TweetDetails.properties.tweet.properties.metrics)},
        'history', ${tweetHistory.selectSql("tweets.key")}
      )
      FROM tweets
      WHERE id = ?2 AND user = users.key AND created_at IS NOT NULL
    )
  )
  ${FROM_USER}`;

interface TweetDetailsRow {
  readonly username: string;
  readonly observedAt: number | null;
  readonly tweet:
    | (Omit<TweetDetails["tweet"], "created_at" | "history"> & {
        readonly created_at: number;
        readonly history: HistoryRow;
      })
    | null;
}

function createTweetRead(database: Database): MicroblogReads["tweet"] {
  return async (username, id) => {
    const userId = foldCase(username);
    const row = await database.queryJson<TweetDetailsRow>(SELECT_TWEET, [userId, id]);
    if (row === undefined) throw createUserNotFoundError(username);
    if (row.tweet === null) throw createTweetNotFoundError(username, id);
    const { observedAt, tweet } = row;
    const { points, isThinned } = tweetHistory.format(tweet.history);
    return {
      body: {
        username: row.username,
        tweet_id: tweet.id,
        tweet: { ...tweet, created_at: formatInstant(tweet.created_at), history: points },
      },
      tags: [createUserTag(userId)],
      observedAt,
      isThinned,
    };
  };
}
