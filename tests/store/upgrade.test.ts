import { describe, expect, test } from "bun:test";
import { KIND_NAMES, type Kind } from "../../core/kinds.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { unpack, type Chunk } from "../../server/store/chunks.ts";
import { openDatabase, type Database } from "../../server/store/database.ts";
import { exportObservations } from "../../server/store/export.ts";
import { LAYOUTS } from "../../server/store/layout.ts";
import { NOW } from "../support/arbitraries.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { observe, valueOf } from "../support/retention.ts";

/** So many points of an entity, oldest first. */
const seriesOf = (kind: Kind, id: string, points: number) =>
  Array.from({ length: points }, (_, index) =>
    valueOf(kind, id, NOW - (points - index) * MINUTE_MS, index % 7 === 0 ? undefined : index),
  );

const ALL = KIND_NAMES.flatMap((kind) => [
  ...seriesOf(kind, "first", 300),
  ...seriesOf(kind, "second", 1),
]);

/** Lays the histories of some entities of a kind as the version before did: a row a point. */
async function layAsRows(database: Database, kind: Kind, condition: string): Promise<void> {
  const { histories, counts } = LAYOUTS[kind];
  const columns = [kind, "at", ...counts.values()];
  const found = await database.document<[number, ...Chunk][]>(
    `SELECT json_group_array(json_array(${kind}, start, size, points)) FROM ${histories} ` +
      `WHERE ${condition}`,
    [],
  );
  const rows: unknown[] = [];
  for (const [key, ...chunk] of found ?? []) {
    for (const { at, counts: of } of unpack([chunk], counts.size)) rows.push([key, at, ...of]);
  }
  const values = columns.map((_, index) => `value ->> ${index}`);
  await database.write([
    {
      sql:
        `CREATE TABLE ${kind}_observations (${columns.join(", ")}, PRIMARY KEY (${kind}, at)) ` +
        "WITHOUT ROWID",
      args: [],
    },
    {
      sql: `INSERT INTO ${kind}_observations SELECT ${values.join(", ")} FROM json_each(?)`,
      args: [JSON.stringify(rows)],
    },
    { sql: `DELETE FROM ${histories} WHERE ${condition}`, args: [] },
  ]);
}

/** Opens a file once more; what is to be told of an upgrade is counted. */
async function reopened<Result>(
  file: string,
  work: (database: Database) => Promise<Result>,
): Promise<{ result: Result; told: number }> {
  let told = 0;
  const url = `file:${file}`;
  const database = await openDatabase({ url, durability: "process", onUpgrade: () => told++ });
  try {
    return { result: await work(database), told };
  } finally {
    await database.close();
  }
}

async function exported(database: Database): Promise<object[]> {
  return Array.fromAsync(exportObservations(database, {}));
}

const EARLIER = "SELECT name FROM sqlite_master WHERE name LIKE '%observations'";

describe("a database of the version before", () => {
  test.each([
    ["none of its histories is packed", 0],
    ["an upgrade was cut off before it came to all entities", 1],
  ])("keeps every observation where %s", async (_, packed) => {
    await withDatabase(async (database, file) => {
      await observe(database, ALL);
      const before = await exported(database);
      expect(before).toHaveLength(ALL.length);
      for (const kind of KIND_NAMES) await layAsRows(database, kind, `${kind} > ${packed}`);
      const { result, told } = await reopened(file, async (again) => ({
        lines: await exported(again),
        earlier: await rowsOf(again, EARLIER),
      }));
      expect(result).toEqual({ lines: before, earlier: [] });
      expect(told).toBe(1);
      expect((await reopened(file, exported)).told).toBe(0);
    });
  });

  test("keeps a history of more rows than a step packs, and takes in what comes after", async () => {
    await withDatabase(async (database, file) => {
      const long = seriesOf("user", "long", 45_000);
      await observe(database, long.slice(0, -10));
      await layAsRows(database, "user", "true");
      const { result } = await reopened(file, async (again) => {
        const taken = await observe(again, long.slice(-20));
        return { taken, lines: await exported(again) };
      });
      expect(result.taken).toEqual({ new: 10, changed: 0, unchanged: 10 });
      await withDatabase(async (fresh) => {
        await observe(fresh, long);
        expect(result.lines).toEqual(await exported(fresh));
      });
    });
  });

  test("of which nothing was observed loses its empty tables without a word", async () => {
    await withDatabase(async (database, file) => {
      for (const kind of KIND_NAMES) await layAsRows(database, kind, "true");
      const { result, told } = await reopened(file, (again) => rowsOf(again, EARLIER));
      expect(result).toEqual([]);
      expect(told).toBe(0);
    });
  });
});
