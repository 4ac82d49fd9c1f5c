/** Exports the observations of the database as the lines (NDJSON) that an import reads. */
import { setImmediate } from "node:timers/promises";
import { ENTITY_KINDS } from "../../../core/entity-kinds.ts";
import { FIRST_INSTANT, formatInstant } from "../../../core/time.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import { toNamedCounts } from "./observation-batch.ts";
import { attributesJsonSql } from "./stored-entities.ts";
import type { Attributes } from "../../../core/entities.ts";

/** Chunks that are read at once: a few thousand observations, a few milliseconds. */
const PAGE_CHUNKS = 20;

/**
 * Exports observations by kind, entity and instant, in constant memory.
 *
 * An attribute is on the line of the instant that it came from, or on the next line if retention
 * removed that observation. What every line must name (the channel of a short, a username) is on
 * each. Imported again, the lines make the same state.
 */
export async function* exportObservations(
  database: Database,
  { kind, since = FIRST_INSTANT }: ExportOptions,
): AsyncGenerator<Record<string, unknown>> {
  for (const name of kind === undefined ? ENTITY_KINDS : [kind]) {
    yield* exportKind(database, KIND_TABLES[name], since);
  }
}

async function* exportKind(
  database: Database,
  tables: KindTables,
  since: number,
): AsyncGenerator<Record<string, unknown>> {
  const sql = selectPageSql(tables);
  let key = 0;
  // The position is an instant and not a chunk: chunks can be rewritten between two pages.
  let lastInstant = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = await database.queryJson<ExportPage>(sql, [key, lastInstant]);
    const { chunks, entities } = page ?? { chunks: [], entities: [] };
    const entitiesByKey = new Map(entities.map((entity) => [entity.key, entity]));
    for (const chunk of chunks) {
      if (chunk.key !== key) [key, lastInstant] = [chunk.key, Number.MIN_SAFE_INTEGER];
      const entity = entitiesByKey.get(key);
      for (const point of decodeChunks([chunk], tables.counts.length)) {
        if (point.at <= lastInstant) continue;
        const after = Math.max(lastInstant, since - 1);
        lastInstant = point.at;
        if (point.at >= since && entity !== undefined) {
          yield createLine(tables, entity, after, point);
        }
      }
    }
    if (chunks.length < PAGE_CHUNKS) return;
    // A fast reader would keep the event loop from everything else.
    await setImmediate();
  }
}

interface ExportPage {
  readonly chunks: readonly (Chunk & { readonly key: number })[];
  readonly entities: readonly ExportedEntity[];
}

interface ExportedEntity {
  readonly key: number;
  readonly id: string;
  readonly attributes: Attributes;
}

/**
 * Selects the chunks from an entity's key `?1` and its last exported instant `?2` on, and their
 * entities. It is one statement, because an attribute of a newer observation than the chunks hold
 * would be on no line.
 */
function selectPageSql(tables: KindTables): string {
  const { entityTable, historyTable, entityColumn } = tables;
  return `
    WITH page AS MATERIALIZED (
      SELECT ${entityColumn} AS key, start, size, points
      FROM ${historyTable}
      WHERE (${entityColumn}, start) >= (?1, ifnull((
        SELECT max(start)
        FROM ${historyTable}
        WHERE ${entityColumn} = ?1 AND start <= ?2
      ), ?2))
      ORDER BY ${entityColumn}, start
      LIMIT ${PAGE_CHUNKS}
    )
    SELECT json_object(
      'chunks', (
        SELECT json_group_array(json_object(
          'key', key, 'start', start, 'size', size, 'points', points
        ))
        FROM (SELECT * FROM page ORDER BY key, start)
      ),
      'entities', (
        SELECT json_group_array(json_object(
          'key', key, 'id', id, 'attributes', ${attributesJsonSql(tables)}
        ))
        FROM ${entityTable} AS e
        WHERE e.key IN (SELECT key FROM page)
      )
    )`;
}

/** @param after The line has the attributes that came after this instant. */
function createLine(
  tables: KindTables,
  { id, attributes }: ExportedEntity,
  after: number,
  { at, counts }: Point,
): Record<string, unknown> {
  const { kind, idField, attributes: types } = tables;
  const line: Record<string, unknown> = { kind, observedAt: formatInstant(at) };
  if (idField === "id") line["id"] = id;
  for (const [field, type] of Object.entries(types)) {
    const attribute = attributes[field];
    if (attribute === undefined) continue;
    if (type !== "identifier" && (attribute.at <= after || attribute.at > at)) continue;
    line[field] = type === "instant" ? formatInstant(Number(attribute.value)) : attribute.value;
  }
  for (const [field, count] of Object.entries(toNamedCounts(kind, counts))) {
    if (count !== null) line[field] = count;
  }
  return line;
}

/** Reads the instant of the newest observation; `undefined` if there is none. */
export async function readNewestObservedAt(database: Database): Promise<number | undefined> {
  const instants = Object.values(KIND_TABLES).map(
    ({ entityTable }) => `SELECT max(observed_at) AS at FROM ${entityTable}`,
  );
  const sql = `SELECT json_quote(max(at)) FROM (${instants.join(" UNION ALL ")})`;
  return (await database.queryJson<number | null>(sql, [])) ?? undefined;
}
