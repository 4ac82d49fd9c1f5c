/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import type { Kind } from "../../core/kinds.ts";
import { historyBounds } from "../../core/history.ts";
import type { Counts } from "../../core/observations.ts";
import type { Database } from "./database.ts";
import { LAYOUTS, type Layout } from "./layout.ts";
import { countsOf } from "./observe.ts";

/** An observation of a history. */
export interface Point {
  readonly at: number;
  readonly counts: Counts;
}

/** A history, oldest first. */
export interface History {
  readonly points: readonly Point[];
  /** Whether observations were left out. */
  readonly isThinned: boolean;
}

/**
 * Reads the histories of entities.
 *
 * @param keys Their keys; the answer has a history for each.
 * @param maxPoints How many points each lists at most, 3 or more.
 */
export async function readHistories(
  database: Database,
  kind: Kind,
  keys: readonly number[],
  maxPoints: number,
): Promise<Map<number, History>> {
  const layout = LAYOUTS[kind];
  const long = new Set(await longerThan(database, layout, keys, maxPoints));
  const short = keys.filter((key) => !long.has(key));
  const histories = new Map(
    keys.map((key) => [key, { points: new Array<Point>(), isThinned: long.has(key) }] as const),
  );
  const rows = await database.select({
    sql:
      `SELECT * FROM ${layout.observations} WHERE ${layout.owner} IN ` +
      `(SELECT value FROM json_each(?)) ORDER BY ${layout.owner}, at`,
    args: [JSON.stringify(short)],
  });
  for (const row of rows) {
    const point = { at: Number(row["at"]), counts: countsOf(layout, row) };
    histories.get(Number(row[layout.owner]))?.points.push(point);
  }
  for (const key of long) {
    const points = await readThinned(database, layout, key, maxPoints);
    histories.get(key)?.points.push(...points);
  }
  return histories;
}

/** The entities that have more than `maxPoints` observations; no more of them are counted. */
async function longerThan(
  database: Database,
  { observations, owner }: Layout,
  keys: readonly number[],
  maxPoints: number,
): Promise<number[]> {
  const rows = await database.select({
    sql:
      `SELECT value AS key FROM json_each(?1) WHERE (SELECT count(*) FROM (SELECT 1 ` +
      `FROM ${observations} WHERE ${owner} = value LIMIT ?2 + 1)) > ?2`,
    args: [JSON.stringify(keys), maxPoints],
  });
  return rows.map((row) => Number(row["key"]));
}

/** Looks up the newest observation of each slice, instead of reading all to choose a few. */
async function readThinned(
  database: Database,
  layout: Layout,
  key: number,
  maxPoints: number,
): Promise<Point[]> {
  const { observations, owner } = layout;
  const [ends] = await database.select({
    sql: `SELECT min(at) AS first, max(at) AS newest FROM ${observations} WHERE ${owner} = ?`,
    args: [key],
  });
  const [first, newest] = [Number(ends?.["first"]), Number(ends?.["newest"])];
  const bounds = historyBounds(first, newest, maxPoints);
  const slices = bounds.slice(1).map((end, index) => [bounds[index], end]);
  const rows = await database.select({
    sql:
      `WITH chosen(at) AS MATERIALIZED (SELECT ?2 UNION SELECT ?3 UNION SELECT (SELECT o.at ` +
      `FROM ${observations} AS o WHERE o.${owner} = ?1 AND o.at > ?2 ` +
      `AND o.at >= slice.value ->> 0 AND o.at < slice.value ->> 1 ORDER BY o.at DESC LIMIT 1) ` +
      `FROM json_each(?4) AS slice) SELECT o.* FROM chosen CROSS JOIN ${observations} AS o ` +
      `ON o.${owner} = ?1 AND o.at = chosen.at ORDER BY o.at`,
    args: [key, first, newest, JSON.stringify(slices)],
  });
  return rows.map((row) => ({ at: Number(row["at"]), counts: countsOf(layout, row) }));
}
