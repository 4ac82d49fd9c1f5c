/** Pages whose histories SQLite formats as JSON. */
import type { Database } from "bun:sqlite";
import { prepareCounts, buildPagination, type PageReader, type TweetRow } from "./sqlite-pages.ts";

const instantSql = (column: string, zone: string) =>
  `strftime('%Y-%m-%dT%H:%M:%f${zone}', ${column} / 1000.0, 'unixepoch')`;

/** Prepares the statements. */
export function createJsonPageReader(database: Database): PageReader {
  const counts = prepareCounts(database);
  const tweetsOf = database.query<
    TweetRow & { readonly metrics: string },
    [number, number, number, number]
  >(
    "SELECT id, text, url, observed_at AS observedAt, created_at AS createdAt, " +
      "(SELECT json_group_array(json_object('likes', likes, 'replies', replies, " +
      "'retweets', retweets, 'views', impressions, " +
      `'timestamp', ${instantSql("at", "")})) FROM (SELECT * FROM plain_tweet_observations ` +
      "WHERE tweet = tweets.key ORDER BY at)) AS metrics FROM tweets " +
      "WHERE user = ? AND created_at >= ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
  );
  const followersOf = database.query<
    { readonly metrics: string },
    [number, number, number, number, number]
  >(
    "SELECT json_group_array(json_object('followers', followers, 'change', change, " +
      `'timestamp', ${instantSql("at", "Z")})) AS metrics FROM (SELECT at, followers, ` +
      "followers - lead(followers, 1, followers) OVER (ORDER BY at DESC) AS change FROM " +
      "(SELECT at, followers_count AS followers FROM plain_user_observations WHERE user = ? " +
      "AND followers_count IS NOT NULL ORDER BY at DESC LIMIT ? OFFSET ?) LIMIT ?) WHERE at >= ?",
  );
  return {
    tweets(listing) {
      const { user, username, days, start, page, limit } = listing;
      const total = counts.tweets.get(user, start)?.total ?? 0;
      const tweets = tweetsOf
        .all(user, start, limit, page * limit)
        .map(
          ({ id, text, url, createdAt, observedAt, metrics }) =>
            `${JSON.stringify(id)}:{"created_at":"${new Date(createdAt).toISOString()}",` +
            `"metrics":${metrics},"text":${JSON.stringify(text)},` +
            `"timestamp":"${new Date(observedAt).toISOString()}","url":${JSON.stringify(url)}}`,
        );
      return (
        `{"username":${JSON.stringify(username)},"tweets":{${tweets.join(",")}},` +
        `"filter_days":${days},"pagination":${JSON.stringify(buildPagination(listing, total))}}`
      );
    },

    followers(listing) {
      const { user, username, days, start, page, limit } = listing;
      const total = counts.followers.get(user, start)?.total ?? 0;
      const row = followersOf.get(user, limit + 1, page * limit, limit, start);
      return (
        `{"username":${JSON.stringify(username)},"followers":{"USER":{"metrics":` +
        `${row?.metrics ?? "[]"}}},"filter_days":${days},` +
        `"pagination":${JSON.stringify(buildPagination(listing, total))}}`
      );
    },
  };
}
