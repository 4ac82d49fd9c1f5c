/** Queries of the microblog interface. */
import { and, count, desc, eq, gte, isNotNull, sql } from "drizzle-orm";
import { daysStart } from "../../core/days.ts";
import { DomainError } from "../../core/errors.ts";
import { followerChanges } from "../../core/growth.ts";
import { HISTORY_MAX_POINTS, RECORD_MAX_POINTS } from "../../core/limits.ts";
import { paginate, type PageRequest } from "../../core/pagination.ts";
import type {
  FollowersPage,
  TweetDetails,
  TweetRecord,
  TweetsPage,
  UserDetails,
} from "../../core/schema/microblog.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant, formatInstantWithoutZone } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { withOwnErrors } from "./guard.ts";
import { readHistories, type History } from "./history.ts";
import { tweets, userObservations, users } from "./tables.ts";
import type { Thinnable } from "./video.ts";

/** What the microblog interface reads. */
export type MicroblogStore = ReturnType<typeof microblogStore>;

/** Queries of the microblog interface on a database; `now` is in milliseconds since 1970 UTC. */
export function microblogStore(database: Database) {
  return withOwnErrors({
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
  });
}

/** Finds a user, regardless of case: known once a user or a tweet of theirs was observed. */
async function findUser({ query }: Database, username: string) {
  const [user] = await query
    .select()
    .from(users)
    .where(eq(users.id, foldCase(username)));
  if (user === undefined || user.username === null) {
    throw new DomainError("User Not Found", `User ${username} not found`);
  }
  return { ...user, username: user.username };
}

async function readUser(database: Database, username: string): Promise<UserDetails> {
  const user = await findUser(database, username);
  return {
    username: user.username,
    displayName: user.displayName,
    followers_count: user.followersCount,
    following_count: user.followingCount,
    tweet_count: user.tweetCount,
    profile_image_url: user.profileImageUrl,
    description: user.description,
    created_at: user.createdAt === null ? null : formatInstant(user.createdAt),
    verified: user.verified === null ? null : user.verified === 1,
  };
}

async function readTweets(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
): Promise<Thinnable<TweetsPage>> {
  const user = await findUser(database, username);
  const { key, id, text, url, observedAt } = tweets;
  const selected = and(
    eq(tweets.user, user.key),
    isNotNull(tweets.createdAt),
    gte(tweets.createdAt, daysStart(now, days)),
  );
  const [totals, rows] = await database.query.batch([
    database.query.select({ total: count() }).from(tweets).where(selected),
    database.query
      .select({ key, id, text, url, observedAt, createdAt: sql<number>`${tweets.createdAt}` })
      .from(tweets)
      .where(selected)
      .orderBy(desc(tweets.createdAt), desc(tweets.id))
      .limit(limit)
      .offset(page * limit),
  ]);
  const pagination = paginate(page, limit, totals[0]?.total ?? 0);
  const keys = rows.map((row) => row.key);
  const histories = await readHistories(database, "tweet", keys, RECORD_MAX_POINTS);
  // A map keyed by identifiers: `__proto__` is one, so no prototype may stand behind it.
  const records: Record<string, TweetRecord> = Object.create(null);
  for (const row of rows) records[row.id] = tweetRecord(row, histories.get(row.key));
  return {
    body: { username: user.username, tweets: records, filter_days: days, pagination },
    isThinned: Array.from(histories.values()).some(({ isThinned }) => isThinned),
  };
}

function tweetRecord(
  row: { createdAt: number; observedAt: number; text: string | null; url: string | null },
  history: History | undefined,
): TweetRecord {
  return {
    created_at: formatInstant(row.createdAt),
    metrics: (history?.points ?? []).map(({ at, counts }) => ({
      likes: counts["likes"] ?? null,
      replies: counts["replies"] ?? null,
      retweets: counts["retweets"] ?? null,
      views: counts["impressions"] ?? null,
      timestamp: formatInstantWithoutZone(at),
    })),
    text: row.text,
    timestamp: formatInstant(row.observedAt),
    url: row.url,
  };
}

async function readFollowers(
  database: Database,
  username: string,
  { days, page, limit }: PageRequest,
  now: number,
): Promise<FollowersPage> {
  const user = await findUser(database, username);
  const { at, followersCount } = userObservations;
  const known = and(eq(userObservations.user, user.key), isNotNull(followersCount));
  const start = daysStart(now, days);
  // One row more than a page: its oldest count is compared with the one before, filtered or not.
  const [totals, rows] = await database.query.batch([
    database.query
      .select({ total: count() })
      .from(userObservations)
      .where(and(known, gte(at, start))),
    database.query
      .select({ at, followers: sql<number>`${followersCount}` })
      .from(userObservations)
      .where(known)
      .orderBy(desc(at))
      .limit(limit + 1)
      .offset(page * limit),
  ]);
  const pagination = paginate(page, limit, totals[0]?.total ?? 0);
  const metrics = followerChanges(rows, limit)
    .filter((point) => point.at >= start)
    .map(({ followers, change, at: observedAt }) => ({
      followers,
      change,
      timestamp: formatInstant(observedAt),
    }));
  return {
    username: user.username,
    followers: { USER: { metrics } },
    filter_days: days,
    pagination,
  };
}

async function readTweet(
  database: Database,
  username: string,
  id: string,
): Promise<Thinnable<TweetDetails>> {
  const user = await findUser(database, username);
  const [tweet] = await database.query
    .select()
    .from(tweets)
    .where(and(eq(tweets.id, id), eq(tweets.user, user.key)));
  if (tweet === undefined || tweet.createdAt === null) {
    throw new DomainError("Tweet Not Found", `Tweet ${id} of user ${username} not found`);
  }
  const histories = await readHistories(database, "tweet", [tweet.key], HISTORY_MAX_POINTS);
  const history = histories.get(tweet.key);
  const { impressions, likes, retweets, replies, quotes } = tweet;
  return {
    body: {
      username: user.username,
      tweet_id: tweet.id,
      tweet: {
        id: tweet.id,
        text: tweet.text,
        created_at: formatInstant(tweet.createdAt),
        metrics: { impressions, likes, retweets, replies, quotes },
        history: (history?.points ?? []).map(({ at, counts }) => ({
          timestamp: formatInstant(at),
          impressions: counts["impressions"] ?? null,
          likes: counts["likes"] ?? null,
          retweets: counts["retweets"] ?? null,
        })),
      },
    },
    isThinned: history?.isThinned ?? false,
  };
}
