/** Exports observations as the lines that an import reads (NDJSON); finds the newest instant. */
import { setImmediate } from "node:timers/promises";
import { ENTITY_KINDS, type EntityKind } from "../../../core/kinds.ts";
import { DomainError, quoteValue } from "../../../core/errors.ts";
import { toEntityId } from "../../../core/observations.ts";
import { nameCounts } from "../../../core/responses/entity-fields.ts";
import { FOLDED_IDENTIFIER_MAX_CHARACTERS } from "../../../core/text.ts";
import { FIRST_INSTANT, formatInstant } from "../../../core/time.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { attributesJsonSql, KIND_TABLES, type KindTables } from "../tables/entity-sql.ts";
import type { Attributes } from "../../../core/entities.ts";

export interface ExportOptions {
  readonly kind?: EntityKind | undefined;
  /** Of users, the usernames in any case. */
  readonly ids?: readonly string[] | undefined;
  /** Milliseconds since 1970 UTC, included. */
  readonly since?: number | undefined;
}

/** Chunks that are read at once: a few thousand observations, a few milliseconds. */
const PAGE_CHUNKS = 20;

/**
 * Exports observations in constant memory, in one order: by kind, by identifier (of a user, the
 * username in lower case), by instant. The same observations make the same lines, in whatever order
 * they came in.
 *
 * An attribute is on the line of the instant that it came from, or on the next line if retention
 * removed that observation. The fields that every line must have (the channel of a short, a
 * username) are on each. Imported again, the lines make the same state.
 */
export async function* exportObservations(
  database: Database,
  { kind, ids, since = FIRST_INSTANT }: ExportOptions,
): AsyncGenerator<Record<string, unknown>> {
  const kinds = (kind === undefined ? ENTITY_KINDS : [kind]).map((name) => KIND_TABLES[name]);
  const ranges =
    ids === undefined
      ? kinds.map((tables) => ({ tables, firstId: "", lastId: LAST_ID }))
      : await findEntities(database, kinds, ids);
  for (const range of ranges) yield* exportRange(database, range, since);
}

/** Entities of a kind; both ends are included. */
type EntityRange = Readonly<{ tables: KindTables; firstId: string; lastId: string }>;

/** An identifier after all others. */
const LAST_ID = "\u{10ffff}".repeat(FOLDED_IDENTIFIER_MAX_CHARACTERS);

async function findEntities(
  database: Database,
  kinds: readonly KindTables[],
  ids: readonly string[],
): Promise<EntityRange[]> {
  const entities: EntityRange[] = [];
  for (const tables of kinds) {
    const sql = `
      SELECT json_group_array(id)
      FROM (
        SELECT id
        FROM ${tables.entityTable}
        WHERE id IN (SELECT value FROM json_each(?1)) AND observed_at IS NOT NULL
        ORDER BY id
      )`;
    const given = JSON.stringify(ids.map((id) => toEntityId(tables.kind, id)));
    const stored = (await database.queryJson<string[]>(sql, [given])) ?? [];
    for (const id of stored) entities.push({ tables, firstId: id, lastId: id });
  }
  const found = new Set(entities.map(({ tables, firstId }) => `${tables.kind} ${firstId}`));
  const missing = ids.find((id) =>
    kinds.every(({ kind }) => !found.has(`${kind} ${toEntityId(kind, id)}`)),
  );
  if (missing === undefined) return entities;
  throw new DomainError("Not Found", `Nothing with the id ${quoteValue(missing)} was observed`);
}

async function* exportRange(
  database: Database,
  { tables, firstId, lastId }: EntityRange,
  since: number,
): AsyncGenerator<Record<string, unknown>> {
  const sql = selectPageSql(tables);
  let id = firstId;
  // The position is an instant and not a chunk: chunks can be rewritten between two pages.
  let lastInstant = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = await database.queryJson<ExportPage>(sql, [id, lastInstant, lastId]);
    const { chunks, attributes } = page ?? { chunks: [], attributes: {} };
    for (const chunk of chunks) {
      if (chunk.id !== id) [id, lastInstant] = [chunk.id, Number.MIN_SAFE_INTEGER];
      for (const point of decodeChunks([chunk], tables.pointLayout)) {
        if (point.at <= lastInstant) continue;
        const after = Math.max(lastInstant, since - 1);
        lastInstant = point.at;
        if (point.at >= since) yield createLine(tables, id, attributes[id] ?? {}, point, after);
      }
    }
    if (chunks.length < PAGE_CHUNKS) return;
    // A fast reader would keep the event loop from everything else.
    await setImmediate();
  }
}

interface ExportPage {
  readonly chunks: readonly (Chunk & { readonly id: string })[];
  /** By the identifier of the entity. */
  readonly attributes: Readonly<Record<string, Attributes>>;
}

/**
 * Selects the chunks from the entity `?1` and its last exported instant `?2` on, up to the entity
 * `?3`, and their entities. It is one statement, because an attribute of a newer observation than
 * the chunks hold would be on no line. The order is the order of the searches: nothing is sorted.
 */
function selectPageSql(tables: KindTables): string {
  const { entityTable, historyTable, entityColumn } = tables;
  return `
    WITH page AS MATERIALIZED (
      SELECT e.key, e.id, start, size, points
      FROM ${entityTable} AS e
      CROSS JOIN ${historyTable} AS history ON history.${entityColumn} = e.key
      WHERE e.id BETWEEN ?1 AND ?3 AND start >= iif(e.id = ?1, ifnull((
        SELECT max(start) FROM ${historyTable} WHERE ${entityColumn} = e.key AND start <= ?2
      ), ?2), ${Number.MIN_SAFE_INTEGER})
      ORDER BY e.id, start
      LIMIT ${PAGE_CHUNKS}
    )
    SELECT json_object(
      'chunks', (
        SELECT json_group_array(json_object(
          'id', id, 'start', start, 'size', size, 'points', points
        ))
        FROM (SELECT * FROM page ORDER BY id, start)
      ),
      'attributes', (
        SELECT json_group_object(id, ${attributesJsonSql(tables)})
        FROM ${entityTable} AS e
        WHERE e.key IN (SELECT key FROM page)
      )
    )`;
}

/** Creates a line, with the attributes of instants from `after` (excluded) to its own. */
function createLine(
  { kind, idField, attributes: types }: KindTables,
  id: string,
  attributes: Attributes,
  { at, counts }: Point,
  after: number,
): Record<string, unknown> {
  const line: Record<string, unknown> = { kind, observedAt: formatInstant(at) };
  if (idField === "id") line["id"] = id;
  for (const [field, type] of Object.entries(types)) {
    const attribute = attributes[field];
    if (attribute === undefined) continue;
    if (type !== "identifier" && (attribute.at <= after || attribute.at > at)) continue;
    line[field] = type === "instant" ? formatInstant(Number(attribute.value)) : attribute.value;
  }
  for (const [field, count] of Object.entries(nameCounts(kind, counts))) {
    if (count !== null) line[field] = count;
  }
  return line;
}

export async function readNewestObservedAt(database: Database): Promise<number | undefined> {
  const instants = Object.values(KIND_TABLES).map(
    ({ entityTable }) => `SELECT max(observed_at) AS at FROM ${entityTable}`,
  );
  const sql = `SELECT json_quote(max(at)) FROM (${instants.join(" UNION ALL ")})`;
  return (await database.queryJson<number | null>(sql, [])) ?? undefined;
}
