/**
 * Writes users, tweets and histories straight into the tables of a database that the service made.
 *
 * Takes the path of the database, which no process has open, and the number of users. Tweets have
 * their keys in the order they were published, those of all users mixed, as an import of
 * observations in the order of time gives them; what lies by entity and instant is written so.
 */
import { Database } from "bun:sqlite";
import { POINTS_PER_TWEET, POINTS_PER_USER, TWEETS_PER_USER } from "../fill.ts";

const [, , file = "", users = ""] = process.argv;
const NOW = Date.now();
const HOUR_MS = 3_600_000;

/** The first tweet is so old, and the next one comes so much later, with some irregularity. */
const OLDEST_TWEET_MS = 324 * HOUR_MS;
const BETWEEN_TWEETS_MS = 6 * HOUR_MS;

/** Observations come a bit more than once an hour. */
const BETWEEN_POINTS_MS = 3_580_000;
const IRREGULAR_MS = 3_000_000;

/** What tweets are cut from. */
const PROSE =
  'We measured the soup again: it is still "hot", says everyone who asked.\nTomorrow the café ' +
  "opens at nine, bring a spoon 🍲 and a friend. The long version, with every number and the " +
  "one mistake that we made, is in the usual place. Thank you for reading so far; the next one " +
  "is about bread, which takes seven minutes less than you think, and about the oven. Nobody " +
  "expected the leek to win, least of all the leek. Questions? Ask them here and we answer on " +
  "Friday, as ever, with a recipe and a picture of the cat who sits upon the scales.";

/** A number from 0 to below `bound` that two numbers decide, and that looks like chance. */
function chance(a: string, b: string, bound: string | number): string {
  return `((${a} * 7919 + ${b} * ${b} * 104729 + 12345) * 48271 % 2147483647 % (${bound}))`;
}

const database = new Database(file);
// Nothing is lost if this is cut off: the file is thrown away.
for (const pragma of ["journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"]) {
  database.run(`PRAGMA ${pragma}`);
}
for (const pragma of ["temp_store = MEMORY", "cache_size = -400000"]) {
  database.run(`PRAGMA ${pragma}`);
}
database.run("BEGIN");
makeNumbers();
fillUsers();
fillTweets();
database.run("COMMIT");
database.run("PRAGMA journal_mode = WAL");
database.close();

/** Tables of numbers to make rows of; they are gone with the connection. */
function makeNumbers(): void {
  const make = (name: string, first: number, last: number) => {
    database.run(`CREATE TEMP TABLE ${name} (n INTEGER PRIMARY KEY)`);
    database.run(
      `INSERT INTO ${name} WITH RECURSIVE numbers(n) AS (VALUES (${first}) UNION ALL ` +
        `SELECT n + 1 FROM numbers WHERE n < ${last}) SELECT n FROM numbers`,
    );
  };
  make("user_numbers", 0, Number(users) - 1);
  make("tweet_numbers", 0, TWEETS_PER_USER - 1);
  make("user_points", 1, POINTS_PER_USER);
  make("tweet_points", 1, POINTS_PER_TWEET);
}

