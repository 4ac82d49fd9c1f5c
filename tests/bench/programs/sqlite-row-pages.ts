/** Pages whose rows JavaScript formats as JSON. */
import type { Database } from "bun:sqlite";
import { prepareCounts, buildPagination, type PageReader, type TweetRow } from "./sqlite-pages.ts";

interface PointRow {
  readonly at: number;
  readonly likes: number | null;
  readonly replies: number | null;
  readonly retweets: number | null;
  readonly impressions: number | null;
}

const toIso = (at: number) => new Date(at).toISOString();

/** Prepares the statements. */
export function createRowPageReader(database: Database): PageReader {
  const counts = prepareCounts(database);
  const tweetsOf = database.query<TweetRow, [number, number, number, number]>(
    "SELECT key, id, text, url, observed_at AS observedAt, created_at AS createdAt FROM tweets " +
      "WHERE user = ? AND created_at >= ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
  );
  const pointsOf = database.query<PointRow, [number]>(
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
      const total = counts.tweets.get(user, start)?.total ?? 0;
      const tweets: Record<string, unknown> = {};
      for (const tweet of tweetsOf.all(user, start, limit, page * limit)) {
        tweets[tweet.id] = {
          created_at: toIso(tweet.createdAt),
          metrics: pointsOf.all(tweet.key).map(({ at, likes, replies, retweets, impressions }) => ({
            likes,
            replies,
            retweets,
            views: impressions,
            timestamp: toIso(at).slice(0, -1),
          })),
          text: tweet.text,
          timestamp: toIso(tweet.observedAt),
          url: tweet.url,
        };
      }
      const shown = buildPagination(listing, total);
      return JSON.stringify({ username, tweets, filter_days: days, pagination: shown });
    },

    followers(listing) {
      const { user, username, days, start, page, limit } = listing;
      const total = counts.followers.get(user, start)?.total ?? 0;
      const rows = followersOf.all(user, limit + 1, page * limit);
      const metrics: unknown[] = [];
      for (let index = 0; index < rows.length && index < limit; index++) {
        const row = rows[index];
        if (row === undefined || row.at < start) break;
        const before = rows[index + 1]?.followers ?? row.followers;
        const change = row.followers - before;
        metrics.push({ followers: row.followers, change, timestamp: toIso(row.at) });
      }
      return JSON.stringify({
        username,
        followers: { USER: { metrics } },
        filter_days: days,
        pagination: buildPagination(listing, total),
      });
    },
  };
}
