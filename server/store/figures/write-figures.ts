/** Writes figures, and removes the marks of the entities that had to be computed again. */
import type { Statement } from "../database/database.ts";
import { jsonExtractSql } from "../tables/entity-sql.ts";

/** Removes the marks of entities by their keys. */
export const unmarkStale = (kind: string, keys: readonly number[]): Statement =>
  deleteByKeys(`stale_${kind}_figures`, keys);

/** Removes the figures of entities by their keys. */
export const deleteFigures = (kind: string, keys: readonly number[]): Statement =>
  deleteByKeys(`${kind}_figures`, keys);

const deleteByKeys = (table: string, keys: readonly number[]): Statement => ({
  sql: `
    DELETE FROM ${table}
    WHERE key IN (SELECT value FROM json_each(?))`,
  args: [JSON.stringify(keys)],
});

/** Writes rows of figures; the first column is `key`. They replace those with equal keys. */
export function upsertFigures(
  kind: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Statement {
  const values = columns.map((_, index) => jsonExtractSql(index));
  const updates = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  return {
    sql: `
      INSERT INTO ${kind}_figures (${columns.join(", ")})
      SELECT ${values.join(", ")}
      FROM json_each(?)
      WHERE true
      ON CONFLICT (key) DO UPDATE SET
        ${updates.join(",\n        ")}`,
    args: [JSON.stringify(rows)],
  };
}
