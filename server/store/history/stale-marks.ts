/** Marks entities whose figures have to be computed again, in the transaction of their change. */
import type { Statement } from "../database/database.ts";
import type { KindTables } from "../tables/entity-sql.ts";

/**
 * Marks entities. The statement comes after those that store them.
 *
 * @param keys The keys of entities that were stored before.
 * @param ids The identifiers of new entities: finding a key takes longer than marking it.
 */
export function markStale(
  { kind, entityTable }: KindTables,
  { keys, ids }: { readonly keys: readonly number[]; readonly ids: readonly string[] },
): Statement {
  return {
    sql: `
      INSERT INTO stale_${kind}_figures (key)
      SELECT key
      FROM (
        SELECT value AS key
        FROM json_each(?1)
        UNION ALL
        SELECT entity.key
        FROM json_each(?2) AS given
        CROSS JOIN ${entityTable} AS entity ON entity.id = given.value
      )
      WHERE true
      ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(keys), JSON.stringify(ids)],
  };
}
