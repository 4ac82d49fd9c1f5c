/**
 * Writes channels directly into the tables of a database of the service.
 *
 * Arguments: the path of a database that no process has open, the number of channels, how many of them
 * have a history, and where it ends: observations of every hour, longer than a year. The others have
 * only their newest state, because lists read no history.
 */
import { listSortedGains } from "../../../core/growth.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { Point } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import { HISTORY_HOURS } from "../seed.ts";
import {
  cutProse,
  insertHistory,
  insertRow,
  openForSeeding,
  pseudoRandom,
  toNewestColumns,
  withInstants,
} from "./seed-rows.ts";

const [, , file = "", channelCount = "", longCount = "", end = ""] = process.argv;
const HISTORY_END = Number(end);
const COUNTRIES = ["IE", "JP", "BR", "DE", "IN", null];

const database = openForSeeding(file);
database.run("BEGIN");
for (let channel = 0; channel < Number(channelCount); channel++) insertChannel(channel);
database.run("COMMIT");
database.run("PRAGMA journal_mode = WAL");
database.close();

/** Writes a channel. The key is its number plus 1. */
function insertChannel(channel: number): void {
  const tables = KIND_TABLES.channel;
  const length = channel < Number(longCount) ? HISTORY_HOURS : 0;
  const newest =
    length === 0
      ? toNewestColumns(tables.counts, createPoint(channel, HISTORY_HOURS))
      : insertHistory(database, tables, channel + 1, length, (nth) => createPoint(channel, nth));
  const username = `Channel${channel}`;
  insertRow(database, "channels", {
    key: channel + 1,
    id: `UC${String((channel * 48_271) % 100_000_007).padStart(22, "0")}`,
    username_folded: username.toLowerCase(),
    display_name_folded: `channel no. ${channel}`,
    ...newest,
    ...createGains(channel),
    ...withInstants(newest.observed_at, {
      username,
      display_name: `Channel No. ${channel}`,
      description: cutProse(pseudoRandom(channel, 5, 300), 90),
      joined_at: HISTORY_END - 100_000_000_000 - pseudoRandom(channel, 6, 1_000_000_000),
      country: COUNTRIES[channel % COUNTRIES.length] ?? null,
      thumbnail: `https://example.com/channel${channel}/avatar.jpg`,
      banner_image: null,
    }),
  });
}

/** Creates the observation of an hour, counted from the oldest. */
function createPoint(channel: number, hour: number): Point {
  const base = (400 + pseudoRandom(channel, 1, 600)) << pseudoRandom(channel, 2, 11);
  const subscribers = base + Math.floor((base * hour) / 20_000) + pseudoRandom(channel, hour, 9);
  return {
    at: HISTORY_END - (HISTORY_HOURS - hour) * HOUR_MS - pseudoRandom(channel, hour, HOUR_MS),
    counts: [subscribers, 100 + Math.floor(hour / 40), subscribers * 150 + hour * 37],
  };
}

/** The gains that lists are sorted by. A tenth of the channels have none. */
function createGains(channel: number): Record<string, number | null> {
  return Object.fromEntries(
    listSortedGains("channel").map((name, index) => [
      toColumnName(name),
      channel % 10 === 3 ? null : pseudoRandom(channel, index + 50, 20_000) - 2000,
    ]),
  );
}