/** Users, whose key is their number and 1, and their follower counts. */
function fillUsers(): void {
  const irregular = chance("u.n", "p.n", IRREGULAR_MS);
  const at = `${NOW} - (${POINTS_PER_USER} - p.n) * ${BETWEEN_POINTS_MS} - ${irregular}`;
  const base = `(400 + ${chance("u.n", "1", 600)} << ${chance("u.n", "2", 11)})`;
  const counts = [
    `${base} + ${base} * p.n / 4000 + ${chance("u.n", "p.n", `${base} / 300 + 3`)}`,
    `200 + ${chance("u.n", "3", 900)} + p.n / 100`,
    `1000 + ${chance("u.n", "4", 9000)} + p.n / 7`,
  ];
  database.run(
    "INSERT INTO user_observations (user, at, followers_count, following_count, tweet_count) " +
      `SELECT u.n + 1, ${at}, ${counts.join(", ")} ` +
      "FROM user_numbers AS u CROSS JOIN user_points AS p",
  );
  const described = ["username", "display_name", "profile_image_url", "description", "created_at"];
  const columns = [...described, "verified"].flatMap((column) => [column, `${column}_at`]);
  const values = [
    "'Creator' || n",
    "'Creator No. ' || n",
    "'https://example.com/creator' || n || '/avatar.jpg'",
    `substr(?1, 1 + ${chance("n", "5", 300)}, 90)`,
    `${NOW} - 31536000000 - ${chance("n", "6", 1_000_000_000)}`,
    "n % 5 = 0",
  ].flatMap((value) => [value, "at"]);
  database.run(
    "INSERT INTO users (key, id, observed_at, followers_count, following_count, tweet_count, " +
      `${columns.join(", ")}) SELECT n + 1, 'creator' || n, at, followers_count, ` +
      `following_count, tweet_count, ${values.join(", ")} FROM user_numbers ` +
      "CROSS JOIN user_observations ON user = n + 1 AND at = " +
      "(SELECT max(at) FROM user_observations WHERE user = n + 1)",
    [PROSE],
  );
}

/** Tweets and their counts, which grow fast at first. */
function fillTweets(): void {
  const key = `t.n * ${users} + u.n + 1`;
  database.run(
    "CREATE TEMP TABLE seeds (key INTEGER PRIMARY KEY, user INTEGER, created_at INTEGER, " +
      "peak INTEGER)",
  );
  database.run(
    `INSERT INTO seeds SELECT key, user, ${NOW} - ${OLDEST_TWEET_MS} + number * ` +
      `${BETWEEN_TWEETS_MS} + ${chance("key", "3", BETWEEN_TWEETS_MS)}, ` +
      `150 + ${chance("key", "1", 700)} << ${chance("key", "2", 9)} FROM ` +
      `(SELECT ${key} AS key, u.n + 1 AS user, t.n AS number ` +
      "FROM tweet_numbers AS t CROSS JOIN user_numbers AS u)",
  );
  const irregular = chance("s.key", "p.n", IRREGULAR_MS);
  // The limit keeps SQLite from computing the impressions once for each use.
  database.run(
    "INSERT INTO tweet_observations (tweet, at, likes, retweets, replies, quotes, impressions) " +
      "SELECT key, at, seen / 38, seen / 310, seen / 470, seen / 2900, seen FROM " +
      `(SELECT s.key, s.created_at + p.n * ${BETWEEN_POINTS_MS} - ${irregular} AS at, ` +
      `s.peak * p.n / (p.n + 5) + ${chance("s.key", "p.n", "s.peak / 40 + 2")} AS seen ` +
      "FROM seeds AS s CROSS JOIN tweet_points AS p LIMIT -1)",
  );
  database.run(
    "INSERT INTO tweets (key, id, observed_at, user, username, username_at, likes, retweets, " +
      "replies, quotes, impressions, text, text_at, created_at, created_at_at, url, url_at) " +
      "SELECT key, id, at, user, 'Creator' || (user - 1), at, likes, retweets, replies, quotes, " +
      `impressions, substr(?1, 1 + ${chance("key", "4", 300)}, 40 + ${chance("key", "5", 100)}), ` +
      "at, created_at, at, 'https://example.com/creator' || (user - 1) || '/status/' || id, at " +
      // An identifier as the platform gives them: the time of its creation, then a number.
      "FROM (SELECT *, CAST((created_at - 1288834974657 << 22) + key % 4194304 AS TEXT) AS id " +
      "FROM seeds) CROSS JOIN tweet_observations ON tweet = key AND at = " +
      "(SELECT max(at) FROM tweet_observations WHERE tweet = key)",
    [PROSE],
  );
}
