/**
 * Writes shorts with their figures directly into the tables of a database of the service.
 *
 * Arguments: the path of a database that no process has open, with channels whose keys begin with 1,
 * the number of these channels, the number of shorts, and the newest instant of publication. The
 * shorts have only their newest state, because lists read no history.
 */
import { MINUTE_MS } from "../../../core/time.ts";
import { insertRow, openForSeeding, pseudoRandom, withInstants } from "./seed-rows.ts";

const [, , file = "", channelCount = "", shortCount = "", end = ""] = process.argv;
const [CHANNELS, SHORTS, END] = [Number(channelCount), Number(shortCount), Number(end)];

const database = openForSeeding(file);
database.run("BEGIN");
for (let short = 0; short < SHORTS; short++) insertShort(short);
// The lists of channels by percent.
database.run(`
  INSERT INTO channel_figures (key, id, size, weekly_subscriber_gain_percent)
  SELECT
    key,
    id,
    subscribers,
    round(100.0 * weekly_subscriber_gain / (subscribers - weekly_subscriber_gain), 4)
  FROM channels`);
database.run("COMMIT");
database.run("PRAGMA journal_mode = WAL");
database.close();

/** Writes a short and its figures. One is published every minute. */
function insertShort(short: number): void {
  const key = short + 1;
  const id = `s${String((short * 48_271) % 100_000_007).padStart(10, "0")}`;
  const owner = 1 + pseudoRandom(short, 1, CHANNELS);
  const published = END - short * MINUTE_MS;
  const views = pseudoRandom(short, 2, 1_000_000);
  insertRow(database, "shorts", {
    key,
    id,
    observed_at: END,
    channel_key: owner,
    channel: `UC${String(((owner - 1) * 48_271) % 100_000_007).padStart(22, "0")}`,
    channel_at: END,
    views,
    likes: Math.floor(views / 20),
    comments: Math.floor(views / 300),
    ...withInstants(END, { title: `Short no. ${short}`, published_at: published }),
  });
  insertRow(database, "short_figures", {
    key,
    id,
    owner,
    published_at: published,
    views,
    views_per_hour: pseudoRandom(short, 3, 100_000) / 16,
    views_per_day: pseudoRandom(short, 4, 1_000_000) / 16,
    age_multiple:
      pseudoRandom(short, 5, 10) === 0 ? null : pseudoRandom(short, 6, 200_000) / 10_000,
  });
}
