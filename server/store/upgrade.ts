/**
 * What a database of an earlier version has otherwise: a row for each observation. The rows are
 * packed when the database is opened, in steps; an upgrade that is cut off goes on with the next
 * start, and none of its observations is missing or there twice meanwhile.
 */
import { ENTITY_KINDS } from "../../core/entity-kinds.ts";
import { recordHistoryRewrites } from "./history/change-log.ts";
import { encodeChunks, type Chunk, type Point } from "./history/chunk-codec.ts";
import type { Database } from "./database/database.ts";
import { writeOptimistically, type WritePlan } from "./history/optimistic-write.ts";
import { KIND_TABLES, upsertChunksSql, type KindTables } from "./tables/entity-sql.ts";

/** Rows that a step packs at most. */
const STEP_ROWS = 20_000;

type Row = readonly [key: number, at: number, ...counts: (number | null)[]];

/**
 * Packs the rows that there are, and removes their tables.
 *
 * @param onBegin Told once, if there are any: it can take a minute.
 */
export async function packRows(database: Database, onBegin: () => void): Promise<void> {
  const earlier = await earlierTables(database);
  if (earlier.size === 0) return;
  let isTold = false;
  for (const kind of ENTITY_KINDS) {
    for (let isLeft = true; isLeft;) {
      const { plan: decision } = await writeOptimistically(database, () =>
        decideStep(database, KIND_TABLES[kind]),
      );
      isLeft = decision.isLeft;
      if (isLeft && !isTold) onBegin();
      isTold ||= isLeft;
    }
  }
  await database.write(
    Array.from(earlier, (name) => ({ sql: `DROP TABLE IF EXISTS ${name}`, args: [] })),
    { isIdempotent: true },
  );
}

interface Step extends WritePlan {
  /** Whether there may be more. */
  readonly isLeft: boolean;
}

async function decideStep(database: Database, layout: KindTables): Promise<Step> {
  const { kind, countColumns: counts } = layout;
  const rows = rowsOf(layout);
  const found = await readRows(database, layout);
  const last = found?.at(-1);
  if (found === undefined || last === undefined) {
    return { recordChange: recordHistoryRewrites(kind, []), statements: [], isLeft: false };
  }
  const byKey = Map.groupBy(found, ([key]) => key);
  const chunks: unknown[] = [];
  for (const [key, of] of byKey) {
    for (const chunk of packedOf(of, counts.size)) chunks.push([key, ...chunk]);
  }
  return {
    recordChange: recordHistoryRewrites(kind, [...byKey.keys()]),
    statements: [
      { sql: upsertChunksSql(layout, "key"), args: [JSON.stringify(chunks)] },
      { sql: `DELETE FROM ${rows} WHERE (${kind}, at) <= (?, ?)`, args: [last[0], last[1]] },
    ],
    isLeft: true,
  };
}

function packedOf(rows: readonly Row[], width: number): Chunk[] {
  const points = rows.map(([, at, ...counts]): Point => ({ at, counts }));
  return encodeChunks(points, width);
}

/** Reads the first rows; `undefined` where another process has done them all meanwhile. */
async function readRows(database: Database, layout: KindTables): Promise<Row[] | undefined> {
  const { kind, countColumns: counts } = layout;
  const sql =
    `SELECT json_group_array(json_array(${kind}, at, ${[...counts.values()].join(", ")})) ` +
    `FROM (SELECT * FROM ${rowsOf(layout)} ORDER BY ${kind}, at LIMIT ${STEP_ROWS})`;
  try {
    return await database.queryJson<Row[]>(sql, []);
  } catch (error) {
    if ((await earlierTables(database)).has(rowsOf(layout))) throw error;
    return undefined;
  }
}

/** The table of an earlier version. */
function rowsOf({ kind }: KindTables): string {
  return `${kind}_observations`;
}

/** Those tables of earlier versions that there are. */
async function earlierTables(database: Database): Promise<Set<string>> {
  const names = ENTITY_KINDS.map((kind) => rowsOf(KIND_TABLES[kind]));
  const tables = await database.queryRows({
    sql: "SELECT name FROM sqlite_master WHERE name IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(names)],
  });
  return new Set(tables.map((row) => String(row["name"])));
}
