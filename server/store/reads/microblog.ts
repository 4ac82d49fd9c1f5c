/**
 * Reads of the microblog interface. Each is one statement that makes one JSON text of the numbers
 * and texts that an answer needs.
 */
import { computeDaysFilterStart, computeDaysFilterValidity } from "../../../core/days.ts";
import { DomainError } from "../../../core/errors.ts";
import { HISTORY_MAX_POINTS, RECORD_MAX_POINTS } from "../../../core/limits.ts";
import { paginate, type PageRequest } from "../../../core/pagination.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { TweetDetails, TweetRecord, TweetsPage } from "../../../core/schema/microblog.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import type { MicroblogReads } from "../../ports/reads.ts";
import type { Database } from "../database/database.ts";
import { readFollowers } from "./followers.ts";
import {
  selectHistorySql,
  createHistoryFormatter,
  type HistoryFormat,
  type HistoryRow,
} from "../history/thinned-history.ts";
import { createUserTag } from "../history/cache-tags.ts";
import { FROM_USER, readUser, userNotFoundError } from "./users.ts";

/** Reads of the microblog interface on a database; `now` is in milliseconds since 1970 UTC. */
export function createMicroblogReads(database: Database): MicroblogReads {
  return {
    /** @throws {DomainError} `User Not Found`. */
    user: (username: string) => readUser(database, username),

    /** @throws {DomainError} `User Not Found`, `Page Out of Range`. */
    tweets: (username: string, request: PageRequest, now: number) =>
      readTweets(database, username, request, now),

    /** @throws {DomainError} `User Not Found`, `Page Out of Range`. */
    followers: (username: string, request: PageRequest, now: number) =>
      readFollowers(database, username, request, now),

    /** @throws {DomainError} `User Not Found`, `Tweet Not Found`. */
    tweet: (username: string, id: string) => readTweet(database, username, id),
  };
}

/** The history of a tweet in a record of a page. */
const RECORD_HISTORY: HistoryFormat = {
  kind: "tweet",
  fields: {
    likes: "likes",
    replies: "replies",
    retweets: "retweets",
    views: "impressions",
    timestamp: "at",
  },
  zoneSuffix: "",
  maxPoints: RECORD_MAX_POINTS,
};

const formatRecordHistory = createHistoryFormatter<TweetRecord["metrics"][number]>(RECORD_HISTORY);

const SELECT_TWEETS =
  "SELECT json_array(username, (SELECT json_array(count(*), min(created_at)) FROM tweets " +
  "WHERE user = users.key AND created_at >= ?2), (SELECT json_group_array(json_array(" +
  `id, text, url, observed_at, created_at, ${selectHistorySql(RECORD_HISTORY, "page.key")})) ` +
  "FROM (SELECT * FROM tweets WHERE user = users.key AND created_at >= ?2 " +
  `ORDER BY created_at DESC, id DESC LIMIT ?3 OFFSET ?4) AS page)) ${FROM_USER}`;

type TweetRow = [
  id: string,
  text: string | null,
  url: string | null,
  observedAt: number,
  createdAt: number,
  history: HistoryRow,
];

type TweetTotals = [total: number, oldest: number | null];

async function readTweets(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
): Promise<CacheableResult<TweetsPage>> {
  const id = foldCase(username);
  const row = await database.queryJson<[string, TweetTotals, TweetRow[]]>(SELECT_TWEETS, [
    id,
    computeDaysFilterStart(now, days),
    limit,
    page * limit,
  ]);
  if (row === undefined) throw userNotFoundError(username);
  const [name, [total, oldest], rows] = row;
  const pagination = paginate(page, limit, total);
  // A map keyed by identifiers: `__proto__` is one, so no prototype may stand behind it.
  const tweets: Record<string, TweetRecord> = Object.create(null);
  let isThinned = false;
  for (const [tweet, text, url, observedAt, createdAt, history] of rows) {
    const { points, isThinned: isRecordThinned } = formatRecordHistory(history);
    isThinned ||= isRecordThinned;
    tweets[tweet] = {
      created_at: formatInstant(createdAt),
      metrics: points,
      text,
      timestamp: formatInstant(observedAt),
      url,
    };
  }
  return {
    body: { username: name, tweets, filter_days: days, pagination },
    tags: [createUserTag(id)],
    validDuring: computeDaysFilterValidity(now, oldest, days),
    isThinned,
  };
}

/** The history of a tweet by itself. */
const TWEET_HISTORY: HistoryFormat = {
  kind: "tweet",
  fields: { timestamp: "at", impressions: "impressions", likes: "likes", retweets: "retweets" },
  zoneSuffix: "Z",
  maxPoints: HISTORY_MAX_POINTS,
};

const formatTweetHistory =
  createHistoryFormatter<TweetDetails["tweet"]["history"][number]>(TWEET_HISTORY);

const SELECT_TWEET =
  "SELECT json_array(users.username, (SELECT json_array(id, text, created_at, " +
  `impressions, likes, retweets, replies, quotes, ${selectHistorySql(TWEET_HISTORY, "tweets.key")}) ` +
  "FROM tweets WHERE id = ?2 AND user = users.key AND created_at IS NOT NULL)) " +
  FROM_USER;

type TweetDetailsRow = [
  id: string,
  text: string | null,
  createdAt: number,
  impressions: number | null,
  likes: number | null,
  retweets: number | null,
  replies: number | null,
  quotes: number | null,
  history: HistoryRow,
];

async function readTweet(
  database: Database,
  username: string,
  id: string,
): Promise<CacheableResult<TweetDetails>> {
  const user = foldCase(username);
  const row = await database.queryJson<[string, TweetDetailsRow | null]>(SELECT_TWEET, [user, id]);
  if (row === undefined) throw userNotFoundError(username);
  const [name, tweet] = row;
  if (tweet === null) {
    throw new DomainError("Tweet Not Found", `Tweet ${id} of user ${username} not found`);
  }
  const [tweetId, text, at, impressions, likes, retweets, replies, quotes, history] = tweet;
  const { points, isThinned } = formatTweetHistory(history);
  return {
    body: {
      username: name,
      tweet_id: tweetId,
      tweet: {
        id: tweetId,
        text,
        created_at: formatInstant(at),
        metrics: { impressions, likes, retweets, replies, quotes },
        history: points,
      },
    },
    tags: [createUserTag(user)],
    isThinned,
  };
}
