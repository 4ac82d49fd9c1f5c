/** The SQL of retention. Arguments ?1 to ?4 are the positions that a range of chunks lies between. */
import type { KindTables } from "../tables/entity-sql.ts";
import { CHUNK_JSON } from "./chunk-sql.ts";

/** Creates the statements for a kind; `maxChunks` limits `selectHeaders`. */
export function createRetentionSql(
  { entityTable, historyTable, entityColumn: owner, allColumns }: KindTables,
  maxChunks: number,
) {
  const isBeforeEnd = `(${owner}, start) <= (?3, ?4)`;
  // The chunk before the range can be extended, so it belongs to what a step reads and compares.
  const isInRangeOrPrevious = `(${owner}, start) >= (?1, ifnull((
        SELECT max(start)
        FROM ${historyTable}
        WHERE ${owner} = ?1 AND start <= ?2
      ), ?2)) AND ${isBeforeEnd}`;
  return {
    selectLastPosition: `
      SELECT json_object('key', ${owner}, 'start', start)
      FROM ${historyTable}
      ORDER BY ${owner} DESC, start DESC
      LIMIT 1`,

    selectHeaders: `
      SELECT json_group_array(json_object('key', ${owner}, 'start', start, 'size', size))
      FROM (
        SELECT ${owner}, start, size
        FROM ${historyTable}
        WHERE (${owner}, start) > (?1, ?2) AND ${isBeforeEnd}
        ORDER BY ${owner}, start
        LIMIT ${maxChunks}
      )`,

    selectChunks: `
      SELECT json_group_array(json_object(
        'key', ${owner},
        'start', start,
        'size', size,
        'points', points,
        'nextStart', (
          SELECT min(start)
          FROM ${historyTable} AS later
          WHERE later.${owner} = page.${owner} AND later.start > page.start
        )
      ))
      FROM (
        SELECT *
        FROM ${historyTable}
        WHERE ${isInRangeOrPrevious}
        ORDER BY ${owner}, start
      ) AS page`,

    /** Argument ?5 is a JSON array of the keys of the entities of the range. */
    selectRangeState: `
      SELECT json_object(
        'observationCount', (
          SELECT ifnull(sum(size), 0)
          FROM ${historyTable}
          WHERE ${isInRangeOrPrevious}
        ),
        'newestStates', (
          SELECT json_group_array(json_object(
            'row', json_array(${allColumns.map((column) => `e.${column}`).join(", ")}),
            'lastChunk', (
              SELECT ${CHUNK_JSON}
              FROM ${historyTable}
              WHERE ${owner} = given.value
              ORDER BY start DESC
              LIMIT 1
            )
          ))
          FROM json_each(?5) AS given
          LEFT JOIN ${entityTable} AS e ON e.key = given.value
        )
      ) AS state`,
  };
}
