/** Histories: the observations of one entity, or of those of a page, thinned where they are long. */
import { computeSliceBounds, keepNewestOfSlices } from "../../../core/history.ts";
import { createRawJson } from "../../raw-json.ts";
import type { EntityKind } from "../../../core/entity-kinds.ts";
import { encodeChunks, decodeChunks, type Chunk } from "./chunk-codec.ts";
import { selectChunksSql, KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { createPointsEncoder, type PointFields, type ZoneSuffix } from "./history-json.ts";

/** Which histories are read, and how their points are shown. */
export interface HistoryFormat {
  readonly kind: EntityKind;
  readonly fields: PointFields;
  readonly zoneSuffix: ZoneSuffix;
  /** How many points a history lists at most, 3 or more. */
  readonly maxPoints: number;
}

/** What {@link selectHistorySql} reads: whether observations are left out, and the chunks. */
export type HistoryRow = readonly [isThinned: 0 | 1, chunks: readonly Chunk[]];

/**
 * A part of a statement: the chunks of an entity's history; where it is longer than it is listed,
 * only those that the newest observation of a slice lies in. So all of an answer is of one instant.
 *
 * @param key The entity's key, as SQL.
 */
export function selectHistorySql({ kind, maxPoints }: HistoryFormat, key: string): string {
  const layout = KIND_TABLES[kind];
  const { historyTable: histories, entityColumn: owner } = layout;
  // No chunk is empty, so one more than there are points tells whether it is longer.
  const chunks =
    `SELECT start, size, points FROM ${histories} WHERE ${owner} = ${key} ` +
    `ORDER BY start LIMIT ${maxPoints + 1}`;
  const thinnedChunks = selectChunksSql(
    layout,
    key,
    `start IN (${selectSliceStartsSql(layout, key, maxPoints)})`,
  );
  return (
    `(SELECT CASE WHEN ifnull(sum(size), 0) <= ${maxPoints} ` +
    "THEN json_array(0, json_group_array(json_array(start, size, points))) " +
    `ELSE json_array(1, ${thinnedChunks}) END FROM (${chunks}))`
  );
}

/** Where the chunks start that hold the ends of a history and the newest of each slice, as SQL. */
function selectSliceStartsSql(
  { historyTable: histories, entityColumn: owner, entityTable: entities }: KindTables,
  key: string,
  maxPoints: number,
): string {
  const start = (which: string, where = "") =>
    `(SELECT ${which}(start) FROM ${histories} WHERE ${owner} = ${key}${where})`;
  const ends =
    `SELECT ${start("min")} AS first, ` +
    `(SELECT observed_at FROM ${entities} AS entity WHERE entity.key = ${key}) AS newest`;
  const slices = maxPoints - 2;
  // As computeSliceBounds() has them; whole numbers are divided without a fraction.
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
 * @returns Takes what was read by {@link selectHistorySql}.
 */
export function createHistoryFormatter<Point>(format: HistoryFormat) {
  const encode = createPointsEncoder(format.kind, format.fields, format.zoneSuffix);
  return ([isThinned, chunks]: HistoryRow): History<Point> => {
    const json = encode(isThinned === 1 ? thinChunks(format, chunks) : chunks);
    return { points: createRawJson(json), isThinned: isThinned === 1 };
  };
}

/** Thins a history of which only what thinning needs was read, its two ends among it. */
function thinChunks({ kind, maxPoints }: HistoryFormat, chunks: readonly Chunk[]): Chunk[] {
  const width = KIND_TABLES[kind].countColumns.size;
  const points = decodeChunks(chunks, width);
  const [first, newest] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  return encodeChunks(
    keepNewestOfSlices(points, computeSliceBounds(first, newest, maxPoints)),
    width,
  );
}
