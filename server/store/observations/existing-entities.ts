/** What is there already of the entities that observations come in of. */
import type { Row } from "@libsql/client";
import { KIND_FIELDS } from "../../../core/entity-kinds.ts";
import type { Counts, Attributes, FieldValue } from "../../../core/observations.ts";
import { sliceInstants } from "./observation-batch.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { mergeIncoming, type PendingEntity } from "./merge.ts";
import { jsonExtractSql } from "../tables/json-sql.ts";
import {
  selectChunksSql,
  selectChunkStartSql,
  attributeValueSql,
  type KindTables,
} from "../tables/entity-sql.ts";

/** What is there of an entity. */
export interface ExistingEntity {
  readonly key: number;
  /** Whether all that came in is newer than all that is there. */
  readonly isAppend: boolean;
  /** The last chunk if it is continued, else those that something of what came in lies in. */
  readonly chunks: readonly Chunk[];
}

/**
 * Joins what came in with what is there. An observation that is newer than all of its entity is
 * new, whatever was known of it; for the others, what describes their entity and the chunks that
 * they lie in are read.
 *
 * @returns What is there of those entities that are known.
 */
export async function mergeExisting(
  database: Database,
  layout: KindTables,
  pending: ReadonlyMap<string, PendingEntity>,
): Promise<ReadonlyMap<string, ExistingEntity>> {
  const firstInstants = Array.from(pending.values(), ({ id, incoming }) => [
    id,
    sliceInstants(incoming).reduce((first, instant) => Math.min(first, instant)),
  ]);
  const rows =
    (await database.queryJson<[string, number, Chunk | null][]>(selectExistingSql(layout), [
      JSON.stringify(firstInstants),
    ])) ?? [];
  const existing = new Map<string, ExistingEntity>();
  const lateEntities = new Map<number, PendingEntity>();
  for (const [id, key, last] of rows) {
    const fold = pending.get(id);
    if (last !== null) existing.set(id, { key, isAppend: true, chunks: [last] });
    else if (fold !== undefined) lateEntities.set(key, fold);
  }
  if (lateEntities.size === 0) return existing;
  const descriptions = await readAttributes(
    database,
    layout,
    Array.from(lateEntities.values(), ({ id }) => id),
  );
  for (const [key, chunks] of await readTouchedChunks(database, layout, lateEntities)) {
    const fold = lateEntities.get(key);
    if (fold === undefined) continue;
    const points = new Map(
      decodeChunks(chunks, layout.countColumns.size).map(({ at, counts }) => [
        at,
        toNamedCounts(layout, counts),
      ]),
    );
    const description = descriptions.get(fold.id) ?? {};
    fold.merged = mergeIncoming(fold.incoming, { attributes: description, points });
    existing.set(fold.id, { key, isAppend: false, chunks });
  }
  return existing;
}

/**
 * Selects entities that are known: identifier, key, and the last chunk where it is older than an
 * instant.
 *
 * Its one argument is a JSON array of arrays: identifier and instant.
 */
function selectExistingSql({
  entityTable: entities,
  historyTable: histories,
  entityColumn: owner,
}: KindTables): string {
  return (
    "SELECT json_group_array(json_array(e.id, e.key, CASE WHEN e.observed_at < " +
    `${jsonExtractSql(1, "given.value")} THEN (SELECT json_array(start, size, points) ` +
    `FROM ${histories} WHERE ${owner} = e.key ORDER BY start DESC LIMIT 1) END)) ` +
    `FROM json_each(?) AS given CROSS JOIN ${entities} AS e ON e.id = ${jsonExtractSql(0, "given.value")} ` +
    "WHERE e.observed_at IS NOT NULL"
  );
}

/** Reads the chunks that something of what came in lies in, by the key of the entity. */
async function readTouchedChunks(
  database: Database,
  layout: KindTables,
  pending: ReadonlyMap<number, PendingEntity>,
): Promise<[number, Chunk[]][]> {
  const instants = Array.from(pending, ([key, { incoming }]) => [
    key,
    [...new Set(sliceInstants(incoming))],
  ]);
  const key = jsonExtractSql(0, "given.value");
  const touchedStarts =
    `SELECT ${selectChunkStartSql(layout, key, "instant.value")} ` +
    "FROM json_each(given.value, '$[1]') AS instant";
  const rows = await database.queryJson<[number, Chunk[]][]>(
    `SELECT json_group_array(json_array(${key}, ` +
      `${selectChunksSql(layout, key, `start IN (${touchedStarts})`)})) FROM json_each(?) AS given`,
    [JSON.stringify(instants)],
  );
  return rows ?? [];
}

async function readAttributes(
  database: Database,
  layout: KindTables,
  ids: readonly string[],
): Promise<Map<string, Attributes>> {
  const columns = [...layout.attributeColumns.values()].flatMap((column) => [
    `${attributeValueSql(layout, column, "e")} AS ${column}`,
    `${column}_at`,
  ]);
  const rows = await database.queryRows({
    sql:
      `SELECT id, ${columns.join(", ")} FROM ${layout.entityTable} AS e ` +
      "WHERE id IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(ids)],
  });
  return new Map(rows.map((row) => [String(row["id"]), parseAttributes(layout, row)]));
}

/** The description that an entity's row holds. */
export function parseAttributes(
  layout: KindTables,
  row: Readonly<Record<string, Row[0] | undefined>>,
): Attributes {
  const types: Readonly<Record<string, string>> = KIND_FIELDS[layout.kind].described;
  const description: Record<string, { value: FieldValue; at: number }> = {};
  for (const [field, column] of layout.attributeColumns) {
    const at = row[`${column}_at`];
    const value = row[column];
    if (typeof at !== "number") continue;
    if (typeof value !== "string" && typeof value !== "number") continue;
    description[field] = { value: types[field] === "boolean" ? value === 1 : value, at };
  }
  return description;
}

/** Counts by the names of their fields, from the order in which they are packed. */
export function toNamedCounts(layout: KindTables, values: Point["counts"]): Counts {
  const counts: Record<string, number | null> = {};
  let index = 0;
  for (const field of layout.countColumns.keys()) counts[field] = values[index++] ?? null;
  return counts;
}
