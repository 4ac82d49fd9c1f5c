/** Reads the stored counts from which gains are computed. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { computeGainBaseline, GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import type { Database } from "../database/database.ts";
import { jsonExtractSql, type KindTables } from "../tables/entity-sql.ts";
import { toColumnName } from "../tables/entity-tables.ts";
import type { Chunk } from "./chunk-codec.ts";
import { selectChunksSql, selectChunkStartSql } from "./chunk-sql.ts";

/** The newest counts of an entity, and the chunks that its gains need. */
export interface GainRow {
  readonly key: number;
  readonly observedAt: number;
  /** The counts of the newest observation. */
  readonly counts: readonly (number | null)[];
  /** In order. */
  readonly chunks: readonly Chunk[];
}

/** The newest instant of an entity, the incoming ones included, as SQL. */
const NEWEST_AT = `max(e.observed_at, ${jsonExtractSql(1, "given.value")})`;
const DAY_COUNTS = Object.values(GAIN_PERIOD_DAYS);

function selectNearestChunksSql(tables: KindTables): string {
  const starts = DAY_COUNTS.map((days) => {
    const { to } = computeGainBaseline(0, days);
    return selectChunkStartSql(tables, "e.key", `${NEWEST_AT} + ${to}`);
  });
  return selectRowsSql(tables, `start IN (${starts.join(", ")})`);
}

function selectAllChunksSql(tables: KindTables): string {
  const { from } = computeGainBaseline(0, Math.max(...DAY_COUNTS));
  const start = selectChunkStartSql(tables, "e.key", `${NEWEST_AT} + ${from}`);
  return selectRowsSql(tables, `start >= ${start}`);
}

/** The argument is a JSON array of `[key, newest incoming instant]`. */
function selectRowsSql(tables: KindTables, condition: string): string {
  const counts = tables.counts.map((name) => `e.${toColumnName(name)}`);
  return `
    SELECT json_group_array(json_object(
      'key', e.key,
      'observedAt', e.observed_at,
      'counts', json_array(${counts.join(", ")}),
      'chunks', ${selectChunksSql(tables, "e.key", condition)}
    ))
    FROM json_each(?) AS given
    CROSS JOIN ${tables.entityTable} AS e ON e.key = ${jsonExtractSql(0, "given.value")}`;
}

/**
 * Which chunks are read: those that hold the ends of the ranges, or all from the start of the longest
 * range on. A libSQL server returns no value of 5 MB: with an observation a minute, all chunks of one
 * entity that can matter have 0.9 MB.
 */
const PARTS = {
  nearest: { selectSql: selectNearestChunksSql, stepEntities: 200 },
  all: { selectSql: selectAllChunksSql, stepEntities: 5 },
};

/** Reads the newest counts and the chunks of entities, by key. */
export async function readGainRows(
  database: Database,
  tables: KindTables,
  part: keyof typeof PARTS,
  entities: readonly {
    readonly key: number | undefined;
    readonly newest: { readonly at: number };
  }[],
): Promise<ReadonlyMap<number | undefined, GainRow>> {
  const { selectSql, stepEntities } = PARTS[part];
  const sql = selectSql(tables);
  const args = entities.flatMap(({ key, newest }) => (key === undefined ? [] : [[key, newest.at]]));
  const rows = new Map<number | undefined, GainRow>();
  for (let from = 0; from < args.length; from += stepEntities) {
    if (from > 0) await yieldToEventLoop();
    const step = JSON.stringify(args.slice(from, from + stepEntities));
    for (const row of (await database.queryJson<GainRow[]>(sql, [step])) ?? []) {
      rows.set(row.key, row);
    }
  }
  return rows;
}
