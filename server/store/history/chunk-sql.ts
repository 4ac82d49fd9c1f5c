/** The SQL that reads, writes and deletes chunks of histories. */
import type { Statement } from "../database/database.ts";
import { jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import type { Chunk } from "./chunk-codec.ts";

/** A row of a history table as the JSON of a {@link Chunk}, as SQL. */
export const CHUNK_JSON = "json_object('start', start, 'size', size, 'points', points)";

/** A scalar subquery for the chunks of an entity that match a condition, as a JSON array. */
export function selectChunksSql(
  { historyTable, entityColumn }: KindTables,
  key: string,
  condition: string,
  order = "start",
): string {
  return `(
    SELECT json_group_array(${CHUNK_JSON})
    FROM (
      SELECT start, size, points
      FROM ${historyTable}
      WHERE ${entityColumn} = ${key} AND ${condition}
      ORDER BY ${order}
    )
  )`;
}

/** The start of the chunk that an instant belongs to; before the first chunk, its start. */
export function selectChunkStartSql(
  { historyTable, entityColumn }: KindTables,
  key: string,
  at: string,
): string {
  return `ifnull(
    (SELECT max(start) FROM ${historyTable} WHERE ${entityColumn} = ${key} AND start <= ${at}),
    (SELECT min(start) FROM ${historyTable} WHERE ${entityColumn} = ${key})
  )`;
}

/** Writes chunks, each with the identifier of its entity. They replace chunks with equal starts. */
export function upsertChunks(
  { entityTable, historyTable, entityColumn }: KindTables,
  chunks: readonly (Chunk & { readonly id: string })[],
): Statement {
  const [id, ...values] = [0, 1, 2, 3].map((index) => jsonExtractSql(index, "given.value"));
  const rows = chunks.map((chunk) => [chunk.id, chunk.start, chunk.size, chunk.points]);
  return {
    sql: `
      INSERT INTO ${historyTable} (${entityColumn}, start, size, points)
      SELECT entity.key, ${values.join(", ")}
      FROM json_each(?) AS given
      CROSS JOIN ${entityTable} AS entity ON entity.id = ${id}
      WHERE true
      ON CONFLICT (${entityColumn}, start) DO UPDATE SET
        size = excluded.size,
        points = excluded.points`,
    args: [JSON.stringify(rows)],
  };
}

export type ChunkPosition = Readonly<Record<"key" | "start", number>>;

export function deleteChunks(
  { historyTable, entityColumn }: KindTables,
  chunks: readonly ChunkPosition[],
): Statement {
  return {
    sql: `
      DELETE FROM ${historyTable}
      WHERE (${entityColumn}, start) IN (
        SELECT ${jsonExtractSql(0)}, ${jsonExtractSql(1)}
        FROM json_each(?)
      )`,
    args: [JSON.stringify(chunks.map(({ key, start }) => [key, start]))],
  };
}
