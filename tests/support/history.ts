/** The history of one entity, read as the answers read it. */
import type { Database } from "../../server/store/database.ts";
import {
  historyJson,
  isLong,
  readThinned,
  type HistoryKind,
  type Point,
} from "../../server/store/history.ts";

/** Reads the history of an entity; what is too long is thinned. */
export async function readHistory(database: Database, kind: HistoryKind, key: number) {
  const read = (await database.document<Point[]>(`SELECT ${historyJson(kind, "?1")}`, [key])) ?? [];
  const isThinned = isLong(kind, read);
  return { points: isThinned ? await readThinned(database, kind, key) : read, isThinned };
}
