/** Helpers of the programs that write entities and histories directly into the tables of the service. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { encodeChunks, type Point } from "../../../server/store/history/chunk-codec.ts";
import type { KindTables } from "../../../server/store/tables/entity-sql.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";

/** The text that tweets are cut from. */
const PROSE =
  'We measured the soup again: it is still "hot", says everyone who asked.\nTomorrow the café ' +
  "opens at nine, bring a spoon 🍲 and a friend. The long version, with every number and the " +
  "one mistake that we made, is in the usual place. Thank you for reading so far; the next one " +
  "is about bread, which takes seven minutes less than you think, and about the oven. Nobody " +
  "expected the leek to win, least of all the leek. Questions? Ask them here and we answer on " +
  "Friday, as ever, with a recipe and a picture of the cat who sits upon the scales.";
const CHARACTERS = [...PROSE];

/** A row: values by column. */
type Row = Readonly<Record<string, SQLQueryBindings>>;

/** Opens a database that no process has open, for fast writes. */
export function openForSeeding(file: string): Database {
  const database = new Database(file);
  // Durability is not needed: the file is temporary.
  for (const pragma of ["journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF"]) {
    database.run(`PRAGMA ${pragma}`);
  }
  return database;
}

/** A pseudo-random number from 0 to below `bound`, determined by two numbers. */
export function pseudoRandom(a: number, b: number, bound: number): number {
  return (((a * 7919 + b * b * 104_729 + 12_345) * 48_271) % 2_147_483_647) % bound;
}

export function cutProse(from: number, length: number): string {
  return CHARACTERS.slice(from, from + length).join("");
}

/**
 * Writes a history.
 *
 * @param key The key of the entity.
 * @param point Returns the nth point, from the first to the last.
 * @returns The columns of the entity's row for the last point.
 */
export function insertHistory(
  database: Database,
  { historyTable: histories, entityColumn: owner, counts, pointLayout }: KindTables,
  key: number,
  length: number,
  point: (nth: number) => Point,
) {
  const points = Array.from({ length }, (_, index) => point(index + 1));
  for (const chunk of encodeChunks(points, pointLayout)) {
    insertRow(database, histories, { [owner]: key, ...chunk });
  }
  return toNewestColumns(counts, point(length));
}

/** The columns of an entity's row for its last point. */
export function toNewestColumns(names: readonly string[], { at, counts }: Point) {
  const columns = names.map((name, place) => [toColumnName(name), counts[place] ?? null]);
  return { observed_at: at, ...(Object.fromEntries(columns) as Row) };
}

/** The describing columns of an entity, each with the time of its observation. */
export function withInstants(at: number, row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => [
      [column, value],
      [`${column}_at`, at],
    ]),
  );
}

export function insertRow(database: Database, table: string, row: Row): void {
  const columns = Object.keys(row);
  const placeholders = columns.map(() => "?");
  database
    .query(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${placeholders.join(", ")})`)
    .run(...Object.values(row));
}
