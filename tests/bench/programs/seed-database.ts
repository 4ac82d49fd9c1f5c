/**
 * Writes users, tweets and histories directly into the tables of a database of the service.
 *
 * Arguments: the path of a database that no process has open, and the number of users. The keys of tweets
 * are in the order of publication over all users, as after an import in the order of time. Histories are
 * written in the order of their keys.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { encodeChunks, type Point } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES, type KindTables } from "../../../server/store/tables/entity-sql.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import { POINTS_PER_TWEET, POINTS_PER_USER, TWEETS_PER_USER } from "../seed.ts";

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

/** The text that tweets are cut from. */
const PROSE =
  'We measured the soup again: it is still "hot", says everyone who asked.\nTomorrow the café ' +
  "opens at nine, bring a spoon 🍲 and a friend. The long version, with every number and the " +
  "one mistake that we made, is in the usual place. Thank you for reading so far; the next one " +
  "is about bread, which takes seven minutes less than you think, and about the oven. Nobody " +
  "expected the leek to win, least of all the leek. Questions? Ask them here and we answer on " +
  "Friday, as ever, with a recipe and a picture of the cat who sits upon the scales.";
const CHARACTERS = [...PROSE];

/** A row: values by column. */
type Row = Readonly<Record<string, SQLQueryBindings>>;

const database = new Database(file);
// Durability is not needed: the file is temporary.
for (const pragma of ["journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"]) {
  database.run(`PRAGMA ${pragma}`);
}
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
  const newest = insertHistory(KIND_TABLES.user, key, POINTS_PER_USER, point);
  insertRow("users", {
    key,
    id: `creator${user}`,
    ...newest,
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
  const newest = insertHistory(KIND_TABLES.tweet, key, POINTS_PER_TWEET, point);
  // The format of the platform: the time of creation, then a number.
  const id = String((BigInt(created - PLATFORM_EPOCH_MS) << 22n) + BigInt(key % 4_194_304));
  insertRow("tweets", {
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

/** A pseudo-random number from 0 to below `bound`, determined by two numbers. */
function pseudoRandom(a: number, b: number, bound: number): number {
  return (((a * 7919 + b * b * 104_729 + 12_345) * 48_271) % 2_147_483_647) % bound;
}

function cutProse(from: number, length: number): string {
  return CHARACTERS.slice(from, from + length).join("");
}

/**
 * Writes a history.
 *
 * @param point Returns the nth point, from the first to the last.
 * @returns The columns of the entity's row for the last point.
 */
function insertHistory(
  { historyTable: histories, entityColumn: owner, counts }: KindTables,
  key: number,
  length: number,
  point: (nth: number) => Point,
) {
  const points = Array.from({ length }, (_, index) => point(index + 1));
  for (const chunk of encodeChunks(points, counts.length)) {
    insertRow(histories, { [owner]: key, ...chunk });
  }
  const { at, counts: last } = point(length);
  const columns = counts.map((name, place) => [toColumnName(name), last[place] ?? null]);
  return { observed_at: at, ...(Object.fromEntries(columns) as Row) };
}

/** The describing columns of an entity, each with the time of its observation. */
function withInstants(at: number, row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => [
      [column, value],
      [`${column}_at`, at],
    ]),
  );
}

function insertRow(table: string, row: Row): void {
  const columns = Object.keys(row);
  const placeholders = columns.map(() => "?");
  database
    .query(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${placeholders.join(", ")})`)
    .run(...Object.values(row));
}
