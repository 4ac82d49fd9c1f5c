import { describe, expect, test } from "bun:test";
import { ENTITY_KINDS, type EntityKind } from "../../../core/entity-kinds.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import { decodeChunks, type Chunk } from "../../../server/store/history/chunk-codec.ts";
import { openDatabase, type Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { checkAndStore, makeObservation } from "../../support/store/retention.ts";

/** So many points of an entity, oldest first. */
const makeSeries = (kind: EntityKind, id: string, points: number) =>
  Array.from({ length: points }, (_, index) =>
    makeObservation(
      kind,
      id,
      NOW - (points - index) * MINUTE_MS,
      index % 7 === 0 ? undefined : index,
    ),
  );

const ALL = ENTITY_KINDS.flatMap((kind) => [
  ...makeSeries(kind, "first", 300),
  ...makeSeries(kind, "second", 1),
]);

/** Lays the histories of some entities of a kind as the version before did: a row a point. */
async function layAsRows(database: Database, kind: EntityKind, condition: string): Promise<void> {
  const { historyTable: histories, countColumns: counts } = KIND_TABLES[kind];
  const columns = [kind, "at", ...counts.values()];
  const found = await database.queryJson<[number, ...Chunk][]>(
    `SELECT json_group_array(json_array(${kind}, start, size, points)) FROM ${histories} ` +
      `WHERE ${condition}`,
    [],
  );
  const rows: unknown[] = [];
  for (const [key, ...chunk] of found ?? []) {
    for (const { at, counts: of } of decodeChunks([chunk], counts.size))
      rows.push([key, at, ...of]);
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
async function reopenDatabase<Result>(
  file: string,
  work: (database: Database) => Promise<Result>,
): Promise<{ result: Result; upgradeCount: number }> {
  let told = 0;
  const url = `file:${file}`;
  const database = await openDatabase({ url, durability: "process", onUpgrade: () => told++ });
  try {
    return { result: await work(database), upgradeCount: told };
  } finally {
    await database.close();
  }
}

async function exportAll(database: Database): Promise<object[]> {
  return Array.fromAsync(exportObservations(database, {}));
}

const EARLIER_TABLES = "SELECT name FROM sqlite_master WHERE name LIKE '%observations'";

describe("a database of the version before", () => {
  test.each([
    ["none of its histories is packed", 0],
    ["an upgrade was cut off before it came to all entities", 1],
  ])("keeps every observation where %s", async (_, packed) => {
    await withDatabase(async (database, file) => {
      await checkAndStore(database, ALL);
      const before = await exportAll(database);
      expect(before).toHaveLength(ALL.length);
      for (const kind of ENTITY_KINDS) await layAsRows(database, kind, `${kind} > ${packed}`);
      const { result, upgradeCount: told } = await reopenDatabase(file, async (again) => ({
        lines: await exportAll(again),
        earlier: await queryRows(again, EARLIER_TABLES),
      }));
      expect(result).toEqual({ lines: before, earlier: [] });
      expect(told).toBe(1);
      expect((await reopenDatabase(file, exportAll)).upgradeCount).toBe(0);
    });
  });

  test("keeps a history of more rows than a step packs, and takes in what comes after", async () => {
    await withDatabase(async (database, file) => {
      const long = makeSeries("user", "long", 45_000);
      await checkAndStore(database, long.slice(0, -10));
      await layAsRows(database, "user", "true");
      const { result } = await reopenDatabase(file, async (again) => {
        const taken = await checkAndStore(again, long.slice(-20));
        return { taken, lines: await exportAll(again) };
      });
      expect(result.taken).toEqual({ new: 10, changed: 0, unchanged: 10 });
      await withDatabase(async (fresh) => {
        await checkAndStore(fresh, long);
        expect(result.lines).toEqual(await exportAll(fresh));
      });
    });
  });

  test("of which nothing was observed loses its empty tables without a word", async () => {
    await withDatabase(async (database, file) => {
      for (const kind of ENTITY_KINDS) await layAsRows(database, kind, "true");
      const { result, upgradeCount: told } = await reopenDatabase(file, (again) =>
        queryRows(again, EARLIER_TABLES),
      );
      expect(result).toEqual([]);
      expect(told).toBe(0);
    });
  });
});
