/** Reads what the database has of the entities of a batch, and merges the batch with it. */
import type { Row } from "@libsql/client";
import { KIND_FIELDS } from "../../../core/entity-kinds.ts";
import type { Counts, FieldValue } from "../../../core/observations.ts";
import { sliceInstants } from "./observation-batch.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { mergeIncoming, type PendingEntity } from "./merge.ts";
import { CHUNK_JSON, selectChunksSql, selectChunkStartSql } from "../history/chunk-sql.ts";
import { attributeValueSql, jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import type { Attributes } from "../../../core/entities.ts";

/** An entity that the database has. */
export interface ExistingEntity {
  readonly key: number;
  /** Whether all incoming observations are newer than all stored ones. */
  readonly isAppend: boolean;
  /** If `isAppend`, the last chunk; else the chunks that incoming observations fall into. */
  readonly chunks: readonly Chunk[];
}

/**
 * Merges pending entities with what the database has of them.
 *
 * If all incoming observations are newer than the stored ones, they are new whatever is stored, so
 * only the last chunk is read. For the other entities their attributes and the chunks that incoming
 * observations fall into are read, and `merged` is replaced.
 *
 * @param pending By identifier.
 * @returns The entities that the database has, by identifier.
 */
export async function mergeExisting(
  database: Database,
  tables: KindTables,
  pending: ReadonlyMap<string, PendingEntity>,
): Promise<ReadonlyMap<string, ExistingEntity>> {
  const firstInstants = Array.from(pending.values(), ({ id, incoming }) => [
    id,
    sliceInstants(incoming).reduce((first, instant) => Math.min(first, instant)),
  ]);
  const args = [JSON.stringify(firstInstants)];
  const rows = await database.queryJson<ExistingRow[]>(selectExistingSql(tables), args);
  const existing = new Map<string, ExistingEntity>();
  const lateEntities = new Map<number, PendingEntity>();
  for (const { id, key, lastChunk } of rows ?? []) {
    const entity = pending.get(id);
    if (lastChunk !== null) existing.set(id, { key, isAppend: true, chunks: [lastChunk] });
    else if (entity !== undefined) lateEntities.set(key, entity);
  }
  if (lateEntities.size === 0) return existing;
  const lateIds = Array.from(lateEntities.values(), ({ id }) => id);
  const attributesById = await readAttributes(database, tables, lateIds);
  for (const { key, chunks } of await readTouchedChunks(database, tables, lateEntities)) {
    const entity = lateEntities.get(key);
    if (entity === undefined) continue;
    const points = new Map<number, Counts>();
    for (const { at, counts } of decodeChunks(chunks, tables.countColumns.size)) {
      points.set(at, toNamedCounts(tables, counts));
    }
    const attributes = attributesById.get(entity.id) ?? {};
    entity.merged = mergeIncoming(entity.incoming, { attributes, points });
    existing.set(entity.id, { key, isAppend: false, chunks });
  }
  return existing;
}

interface ExistingRow {
  readonly id: string;
  readonly key: number;
  /** `null` if the entity has an observation that is not older than the first incoming one. */
  readonly lastChunk: Chunk | null;
}

/** Its argument is a JSON array of `[identifier, first incoming instant]`. */
function selectExistingSql({ entityTable, historyTable, entityColumn }: KindTables): string {
  return `
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
}

/** Reads the chunks that incoming observations fall into, by the key of their entity. */
async function readTouchedChunks(
  database: Database,
  tables: KindTables,
  pending: ReadonlyMap<number, PendingEntity>,
): Promise<readonly { readonly key: number; readonly chunks: readonly Chunk[] }[]> {
  const instants = Array.from(pending, ([key, { incoming }]) => [
    key,
    [...new Set(sliceInstants(incoming))],
  ]);
  const key = jsonExtractSql(0, "given.value");
  const isTouched = `start IN (
    SELECT ${selectChunkStartSql(tables, key, "instant.value")}
    FROM json_each(given.value, '$[1]') AS instant
  )`;
  const sql = `
    SELECT json_group_array(json_object(
      'key', ${key},
      'chunks', ${selectChunksSql(tables, key, isTouched)}
    ))
    FROM json_each(?) AS given`;
  return (await database.queryJson(sql, [JSON.stringify(instants)])) ?? [];
}

async function readAttributes(
  database: Database,
  tables: KindTables,
  ids: readonly string[],
): Promise<Map<string, Attributes>> {
  const columns = [...tables.attributeColumns.values()].flatMap((column) => [
    `${attributeValueSql(tables, column, "e")} AS ${column}`,
    `${column}_at`,
  ]);
  const sql = `
    SELECT id, ${columns.join(", ")}
    FROM ${tables.entityTable} AS e
    WHERE id IN (SELECT value FROM json_each(?))`;
  const rows = await database.queryRows({ sql, args: [JSON.stringify(ids)] });
  return new Map(rows.map((row) => [String(row["id"]), parseAttributes(tables, row)]));
}

/** Parses the attributes of an entity's row. */
export function parseAttributes(
  { kind, attributeColumns }: KindTables,
  row: Readonly<Record<string, Row[0] | undefined>>,
): Attributes {
  const types: Readonly<Record<string, string>> = KIND_FIELDS[kind].attributes;
  const attributes: Record<string, { value: FieldValue; at: number }> = {};
  for (const [field, column] of attributeColumns) {
    const at = row[`${column}_at`];
    const value = row[column];
    if (typeof at !== "number") continue;
    if (typeof value !== "string" && typeof value !== "number") continue;
    attributes[field] = { value: types[field] === "boolean" ? value === 1 : value, at };
  }
  return attributes;
}

/** Names the counts of a point. */
export function toNamedCounts({ countColumns }: KindTables, values: Point["counts"]): Counts {
  const counts: Record<string, number | null> = {};
  let index = 0;
  for (const field of countColumns.keys()) counts[field] = values[index++] ?? null;
  return counts;
}
