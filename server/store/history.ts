/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import { historyBounds } from "../../core/history.ts";
import type { Kind } from "../../core/kinds.ts";
import type { Database } from "./database.ts";
import { element } from "./json.ts";
import { LAYOUTS } from "./layout.ts";

/** An observation of a history: its instant, and the counts that were asked for. */
export type Point = readonly [at: number, ...counts: (number | null)[]];

/** Which histories are read. */
export interface HistoryKind {
  readonly kind: Kind;
  /** The columns of the counts, in the order in which a point has them. */
  readonly counts: readonly string[];
  /** How many points a history lists at most, 3 or more. */
  readonly maxPoints: number;
}

/**
 * A part of a statement: the history of an entity, oldest first, as JSON. One point more than is
 * listed tells that it is longer.
 *
 * @param key The entity's key, as SQL.
 */
export function historyJson({ kind, counts, maxPoints }: HistoryKind, key: string): string {
  const { observations, owner } = LAYOUTS[kind];
  return (
    `(SELECT json_group_array(json_array(at, ${counts.join(", ")})) FROM (SELECT at, ` +
    `${counts.join(", ")} FROM ${observations} WHERE ${owner} = ${key} ORDER BY at ` +
    `LIMIT ${maxPoints + 1}))`
  );
}

/**
 * A history as it comes in the JSON of a larger statement. SQLite keeps in mind that a text is JSON
 * from one function to the next, but not through every plan; `json()` would read it all once more.
 */
export type ReadHistory = Point[] | string;

/**
 * The history that was read by {@link historyJson}, or what thins it where it is longer than it
 * lists.
 */
export async function listHistory(
  database: Database,
  kind: HistoryKind,
  key: number,
  read: ReadHistory,
): Promise<History> {
  const points: Point[] = typeof read === "string" ? JSON.parse(read) : read;
  if (points.length <= kind.maxPoints) return { points, isThinned: false };
  return { points: await readThinned(database, kind, key), isThinned: true };
}

/** A history, oldest first. */
export interface History {
  readonly points: readonly Point[];
  /** Whether observations were left out. */
  readonly isThinned: boolean;
}

/**
 * Reads a history that is too long to list whole: looks up the newest observation of each slice,
 * instead of reading all to choose a few.
 */
async function readThinned(
  database: Database,
  { kind, counts, maxPoints }: HistoryKind,
  key: number,
): Promise<Point[]> {
  const { observations, owner } = LAYOUTS[kind];
  const [first = 0, newest = 0] =
    (await database.document<[number, number]>(
      `SELECT json_array(min(at), max(at)) FROM ${observations} WHERE ${owner} = ?`,
      [key],
    )) ?? [];
  const bounds = historyBounds(first, newest, maxPoints);
  const slices = bounds.slice(1).map((end, index) => [bounds[index], end]);
  const points = await database.document<Point[]>(
    `WITH chosen(at) AS MATERIALIZED (SELECT ?2 UNION SELECT ?3 UNION SELECT (SELECT o.at ` +
      `FROM ${observations} AS o WHERE o.${owner} = ?1 AND o.at > ?2 ` +
      `AND o.at >= ${element(0, "slice.value")} AND o.at < ${element(1, "slice.value")} ` +
      `ORDER BY o.at DESC LIMIT 1) ` +
      `FROM json_each(?4) AS slice) ` +
      `SELECT json_group_array(json_array(at, ${counts.join(", ")})) FROM ` +
      `(SELECT o.* FROM chosen CROSS JOIN ${observations} AS o ` +
      `ON o.${owner} = ?1 AND o.at = chosen.at ORDER BY o.at)`,
    [key, first, newest, JSON.stringify(slices)],
  );
  return points ?? [];
}
