/** Reads histories from the tables, as chunks, as points, and as JSON of a response. */
import type { EntityKind } from "../../../core/kinds.ts";
import {
  decodeChunks,
  forEachPoint,
  type Chunk,
  type Point,
} from "../../../server/store/history/chunk-codec.ts";
import type { Database } from "../../../server/store/database/database.ts";
import {
  createHistoryReader,
  type HistoryRow,
} from "../../../server/store/history/thinned-history.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { jsonRoundTrip } from "./database.ts";

/** A chunk of a history, and the identifier of its entity. */
export interface StoredChunk {
  readonly entity: string;
  readonly chunk: Chunk;
}

/** A point of a history, and the identifier of its entity. */
export interface StoredPoint extends Point {
  readonly entity: string;
}

/** The SQL of the chunks of a kind, ordered by entity and start. */
export function buildChunksSql(kind: EntityKind, where = "true"): string {
  return `
    SELECT e.id, h.start, h.size, h.points
    FROM ${kind}_histories AS h
    JOIN ${kind}s AS e ON e.key = h.${kind}
    WHERE ${where}
    ORDER BY h.${kind}, h.start`;
}

/** A chunk from a row that {@link buildChunksSql} reads. */
export function toStoredChunk(row: Readonly<Record<string, unknown>>): StoredChunk {
  const { id, start, size, points } = row;
  return {
    entity: String(id),
    chunk: { start: Number(start), size: Number(size), points: String(points) },
  };
}

/** The points of stored chunks, in order. */
export function unpackStoredPoints(
  kind: EntityKind,
  chunks: readonly StoredChunk[],
): StoredPoint[] {
  const { pointLayout } = KIND_TABLES[kind];
  return chunks.flatMap(({ entity, chunk }) =>
    decodeChunks([chunk], pointLayout).map(({ at, counts }) => ({ entity, at, counts })),
  );
}

/** Reads all points of a kind, ordered by entity and instant. */
export async function readAllPoints(database: Database, kind: EntityKind): Promise<StoredPoint[]> {
  return unpackStoredPoints(
    kind,
    (await database.queryRows(buildChunksSql(kind))).map(toStoredChunk),
  );
}

/** Calls a function for each point of a kind, ordered by entity and instant. */
export async function forEachInstant(
  database: Database,
  kind: EntityKind,
  callback: (entity: string, at: number) => void,
): Promise<void> {
  const { pointLayout } = KIND_TABLES[kind];
  for (const row of await database.queryRows(buildChunksSql(kind))) {
    const { entity, chunk } = toStoredChunk(row);
    forEachPoint(chunk, pointLayout, (at) => callback(entity, at));
  }
}

/** Reads the chunks of an entity, in order. */
export async function readChunksOf(
  database: Database,
  kind: EntityKind,
  id: string,
): Promise<Chunk[]> {
  const rows = await database.queryRows({ sql: buildChunksSql(kind, "e.id = ?"), args: [id] });
  return rows.map((row) => toStoredChunk(row).chunk);
}

/** Reads the points of an entity, oldest first. */
export async function readPointsOf(
  database: Database,
  kind: EntityKind,
  id: string,
): Promise<Point[]> {
  return decodeChunks(await readChunksOf(database, kind, id), KIND_TABLES[kind].pointLayout);
}

/** A point of a history in a response. */
export type HistoryJsonPoint = Readonly<Record<string, string | number | null>>;

/** Reads the history of an entity like a response, thinned if it is too long. */
export async function readHistoryJson(
  database: Database,
  format: Parameters<typeof createHistoryReader>[0],
  key: number,
) {
  const reader = createHistoryReader<HistoryJsonPoint>(format);
  const sql = `SELECT ${reader.selectSql("?1")}`;
  const row = await database.queryJson<HistoryRow>(sql, [key]);
  const { points, isThinned } = reader.format(row ?? { isThinned: 0, chunks: [] });
  return { points: jsonRoundTrip(points), isThinned };
}
