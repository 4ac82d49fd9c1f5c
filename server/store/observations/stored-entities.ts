/**
 * Decides for each entity of a batch whether its history is appended to or rewritten, and merges those
 * that are rewritten with the stored points.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Counts } from "../../../core/observations.ts";
import { nameCounts } from "../../../core/responses/entity-fields.ts";
import { sliceInstants } from "./observation-batch.ts";
import { decodeChunks, type Chunk } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { mergeIncoming, type PendingEntity } from "./merge.ts";
import { CHUNK_JSON, selectChunksSql, selectChunkStartSql } from "../history/chunk-sql.ts";
import { fieldValueSql, jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";
import type { Attributes } from "../../../core/entities.ts";

/**
 * Merges pending entities with their stored chunks, and sets `stored`.
 *
 * If all incoming observations are newer than the stored ones, they are new whatever is stored, so
 * only the last chunk is read. For the other entities their attributes and the chunks that incoming
 * observations fall into are read, and `merged` is replaced.
 *
 * @param pending By identifier.
 */
export async function mergeStored(
  database: Database,
  tables: KindTables,
  pending: ReadonlyMap<string, PendingEntity>,
): Promise<void> {
  const lateEntities = new Map<number, PendingEntity>();
  for (const { id, key, lastChunk } of await readLastChunks(database, tables, pending)) {
    const entity = pending.get(id);
    if (entity === undefined) continue;
    if (lastChunk === null) lateEntities.set(key, entity);
    else entity.stored = { key, isAppend: true, chunks: [lastChunk] };
  }
  if (lateEntities.size === 0) return;
  await yieldToEventLoop();
  const rows = await readLateEntities(database, tables, lateEntities);
  await yieldToEventLoop();
  for (const { key, attributes, chunks } of rows) {
    const entity = lateEntities.get(key);
    if (entity === undefined) continue;
    const points = new Map<number, Counts>();
    for (const { at, counts } of decodeChunks(chunks, tables.pointLayout)) {
      points.set(at, nameCounts(tables.kind, counts));
    }
    entity.merged = mergeIncoming(entity.incoming, { attributes, points });
    entity.stored = { key, isAppend: false, chunks };
  }
}

interface LastChunkRow {
  readonly id: string;
  readonly key: number;
  /** `null` if the entity has an observation that is not older than the first incoming one. */
  readonly lastChunk: Chunk | null;
}

/** Reads the entities that the database has, with their last chunks. */
async function readLastChunks(
  database: Database,
  { entityTable, historyTable, entityColumn }: KindTables,
  pending: ReadonlyMap<string, PendingEntity>,
): Promise<readonly LastChunkRow[]> {
  const firstInstants = Array.from(pending.values(), ({ id, incoming }) => [
    id,
    sliceInstants(incoming).reduce((first, instant) => Math.min(first, instant)),
  ]);
  const sql = `
    SELECT json_group_array(json_object(
      'id', e.id,
      'key', e.key,
      'lastChunk', CASE WHEN e.observed_at < ${jsonExtractSql(1, "given.value")} THEN (
        SELECT ${CHUNK_JSON}
        FROM ${historyTable}
        WHERE ${entityColumn} = e.key
        ORDER BY start DESC
        LIMIT 1
      ) END
    ))
    FROM json_each(?) AS given
    CROSS JOIN ${entityTable} AS e ON e.id = ${jsonExtractSql(0, "given.value")}
    WHERE e.observed_at IS NOT NULL`;
  return (await database.queryJson(sql, [JSON.stringify(firstInstants)])) ?? [];
}

interface LateRow {
  readonly key: number;
  readonly attributes: Attributes;
  readonly chunks: readonly Chunk[];
}

/** Reads the attributes of entities, and the chunks that incoming observations fall into. */
async function readLateEntities(
  database: Database,
  tables: KindTables,
  lateEntities: ReadonlyMap<number, PendingEntity>,
): Promise<readonly LateRow[]> {
  const instants = Array.from(lateEntities, ([key, { incoming }]) => [
    key,
    [...new Set(sliceInstants(incoming))],
  ]);
  const isTouched = `start IN (
    SELECT ${selectChunkStartSql(tables, "e.key", "instant.value")}
    FROM json_each(given.value, '$[1]') AS instant
  )`;
  const sql = `
    SELECT json_group_array(json_object(
      'key', e.key,
      'attributes', ${attributesJsonSql(tables)},
      'chunks', ${selectChunksSql(tables, "e.key", isTouched)}
    ))
    FROM json_each(?) AS given
    CROSS JOIN ${tables.entityTable} AS e ON e.key = ${jsonExtractSql(0, "given.value")}`;
  return (await database.queryJson(sql, [JSON.stringify(instants)])) ?? [];
}

/** Returns an expression for the JSON of the {@link Attributes} of the row `e`. */
export function attributesJsonSql(tables: KindTables): string {
  const members = Object.keys(tables.attributes).map((field) => {
    const column = `e.${toColumnName(field)}`;
    const attribute = `json_object('value', ${fieldValueSql(field, column)}, 'at', ${column}_at)`;
    return `'${field}', iif(${column}_at IS NULL, NULL, ${attribute})`;
  });
  // A patch leaves out values that are NULL.
  return `json_patch('{}', json_object(${members.join(", ")}))`;
}
