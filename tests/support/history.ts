/** The history of one entity, read as the answers read it. */
import type { Database } from "../../server/store/database.ts";
import { historyLister, historyText, type HistoryKind } from "../../server/store/history.ts";

/** A point of a history, as an answer shows it. */
export type ShownPoint = Readonly<Record<string, string | number | null>>;

/** Reads the history of an entity; what is too long is thinned. */
export async function readHistory(database: Database, kind: HistoryKind, key: number) {
  const list = historyLister<ShownPoint>(kind);
  const sql = `SELECT json_quote(${historyText(kind, "?1")})`;
  const { points, isThinned } = await list(
    database,
    key,
    (await database.document<string>(sql, [key])) ?? "[]",
  );
  const shown: ShownPoint[] = JSON.parse(JSON.stringify(points));
  return { points: shown, isThinned };
}
