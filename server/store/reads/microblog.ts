/** Reads of the microblog interface. Each is one SQL statement that returns one JSON text. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { HISTORY_MAX_POINTS, TWEET_RECORD_MAX_POINTS } from "../../../core/limits.ts";
import {
  computeDaysFilterStart,
  computeDaysFilterValidity,
  paginate,
} from "../../../core/pagination.ts";
import * as schema from "../../../core/resources/microblog.ts";
import type { TweetDetails, TweetRecord } from "../../../core/resources/generated/types.ts";
import { formatInstant } from "../../../core/time.ts";
import type { MicroblogReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { readFollowers } from "./followers.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createComparisonRead } from "./comparisons.ts";
import { createUserPageRead } from "./entity-lists.ts";
import { createItemHistoryRead, createOwnerHistoryRead } from "./histories.ts";
import { createItemRead } from "./items.ts";
import { createDetailsReads, readOwner, selectOwnerSql } from "./owners.ts";
import { TWEETS, USER_DETAILS, USERS } from "./users.ts";

export function createMicroblogReads(database: Database): MicroblogReads {
  const details = createDetailsReads(database, USERS, USER_DETAILS);
  return {
    user: details.one,
    userBatch: details.many,
    userComparison: createComparisonRead(database, USERS),
    userPage: createUserPageRead(database),
    tweets: createTweetsRead(database),
    followers: (username, request, now) => readFollowers(database, username, request, now),
    tweet: createTweetRead(database),
    userHistory: createOwnerHistoryRead(database, USERS),
    tweetHistory: createItemHistoryRead(database, TWEETS),
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
const SELECT_TWEETS = selectOwnerSql(
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
    const start = computeDaysFilterStart(days, now);
    const args = [username, start, limit, page * limit] as const;
    const row = await readOwner<TweetsRow>(database, USERS, SELECT_TWEETS, args);
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
      tags: USERS.listTags(username),
      validDuring: computeDaysFilterValidity(row.selected.oldest, days, now),
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

type Tweet = TweetDetails["tweet"];
type StoredTweet = Omit<Tweet, "created_at" | "history"> & { readonly created_at: number };

const createTweetRead = (database: Database): MicroblogReads["tweet"] =>
  createItemRead(database, TWEETS, {
    fieldsSql: `json_object(
      'id', id,
      'text', text,
      'created_at', created_at,
      'metrics', ${fieldsJsonSql(schema.TweetDetails.properties.tweet.properties.metrics)}
    )`,
    history: tweetHistory,
    create: (tweet: StoredTweet, history, username) => ({
      username,
      tweet_id: tweet.id,
      tweet: { ...tweet, created_at: formatInstant(tweet.created_at), history },
    }),
  });
