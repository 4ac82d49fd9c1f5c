/**
 * Reads of the microblog interface. Each is one statement that makes one JSON text of the numbers
 * and texts that an answer needs.
 */
import { daysStart, selectedDuring } from "../../core/days.ts";
import { DomainError } from "../../core/errors.ts";
import { HISTORY_MAX_POINTS, RECORD_MAX_POINTS } from "../../core/limits.ts";
import { paginate, type PageRequest } from "../../core/pagination.ts";
import type { Reading } from "../../core/reading.ts";
import type { TweetDetails, TweetRecord, TweetsPage } from "../../core/schema/microblog.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { readFollowers } from "./followers.ts";
import { historyColumn, historyLister, type HistoryKind, type ReadHistory } from "./history.ts";
import { userSubject } from "./subjects.ts";
import { OF_USER, readUser, userNotFound } from "./users.ts";

/** Reads of the microblog interface on a database; `now` is in milliseconds since 1970 UTC. */
export function microblogStore(database: Database) {
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
const RECORD: HistoryKind = {
  kind: "tweet",
  form: {
    likes: "likes",
    replies: "replies",
    retweets: "retweets",
    views: "impressions",
    timestamp: "at",
  },
  zone: "",
  maxPoints: RECORD_MAX_POINTS,
};

const listRecord = historyLister<TweetRecord["metrics"][number]>(RECORD);

const TWEETS =
  "SELECT json_array(username, (SELECT json_array(count(*), min(created_at)) FROM tweets " +
  "WHERE user = users.key AND created_at >= ?2), (SELECT json_group_array(json_array(" +
  `id, text, url, observed_at, created_at, ${historyColumn(RECORD, "page.key")})) ` +
  "FROM (SELECT * FROM tweets WHERE user = users.key AND created_at >= ?2 " +
  `ORDER BY created_at DESC, id DESC LIMIT ?3 OFFSET ?4) AS page)) ${OF_USER}`;

type TweetRow = [
  id: string,
  text: string | null,
  url: string | null,
  observedAt: number,
  createdAt: number,
  history: ReadHistory,
];

type Selection = [total: number, oldest: number | null];

async function readTweets(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
): Promise<Reading<TweetsPage>> {
  const id = foldCase(username);
  const found = await database.document<[string, Selection, TweetRow[]]>(TWEETS, [
    id,
    daysStart(now, days),
    limit,
    page * limit,
  ]);
  if (found === undefined) throw userNotFound(username);
  const [name, [total, oldest], rows] = found;
  const pagination = paginate(page, limit, total);
  // A map keyed by identifiers: `__proto__` is one, so no prototype may stand behind it.
  const tweets: Record<string, TweetRecord> = Object.create(null);
  let isThinned = false;
  for (const [tweet, text, url, observedAt, createdAt, history] of rows) {
    const { points, isThinned: isPart } = listRecord(history);
    isThinned ||= isPart;
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
    subjects: [userSubject(id)],
    during: selectedDuring(now, oldest, days),
    isThinned,
  };
}

/** The history of a tweet by itself. */
const HISTORY: HistoryKind = {
  kind: "tweet",
  form: { timestamp: "at", impressions: "impressions", likes: "likes", retweets: "retweets" },
  zone: "Z",
  maxPoints: HISTORY_MAX_POINTS,
};

const listHistory = historyLister<TweetDetails["tweet"]["history"][number]>(HISTORY);

const TWEET =
  "SELECT json_array(users.username, (SELECT json_array(id, text, created_at, " +
  `impressions, likes, retweets, replies, quotes, ${historyColumn(HISTORY, "tweets.key")}) ` +
  "FROM tweets WHERE id = ?2 AND user = users.key AND created_at IS NOT NULL)) " +
  OF_USER;

type TweetDetailsRow = [
  id: string,
  text: string | null,
  createdAt: number,
  impressions: number | null,
  likes: number | null,
  retweets: number | null,
  replies: number | null,
  quotes: number | null,
  history: ReadHistory,
];

async function readTweet(
  database: Database,
  username: string,
  id: string,
): Promise<Reading<TweetDetails>> {
  const user = foldCase(username);
  const found = await database.document<[string, TweetDetailsRow | null]>(TWEET, [user, id]);
  if (found === undefined) throw userNotFound(username);
  const [name, tweet] = found;
  if (tweet === null) {
    throw new DomainError("Tweet Not Found", `Tweet ${id} of user ${username} not found`);
  }
  const [tweetId, text, at, impressions, likes, retweets, replies, quotes, history] = tweet;
  const { points, isThinned } = listHistory(history);
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
    subjects: [userSubject(user)],
    isThinned,
  };
}
