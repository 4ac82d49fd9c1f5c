/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import { historyBounds } from "../../core/history.ts";
import { writtenJson } from "../../core/json.ts";
import type { Kind } from "../../core/kinds.ts";
import type { Database } from "./database.ts";
import { element } from "./json.ts";
import { LAYOUTS } from "./layout.ts";
import { columnsOf, pointWriter, type PointForm } from "./points.ts";

/** Which histories are read, and how their points are shown. */
export interface HistoryKind {
  readonly kind: Kind;
  readonly form: PointForm;
  /** What is written behind an instant. */
  readonly zone: "Z" | "";
  /** How many points a history lists at most, 3 or more. */
  readonly maxPoints: number;
}

/**
 * A part of a statement: the text of the JSON of an entity's history, oldest first. One point more
 * than is listed tells that it is longer.
 *
 * @param key The entity's key, as SQL.
 */
export function historyText({ kind, form, maxPoints }: HistoryKind, key: string): string {
  const { observations, owner } = LAYOUTS[kind];
  const columns = ["at", ...columnsOf(form)].join(", ");
  return (
    `(SELECT json_group_array(json_array(${columns})) FROM (SELECT ${columns} ` +
    `FROM ${observations} WHERE ${owner} = ${key} ORDER BY at LIMIT ${maxPoints + 1})) || ''`
  );
}

/** A history as an answer lists it. */
export interface History<Point> {
  readonly points: Point[];
  /** Whether observations were left out. */
  readonly isThinned: boolean;
}

/**
 * Makes what lists histories.
 *
 * @returns Takes the text that was read by {@link historyText}; reads what thins the history where
 * it is longer than it lists.
 */
export function historyLister<Point>(kind: HistoryKind) {
  const write = pointWriter(kind.form, kind.zone);
  return async (database: Database, key: number, text: string): Promise<History<Point>> => {
    const { json, count } = write(text);
    if (count <= kind.maxPoints) return { points: writtenJson(json), isThinned: false };
    const thinned = write(await readThinned(database, kind, key));
    return { points: writtenJson(thinned.json), isThinned: true };
  };
}

/**
 * Reads a history that is too long to list whole: looks up the newest observation of each slice,
 * instead of reading all to choose a few.
 */
async function readThinned(
  database: Database,
  { kind, form, maxPoints }: HistoryKind,
  key: number,
): Promise<string> {
  const { observations, owner } = LAYOUTS[kind];
  const [first = 0, newest = 0] =
    (await database.document<[number, number]>(
      `SELECT json_array(min(at), max(at)) FROM ${observations} WHERE ${owner} = ?`,
      [key],
    )) ?? [];
  const bounds = historyBounds(first, newest, maxPoints);
  const slices = bounds.slice(1).map((end, index) => [bounds[index], end]);
  const text = await database.document<string>(
    `WITH chosen(at) AS MATERIALIZED (SELECT ?2 UNION SELECT ?3 UNION SELECT (SELECT o.at ` +
      `FROM ${observations} AS o WHERE o.${owner} = ?1 AND o.at > ?2 ` +
      `AND o.at >= ${element(0, "slice.value")} AND o.at < ${element(1, "slice.value")} ` +
      `ORDER BY o.at DESC LIMIT 1) ` +
      `FROM json_each(?4) AS slice) ` +
      `SELECT json_quote(json_group_array(json_array(at, ${columnsOf(form).join(", ")})) || '') FROM ` +
      `(SELECT o.* FROM chosen CROSS JOIN ${observations} AS o ` +
      `ON o.${owner} = ?1 AND o.at = chosen.at ORDER BY o.at)`,
    [key, first, newest, JSON.stringify(slices)],
  );
  return text ?? "[]";
}
