/** All observations out of the database, as lines that an import takes. */
import { setImmediate } from "node:timers/promises";
import { ENTITY_KINDS, KIND_FIELDS } from "../../../core/entity-kinds.ts";
import type { Attributes } from "../../../core/observations.ts";
import { FIRST_INSTANT, formatInstant } from "../../../core/time.ts";
import type { ExportOptions } from "../../ports/reads.ts";
import { decodeChunks, type Chunk, type Point } from "../history/chunk-codec.ts";
import type { Database } from "../database/database.ts";
import { KIND_TABLES, attributeValueSql, type KindTables } from "../tables/entity-sql.ts";
import { toNamedCounts, parseAttributes } from "./existing-entities.ts";

/** Chunks that are read at once: of a few thousand observations, which takes a few milliseconds. */
const PAGE_CHUNKS = 20;

/**
 * Reads all observations, by kind, entity and instant, in constant memory.
 *
 * What describes an entity stands on the line of the instant it came from, or on the next one where
 * retention removed that; what every line must name (a short's channel, a username) stands on each:
 * imported again, they make the same state.
 */
export async function* exportObservations(
  database: Database,
  { kind, since }: ExportOptions,
): AsyncGenerator<Record<string, unknown>> {
  for (const name of kind === undefined ? ENTITY_KINDS : [kind]) {
    yield* exportKind(database, KIND_TABLES[name], since ?? FIRST_INSTANT);
  }
}

async function* exportKind(
  database: Database,
  layout: KindTables,
  since: number,
): AsyncGenerator<Record<string, unknown>> {
  const { countColumns: counts } = layout;
  const sql = selectPageSql(layout);
  let key = 0;
  /** The last instant of the entity that was gone through: the chunks may be others by now. */
  let lastInstant = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const [chunks, rows] = (await database.queryJson<ExportPage>(sql, [key, lastInstant])) ?? [
      [],
      [],
    ];
    const entities = parseEntities(layout, rows);
    for (const [chunkKey, ...chunk] of chunks) {
      if (chunkKey !== key) [key, lastInstant] = [chunkKey, Number.MIN_SAFE_INTEGER];
      const entity = entities.get(chunkKey);
      for (const point of decodeChunks([chunk], counts.size)) {
        if (point.at <= lastInstant) continue;
        const after = Math.max(lastInstant, since - 1);
        lastInstant = point.at;
        if (point.at >= since && entity !== undefined)
          yield createLine(layout, entity, after, point);
      }
    }
    if (chunks.length < PAGE_CHUNKS) return;
    // Who reads as fast as this gives would leave no turn of the event loop to anything else.
    await setImmediate();
  }
}

interface ExportedEntity {
  readonly id: string;
  readonly description: Attributes;
}

/** Chunks, each after its entity's key, and the rows of their entities. */
type ExportPage = readonly [chunks: (readonly [key: number, ...Chunk])[], entities: EntityRow[]];

type EntityRow = Readonly<Record<string, string | number | null>>;

/**
 * Selects a page from a place on, as one statement: an entity that was read later than its chunks
 * could be described by an observation that is not among them, and would then not be at all.
 *
 * Its arguments are the key of an entity and the last of its instants that was gone through.
 */
function selectPageSql(layout: KindTables): string {
  const {
    entityTable: entities,
    historyTable: histories,
    entityColumn: owner,
    attributeColumns: described,
  } = layout;
  const columns = ["key", "id", ...[...described.values()].flatMap((name) => [name, `${name}_at`])];
  const pairs = columns.map((column) => `'${column}', ${attributeValueSql(layout, column, "e")}`);
  return (
    `WITH page AS MATERIALIZED (SELECT * FROM ${histories} ` +
    `WHERE (${owner}, start) >= (?1, ifnull((SELECT max(start) FROM ${histories} ` +
    `WHERE ${owner} = ?1 AND start <= ?2), ?2)) ` +
    `ORDER BY ${owner}, start LIMIT ${PAGE_CHUNKS}) SELECT json_array(` +
    `(SELECT json_group_array(json_array(${owner}, start, size, points)) FROM ` +
    `(SELECT * FROM page ORDER BY ${owner}, start)), ` +
    `(SELECT json_group_array(json_object(${pairs.join(", ")})) FROM ${entities} AS e ` +
    `WHERE e.key IN (SELECT ${owner} FROM page)))`
  );
}

function parseEntities(
  layout: KindTables,
  rows: readonly EntityRow[],
): Map<number, ExportedEntity> {
  return new Map(
    rows.map((row) => {
      const description = parseAttributes(layout, row);
      return [Number(row["key"]), { id: String(row["id"]), description }] as const;
    }),
  );
}

/** @param after From after which instant on the line tells what describes the entity. */
function createLine(
  layout: KindTables,
  { id, description }: ExportedEntity,
  after: number,
  { at, counts }: Point,
): Record<string, unknown> {
  const { identity, described } = KIND_FIELDS[layout.kind];
  const line: Record<string, unknown> = { kind: layout.kind, observedAt: formatInstant(at) };
  if (identity === "id") line["id"] = id;
  for (const [field, type] of Object.entries(described)) {
    const latest = description[field];
    if (latest === undefined) continue;
    if (type !== "identifier" && (latest.at <= after || latest.at > at)) continue;
    line[field] = type === "instant" ? formatInstant(Number(latest.value)) : latest.value;
  }
  for (const [field, count] of Object.entries(toNamedCounts(layout, counts))) {
    if (count !== null) line[field] = count;
  }
  return line;
}
