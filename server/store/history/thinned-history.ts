/**
 * Reads the history of one entity for a response, thinned if it is long.
 *
 * The SQL restates the slices of core's `computeSliceBounds()`, so that only the chunks that a
 * thinned history needs are read. `tests/store/history/thinned-history.test.ts` compares both.
 */
import { computeSliceBounds, keepNewestOfSlices } from "../../../core/thinning.ts";
import { createRawJson } from "../../raw-json.ts";
import type { EntityKind } from "../../../core/kinds.ts";
import { decodeChunks, forEachPoint, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, selectChunksSql } from "./chunk-sql.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { createRowsEncoder, type PointFields } from "./history-json.ts";

export type HistoryRow = Readonly<{ isThinned: 0 | 1; chunks: readonly Chunk[] }>;

/** Reading 8 to 46 chunks takes 0.5 to 0.75 of the time of finding the chunks of 298 slices. */
const UNSLICED_MAX_CHUNKS = 48;

/** Selects the starts of the chunks with the first, the newest and each slice's newest point. */
function selectSliceStartsSql(
  { historyTable, entityColumn, entityTable }: KindTables,
  key: string,
  maxPoints: number,
): string {
  const slices = maxPoints - 2;
  const sliceNumbers = JSON.stringify(Array.from({ length: slices }, (_, index) => index + 1));
  const ofEntity = `FROM ${historyTable} WHERE ${entityColumn} = ${key}`;
  // Integers divide without a fraction in SQLite.
  return `
    SELECT (
      SELECT max(start) ${ofEntity}
      AND start < first + ((newest - first) * slice.value + ${slices - 1}) / ${slices}
    )
    FROM (
      SELECT
        (SELECT min(start) ${ofEntity}) AS first,
        (SELECT observed_at FROM ${entityTable} AS entity WHERE entity.key = ${key}) AS newest
    )
    CROSS JOIN json_each('${sliceNumbers}') AS slice
    UNION ALL SELECT (SELECT min(start) ${ofEntity})
    UNION ALL SELECT (SELECT max(start) ${ofEntity})`;
}

/** Creates the SQL that reads histories, and the function that formats their points. */
export function createHistoryReader<Point>(reader: {
  readonly kind: EntityKind;
  readonly fields: PointFields;
  readonly zoneSuffix?: "Z" | "";
  /** How many points a response lists at most, 3 or more. */
  readonly maxPoints: number;
}) {
  const { maxPoints } = reader;
  const tables = KIND_TABLES[reader.kind];
  const { pointLayout } = tables;
  const encodeRows = createRowsEncoder(tables.counts, reader.fields, reader.zoneSuffix ?? "Z");

  function encodeHistory({ isThinned, chunks }: HistoryRow): Uint8Array {
    if (isThinned === 0) {
      const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
      return encodeRows(size, (writeRow) => {
        for (const chunk of chunks) forEachPoint(chunk, pointLayout, writeRow);
      });
    }
    const points = decodeChunks(chunks, pointLayout);
    const [first, newest] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
    const bounds = computeSliceBounds(first, newest, maxPoints);
    return encodeRows(maxPoints, (writeRow) => {
      for (const { at, counts } of keepNewestOfSlices(points, bounds)) writeRow(at, counts);
    });
  }

  return {
    selectSql(key: string): string {
      const isNeeded = `start IN (${selectSliceStartsSql(tables, key, maxPoints)})`;
      // A chunk has a point or more: maxPoints + 1 chunks show that the history is too long.
      return `(
        SELECT CASE
          WHEN ifnull(sum(size), 0) <= ${maxPoints}
          THEN json_object('isThinned', 0, 'chunks', json_group_array(${CHUNK_JSON}))
          WHEN count(*) <= ${Math.min(UNSLICED_MAX_CHUNKS, maxPoints)}
          THEN json_object('isThinned', 1, 'chunks', json_group_array(${CHUNK_JSON}))
          ELSE json_object('isThinned', 1, 'chunks', ${selectChunksSql(tables, key, isNeeded)})
        END
        FROM (
          SELECT start, size, points
          FROM ${tables.historyTable}
          WHERE ${tables.entityColumn} = ${key}
          ORDER BY start
          LIMIT ${maxPoints + 1}
        )
      )`;
    },

    format: (row: HistoryRow): { points: Point[]; isThinned: boolean } => ({
      points: createRawJson(encodeHistory(row)),
      isThinned: row.isThinned === 1,
    }),
  };
}
