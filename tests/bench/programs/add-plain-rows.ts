/**
 * Adds the histories of a database again as plain rows, for the servers that use bun:sqlite.
 *
 * Argument: the path of a database that no process has open. There is one row for each observation, in a
 * table WITHOUT ROWID, ordered by entity and instant.
 */
import { Database } from "bun:sqlite";
import { decodeChunks } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES, type KindTables } from "../../../server/store/tables/entity-sql.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";

/** A chunk, and its entity. */
interface ChunkRow {
  readonly key: number;
  readonly start: number;
  readonly size: number;
  readonly points: string;
}

const [, , file = ""] = process.argv;

const database = new Database(file);
// Durability is not needed: the file is temporary.
database.run("PRAGMA synchronous = OFF");
database.run("BEGIN");
addRows(KIND_TABLES.channel);
addRows(KIND_TABLES.user);
addRows(KIND_TABLES.tweet);
database.run("COMMIT");
database.close();

function addRows(tables: KindTables): void {
  const { kind, historyTable: histories, entityColumn: owner, counts, pointLayout } = tables;
  const table = `plain_${kind}_observations`;
  const columns = [owner, "at", ...counts.map(toColumnName)];
  database.run(
    `CREATE TABLE ${table} (${columns.map((column) => `${column} INTEGER`).join(", ")}, ` +
      `PRIMARY KEY (${owner}, at)) WITHOUT ROWID`,
  );
  const insert = database.query<unknown, (number | null)[]>(
    `INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`,
  );
  const chunks = database.query<ChunkRow, []>(
    `SELECT ${owner} AS key, start, size, points FROM ${histories} ORDER BY ${owner}, start`,
  );
  for (const { key, start, size, points } of chunks.iterate()) {
    for (const point of decodeChunks([{ start, size, points }], pointLayout)) {
      insert.run(key, point.at, ...point.counts);
    }
  }
}
