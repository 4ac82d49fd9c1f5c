/** Pages of rows that are mapped in JavaScript. */
import type { Database } from "bun:sqlite";
import { countStatements, pagination, type Pages, type Tweet } from "./reader-pages.ts";

interface Point {
  readonly at: number;
  readonly likes: number | null;
  readonly replies: number | null;
  readonly retweets: number | null;
  readonly impressions: number | null;
}

const instant = (at: number) => new Date(at).toISOString();

/** Prepares the statements. */
export function rowPages(database: Database): Pages {
  const count = countStatements(database);
  const tweetsOf = database.query<Tweet, [number, number, number, number]>(
    "SELECT key, id, text, url, observed_at AS observedAt, created_at AS createdAt FROM tweets " +
      "WHERE user = ? AND created_at >= ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
  );
  const pointsOf = database.query<Point, [number]>(
    "SELECT at, likes, replies, retweets, impressions FROM plain_tweet_observations " +
      "WHERE tweet = ? ORDER BY at",
  );
  const followersOf = database.query<
    { readonly at: number; readonly followers: number },
    [number, number, number]
  >(
    "SELECT at, followers_count AS followers FROM plain_user_observations " +
      "WHERE user = ? AND followers_count IS NOT NULL ORDER BY at DESC LIMIT ? OFFSET ?",
  );
  return {
    tweets(listing) {
      const { user, username, days, start, page, limit } = listing;
      const total = count.tweets.get(user, start)?.total ?? 0;
      const tweets: Record<string, unknown> = {};
      for (const tweet of tweetsOf.all(user, start, limit, page * limit)) {
        tweets[tweet.id] = {
          created_at: instant(tweet.createdAt),
          metrics: pointsOf.all(tweet.key).map(({ at, likes, replies, retweets, impressions }) => ({
            likes,
            replies,
            retweets,
            views: impressions,
            timestamp: instant(at).slice(0, -1),
          })),
          text: tweet.text,
          timestamp: instant(tweet.observedAt),
          url: tweet.url,
        };
      }
      const shown = pagination(listing, total);
      return JSON.stringify({ username, tweets, filter_days: days, pagination: shown });
    },

    followers(listing) {
      const { user, username, days, start, page, limit } = listing;
      const total = count.followers.get(user, start)?.total ?? 0;
      const rows = followersOf.all(user, limit + 1, page * limit);
      const metrics: unknown[] = [];
      for (let index = 0; index < rows.length && index < limit; index++) {
        const row = rows[index];
        if (row === undefined || row.at < start) break;
        const before = rows[index + 1]?.followers ?? row.followers;
        const change = row.followers - before;
        metrics.push({ followers: row.followers, change, timestamp: instant(row.at) });
      }
      return JSON.stringify({
        username,
        followers: { USER: { metrics } },
        filter_days: days,
        pagination: pagination(listing, total),
      });
    },
  };
}
