/** The SQL of retention: the chunks that a step prunes, and the state that proves it. */
import type { Row } from "@libsql/client";
import type { KindTables } from "../tables/entity-sql.ts";
import { decodeChunks, type Chunk } from "./chunk-codec.ts";
import { CHUNK_JSON, type ChunkPosition } from "./chunk-sql.ts";

export interface EntityChunk extends Chunk, ChunkPosition {
  readonly id: string;
  /** Where the next chunk of the entity starts; `null` if this is the last one. */
  readonly nextStart: number | null;
}

export const selectLastPositionSql = ({ historyTable, entityColumn }: KindTables) => `
  SELECT json_object('key', ${entityColumn}, 'start', start)
  FROM ${historyTable}
  ORDER BY ${entityColumn} DESC, start DESC
  LIMIT 1`;

/**
 * Whether a chunk is in the range of the arguments ?1 to ?4, or the one before it: that one can be
 * extended, so a step reads and compares it too.
 */
const isInRangeOrPreviousSql = ({ historyTable, entityColumn }: KindTables) => `
  (${entityColumn}, start) >= (?1, ifnull((
    SELECT max(start)
    FROM ${historyTable}
    WHERE ${entityColumn} = ?1 AND start <= ?2
  ), ?2)) AND (${entityColumn}, start) <= (?3, ?4)`;

export const selectStepChunksSql = (tables: KindTables, limit: number) => `
  SELECT json_group_array(json_object(
    'key', ${tables.entityColumn},
    'id', (SELECT id FROM ${tables.entityTable} WHERE key = page.${tables.entityColumn}),
    'start', start,
    'size', size,
    'points', points,
    'nextStart', (
      SELECT min(start)
      FROM ${tables.historyTable} AS later
      WHERE later.${tables.entityColumn} = page.${tables.entityColumn} AND later.start > page.start
    )
  ))
  FROM (
    SELECT *
    FROM ${tables.historyTable}
    WHERE ${isInRangeOrPreviousSql(tables)}
    ORDER BY ${tables.entityColumn}, start
    LIMIT ${limit}
  ) AS page`;

/** Selects the state of a range. Argument ?5 is a JSON array of the keys of the entities in the range. */
export const selectStateSql = (tables: KindTables) => `
  SELECT json_object(
    'observationCount', (
      SELECT ifnull(sum(size), 0)
      FROM ${tables.historyTable}
      WHERE ${isInRangeOrPreviousSql(tables)}
    ),
    'newestStates', (
      SELECT json_group_array(json_object(
        'row', json_array(${tables.stateColumns.map((column) => `e.${column}`).join(", ")}),
        'lastChunk', (
          SELECT ${CHUNK_JSON}
          FROM ${tables.historyTable}
          WHERE ${tables.entityColumn} = given.value
          ORDER BY start DESC
          LIMIT 1
        )
      ))
      FROM json_each(?5) AS given
      LEFT JOIN ${tables.entityTable} AS e ON e.key = given.value
    )
  ) AS state`;

interface RangeState {
  readonly observationCount: number;
  readonly newestStates: readonly { readonly row: unknown; readonly lastChunk: Chunk | null }[];
}

/** Parses the row of {@link selectStateSql}; `newestStates` becomes text to compare. */
export function parseState({ pointLayout }: KindTables, [row]: readonly Row[]) {
  const { observationCount, newestStates }: RangeState = JSON.parse(String(row?.["state"]));
  const states = newestStates.map(({ row: entityRow, lastChunk }) => [
    entityRow,
    // Compared by its last point, because pruning can extend the chunk.
    lastChunk === null ? null : decodeChunks([lastChunk], pointLayout).at(-1),
  ]);
  return { observationCount, newestStates: JSON.stringify(states) };
}
