/** The SQL that computes the figures of shorts and tweets: what is stale, and where it is listed. */
import { MAIN_COUNTS, type ItemKind } from "../../../core/kinds.ts";
import { AGE_MULTIPLE_ITEMS } from "../../../core/metrics/catalog.ts";
import { selectChunksSql } from "../history/chunk-sql.ts";
import { jsonExtractSql, KIND_TABLES } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";
import { STORED_METRICS } from "../tables/figure-tables.ts";

/** Rows of a list that are read at once: about a millisecond. */
export const LISTED_ITEMS = 1000;

export const STATEMENTS = { short: createStatements("short"), tweet: createStatements("tweet") };

function createStatements(kind: ItemKind) {
  const tables = KIND_TABLES[kind];
  const { entityTable, owner, publishedColumn: published } = tables;
  const [figures, stale] = [`${kind}_figures`, `stale_${kind}_figures`];
  const isStale = `EXISTS (
        SELECT 1
        FROM ${stale} AS stale
        WHERE stale.key = item.key
      )`;
  return {
    columns: [
      "key",
      "id",
      "owner",
      "published_at",
      toColumnName(MAIN_COUNTS[kind]),
      ...STORED_METRICS[kind].map(toColumnName),
    ],
    /** The owner of a stale item. */
    selectOwner: `
      SELECT json_object('key', owner.key, 'id', owner.id)
      FROM ${stale} AS stale
      JOIN ${entityTable} AS item ON item.key = stale.key
      JOIN ${KIND_TABLES[owner.kind].entityTable} AS owner ON owner.key = item.${owner.keyColumn}
      LIMIT 1`,
    /** The published items of the owner ?1 after the position ?2 and ?3. */
    selectItems: `
      SELECT json_group_array(json_object(
        'key', item.key,
        'id', item.id,
        'publishedAt', item.${published},
        'isStale', ${isStale},
        'storedOwner', figures.owner,
        'storedAt', figures.published_at
      ))
      FROM (
        SELECT *
        FROM ${entityTable}
        WHERE ${owner.keyColumn} = ?1 AND (${published}, id) > (?2, ?3)
        ORDER BY ${published}, id
        LIMIT ${LISTED_ITEMS}
      ) AS item
      LEFT JOIN ${figures} AS figures ON figures.key = item.key`,
    /** The stale items of the owner ?1 without an instant of publication. */
    selectUnlisted: `
      SELECT json_group_array(item.key)
      FROM ${entityTable} AS item
      WHERE item.${owner.keyColumn} = ?1 AND item.${published} IS NULL AND ${isStale}`,
    /** How many chunks the items with the keys ?1 have, in their order. */
    selectChunkCounts: `
      SELECT json_group_array((
        SELECT count(*) FROM ${tables.historyTable} WHERE ${tables.entityColumn} = given.value
      ))
      FROM json_each(?1) AS given`,
    /** At most ?3 chunks of the item ?1 from the instant ?2 on. */
    selectChunks: `SELECT ${selectChunksSql(tables, "?1", "start >= ?2", "start LIMIT ?3")}`,
    /** The chunks of the items with the keys ?1, in their order. */
    selectHistories: `
      SELECT json_group_array(json(${selectChunksSql(tables, "given.value", "true")}))
      FROM json_each(?1) AS given`,
    markFollowers: markFollowersSql(kind),
  };
}

/** Marks what follows the positions ?1, each with the key of its owner. */
function markFollowersSql(kind: ItemKind): string {
  const { entityTable, owner, publishedColumn: published } = KIND_TABLES[kind];
  return `
      INSERT INTO stale_${kind}_figures (key)
      SELECT follower.value
      FROM json_each(?1) AS given
      CROSS JOIN json_each((
        SELECT json_group_array(key)
        FROM (
          SELECT key
          FROM ${entityTable}
          WHERE ${owner.keyColumn} = ${jsonExtractSql(0, "given.value")} AND (${published}, id) > (
            ${jsonExtractSql(1, "given.value")},
            ${jsonExtractSql(2, "given.value")}
          )
          ORDER BY ${published}, id
          LIMIT ${AGE_MULTIPLE_ITEMS.max}
        )
      )) AS follower
      WHERE true
      ON CONFLICT DO NOTHING`;
}
