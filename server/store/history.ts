/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import { historyBounds, newestOfSlices } from "../../core/history.ts";
import { writtenJson } from "../../core/json.ts";
import type { Kind } from "../../core/kinds.ts";
import { pack, unpack, type Chunk } from "./chunks.ts";
import { chunksWhere, LAYOUTS, type Layout } from "./layout.ts";
import { pointWriter, type PointForm, type Zone } from "./points.ts";

/** Which histories are read, and how their points are shown. */
export interface HistoryKind {
  readonly kind: Kind;
  readonly form: PointForm;
  readonly zone: Zone;
  /** How many points a history lists at most, 3 or more. */
  readonly maxPoints: number;
}

/** What {@link historyColumn} reads: whether observations are left out, and the chunks. */
export type ReadHistory = readonly [isThinned: 0 | 1, chunks: readonly Chunk[]];

/**
 * A part of a statement: the chunks of an entity's history; where it is longer than it is listed,
 * only those that the newest observation of a slice lies in. So all of an answer is of one instant.
 *
 * @param key The entity's key, as SQL.
 */
export function historyColumn({ kind, maxPoints }: HistoryKind, key: string): string {
  const layout = LAYOUTS[kind];
  const { histories, owner } = layout;
  // No chunk is empty, so one more than there are points tells whether it is longer.
  const chunks =
    `SELECT start, size, points FROM ${histories} WHERE ${owner} = ${key} ` +
    `ORDER BY start LIMIT ${maxPoints + 1}`;
  const chosen = chunksWhere(layout, key, `start IN (${startsOfSlices(layout, key, maxPoints)})`);
  return (
    `(SELECT CASE WHEN ifnull(sum(size), 0) <= ${maxPoints} ` +
    "THEN json_array(0, json_group_array(json_array(start, size, points))) " +
    `ELSE json_array(1, ${chosen}) END FROM (${chunks}))`
  );
}

/** Where the chunks start that hold the ends of a history and the newest of each slice, as SQL. */
function startsOfSlices(
  { histories, owner, entities }: Layout,
  key: string,
  maxPoints: number,
): string {
  const start = (which: string, where = "") =>
    `(SELECT ${which}(start) FROM ${histories} WHERE ${owner} = ${key}${where})`;
  const ends =
    `SELECT ${start("min")} AS first, ` +
    `(SELECT observed_at FROM ${entities} AS entity WHERE entity.key = ${key}) AS newest`;
  const slices = maxPoints - 2;
  // As historyBounds() has them; whole numbers are divided without a fraction.
  const bound = `first + ((newest - first) * slice.value + ${slices - 1}) / ${slices}`;
  const numbers = JSON.stringify(Array.from({ length: slices }, (_, index) => index + 1));
  return (
    `SELECT ${start("max", ` AND start < ${bound}`)} FROM (${ends}) AS ends ` +
    `CROSS JOIN json_each('${numbers}') AS slice ` +
    `UNION ALL SELECT ${start("min")} UNION ALL SELECT ${start("max")}`
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
 * @returns Takes what was read by {@link historyColumn}.
 */
export function historyLister<Point>(kind: HistoryKind) {
  const write = pointWriter(kind.kind, kind.form, kind.zone);
  return ([isThinned, chunks]: ReadHistory): History<Point> => {
    const json = write(isThinned === 1 ? thin(kind, chunks) : chunks);
    return { points: writtenJson(json), isThinned: isThinned === 1 };
  };
}

/** Thins a history of which only what thinning needs was read, its two ends among it. */
function thin({ kind, maxPoints }: HistoryKind, chunks: readonly Chunk[]): Chunk[] {
  const width = LAYOUTS[kind].counts.size;
  const points = unpack(chunks, width);
  const [first, newest] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  return pack(newestOfSlices(points, historyBounds(first, newest, maxPoints)), width);
}
