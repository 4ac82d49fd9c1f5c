/**
 * Writes users, tweets and histories directly into the tables of a database of the service.
 *
 * Arguments: the path of a database that no process has open, and the number of users. The keys of tweets
 * are in the order of publication over all users, as after an import in the order of time. Histories are
 * written in the order of their keys.
 */
import type { Point } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { POINTS_PER_TWEET, POINTS_PER_USER, TWEETS_PER_USER } from "../seed.ts";
import {
  cutProse,
  insertHistory,
  insertRow,
  openForSeeding,
  pseudoRandom,
  withInstants,
} from "./seed-rows.ts";

const [, , file = "", userCount = ""] = process.argv;
const USERS = Number(userCount);
const NOW = Date.now();
const HOUR_MS = 3_600_000;

/** The age of the first tweet, and the average time to the next one. */
const OLDEST_TWEET_MS = 324 * HOUR_MS;
const TWEET_INTERVAL_MS = 6 * HOUR_MS;

/** The time between observations: a bit less than an hour. */
const POINT_INTERVAL_MS = 3_580_000;
const JITTER_MS = 3_000_000;

/** The epoch of the timestamps in the platform's identifiers. */
const PLATFORM_EPOCH_MS = 1_288_834_974_657;

const database = openForSeeding(file);
database.run("PRAGMA cache_size = -400000");
database.run("BEGIN");
for (let user = 0; user < USERS; user++) insertUser(user);
for (let tweet = 0; tweet < USERS * TWEETS_PER_USER; tweet++) insertTweet(tweet);
database.run("COMMIT");
database.run("PRAGMA journal_mode = WAL");
database.close();

/** Writes a user with the follower counts. The key is the number of the user plus 1. */
function insertUser(user: number): void {
  const key = user + 1;
  const base = (400 + pseudoRandom(user, 1, 600)) << pseudoRandom(user, 2, 11);
  const point = (nth: number): Point => ({
    at: NOW - (POINTS_PER_USER - nth) * POINT_INTERVAL_MS - pseudoRandom(user, nth, JITTER_MS),
    counts: [
      base + Math.floor((base * nth) / 4000) + pseudoRandom(user, nth, Math.floor(base / 300) + 3),
      200 + pseudoRandom(user, 3, 900) + Math.floor(nth / 100),
      1000 + pseudoRandom(user, 4, 9000) + Math.floor(nth / 7),
    ],
  });
  const newest = insertHistory(database, KIND_TABLES.user, key, POINTS_PER_USER, point);
  insertRow(database, "users", {
    key,
    id: `creator${user}`,
    display_name_folded: `creator no. ${user}`,
    ...newest,
    ...createGains(point),
    ...withInstants(newest.observed_at, {
      username: `Creator${user}`,
      display_name: `Creator No. ${user}`,
      profile_image_url: `https://example.com/creator${user}/avatar.jpg`,
      description: cutProse(pseudoRandom(user, 5, 300), 90),
      created_at: NOW - 31_536_000_000 - pseudoRandom(user, 6, 1_000_000_000),
      verified: user % 5 === 0,
    }),
  });
}

/** The gains of a user whose history is shorter than a month. */
function createGains(point: (nth: number) => Point): Record<string, number | null> {
  const countFollowers = (hoursBefore: number) =>
    point(POINTS_PER_USER - hoursBefore).counts[0] ?? 0;
  return {
    daily_follower_gain: countFollowers(0) - countFollowers(25),
    weekly_follower_gain: countFollowers(0) - countFollowers(7 * 25),
    monthly_follower_gain: null,
  };
}

/** Writes a tweet with its counts, which grow fast at first. */
function insertTweet(tweet: number): void {
  const key = tweet + 1;
  const user = tweet % USERS;
  const created =
    NOW -
    OLDEST_TWEET_MS +
    Math.floor(tweet / USERS) * TWEET_INTERVAL_MS +
    pseudoRandom(key, 3, TWEET_INTERVAL_MS);
  const peak = (150 + pseudoRandom(key, 1, 700)) << pseudoRandom(key, 2, 9);
  const point = (nth: number): Point => {
    const seen =
      Math.floor((peak * nth) / (nth + 5)) + pseudoRandom(key, nth, Math.floor(peak / 40) + 2);
    return {
      at: created + nth * POINT_INTERVAL_MS - pseudoRandom(key, nth, JITTER_MS),
      counts: [...[38, 310, 470, 2900].map((part) => Math.floor(seen / part)), seen],
    };
  };
  const newest = insertHistory(database, KIND_TABLES.tweet, key, POINTS_PER_TWEET, point);
  // The format of the platform: the time of creation, then a number.
  const id = String((BigInt(created - PLATFORM_EPOCH_MS) << 22n) + BigInt(key % 4_194_304));
  insertRow(database, "tweets", {
    key,
    id,
    user: user + 1,
    ...newest,
    ...withInstants(newest.observed_at, {
      username: `Creator${user}`,
      text: cutProse(pseudoRandom(key, 4, 300), 40 + pseudoRandom(key, 5, 100)),
      created_at: created,
      url: `https://example.com/creator${user}/status/${id}`,
    }),
  });
}
