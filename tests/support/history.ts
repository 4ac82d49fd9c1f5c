/** The history of one entity, read as the answers read it. */
import type { Database } from "../../server/store/database.ts";
import {
  historyJson,
  listHistory,
  type HistoryKind,
  type ReadHistory,
} from "../../server/store/history.ts";

/** Reads the history of an entity; what is too long is thinned. */
export async function readHistory(database: Database, kind: HistoryKind, key: number) {
  const sql = `SELECT ${historyJson(kind, "?1")}`;
  const read = (await database.document<ReadHistory>(sql, [key])) ?? [];
  return listHistory(database, kind, key, read);
}
