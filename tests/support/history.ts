/** Histories, as they lie in the tables and as the answers read them. */
import { KINDS, type Kind } from "../../core/kinds.ts";
import { unpack, visitPoints, type Chunk, type Point } from "../../server/store/chunks.ts";
import type { Database } from "../../server/store/database.ts";
import {
  historyColumn,
  historyLister,
  type HistoryKind,
  type ReadHistory,
} from "../../server/store/history.ts";
import { sent } from "./database.ts";

/** A chunk of a history, and the identifier of the entity that it is of. */
export interface StoredChunk {
  readonly entity: string;
  readonly chunk: Chunk;
}

/** A point of a history, and the identifier of the entity that it is of. */
export interface StoredPoint extends Point {
  readonly entity: string;
}

/** The statement that reads the chunks of a kind, by entity and start. */
export function chunksSql(kind: Kind, where = "true"): string {
  return (
    `SELECT e.id, h.start, h.size, h.points FROM ${kind}_histories AS h ` +
    `JOIN ${kind}s AS e ON e.key = h.${kind} WHERE ${where} ORDER BY h.${kind}, h.start`
  );
}

/** A chunk from a row that {@link chunksSql} reads. */
export function storedChunk(row: Readonly<Record<string, unknown>>): StoredChunk {
  const { id, start, size, points } = row;
  return { entity: String(id), chunk: [Number(start), Number(size), String(points)] };
}

/** The points of stored chunks, in their order. */
export function storedPoints(kind: Kind, chunks: readonly StoredChunk[]): StoredPoint[] {
  const width = KINDS[kind].counts.length;
  return chunks.flatMap(({ entity, chunk }) =>
    unpack([chunk], width).map(({ at, counts }) => ({ entity, at, counts })),
  );
}

/** Reads all points of a kind from the tables, by entity and instant. */
export async function allPointsOf(database: Database, kind: Kind): Promise<StoredPoint[]> {
  return storedPoints(kind, (await database.select(chunksSql(kind))).map(storedChunk));
}

/** Goes through the instants of all points of a kind, by entity and instant. */
export async function visitInstants(
  database: Database,
  kind: Kind,
  visit: (entity: string, at: number) => void,
): Promise<void> {
  const width = KINDS[kind].counts.length;
  for (const row of await database.select(chunksSql(kind))) {
    const { entity, chunk } = storedChunk(row);
    visitPoints(chunk, width, (at) => visit(entity, at));
  }
}

/** Reads the chunks of an entity from the tables, in order. */
export async function chunksOf(database: Database, kind: Kind, id: string): Promise<Chunk[]> {
  const rows = await database.select({ sql: chunksSql(kind, "e.id = ?"), args: [id] });
  return rows.map((row) => storedChunk(row).chunk);
}

/** Reads the points of an entity from the tables, oldest first. */
export async function pointsOf(database: Database, kind: Kind, id: string): Promise<Point[]> {
  return unpack(await chunksOf(database, kind, id), KINDS[kind].counts.length);
}

/** A point of a history, as an answer shows it. */
export type ShownPoint = Readonly<Record<string, string | number | null>>;

/** Reads the history of an entity as an answer does; what is too long is thinned. */
export async function readHistory(database: Database, kind: HistoryKind, key: number) {
  const list = historyLister<ShownPoint>(kind);
  const sql = `SELECT json_array(${historyColumn(kind, "?1")})`;
  const [read = [0, []]] = (await database.document<[ReadHistory]>(sql, [key])) ?? [];
  const { points, isThinned } = list(read);
  return { points: sent(points), isThinned };
}
