/** Computes the stale figures of channels and users from the counts and gains on their rows. */
import { GAIN_DEFINITIONS } from "../../../core/growth.ts";
import { MAIN_COUNTS, type OwnerKind } from "../../../core/kinds.ts";
import { PERCENT_SUFFIX } from "../../../core/metrics/catalog.ts";
import { computeGainPercent } from "../../../core/metrics/rates.ts";
import type { Database } from "../database/database.ts";
import { recordFigures } from "../history/change-log.ts";
import { readLastSequence, tryWrite } from "../history/optimistic-writes.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import { OWNER_LISTS, toColumnName } from "../tables/entity-tables.ts";
import { STORED_METRICS } from "../tables/figure-tables.ts";
import { deleteFigures, unmarkStale, upsertFigures } from "./write-figures.ts";

/** Entities of a step, which takes about 2 ms, and as long in the thread that writes. */
const STEP_ENTITIES = 200;

/** The gain and the count from which each stored metric, a percentage, is computed. */
const listSources = (kind: OwnerKind) =>
  STORED_METRICS[kind].map((name) => {
    const gain = name.slice(0, -PERCENT_SUFFIX.length);
    return { gain, count: GAIN_DEFINITIONS[kind][gain]?.count ?? "" };
  });

interface OwnerRow {
  readonly key: number;
  readonly id: string;
  /** Whether lists have it. */
  readonly isListed: 0 | 1;
  readonly size: number | null;
  /** The gain and the count of each metric. */
  readonly sources: readonly (readonly [gain: number | null, count: number | null])[];
}

function selectStaleSql(kind: OwnerKind): string {
  const { entityTable } = KIND_TABLES[kind];
  const sources = listSources(kind).map(
    ({ gain, count }) => `json_array(${toColumnName(gain)}, ${toColumnName(count)})`,
  );
  return `
    SELECT json_group_array(json_object(
      'key', entity.key,
      'id', entity.id,
      'isListed', ${OWNER_LISTS[kind].isListed},
      'size', ${toColumnName(MAIN_COUNTS[kind])},
      'sources', json_array(${sources.join(", ")})
    ))
    FROM (
      SELECT key
      FROM stale_${kind}_figures
      ORDER BY key
      LIMIT ${STEP_ENTITIES}
    ) AS stale
    JOIN ${entityTable} AS entity ON entity.key = stale.key`;
}

/** @returns How many entities were stale; some of them still are if others wrote meanwhile. */
export async function refreshOwnerFigures(database: Database, kind: OwnerKind): Promise<number> {
  const sequence = await readLastSequence(database);
  const rows = (await database.queryJson<OwnerRow[]>(selectStaleSql(kind), [])) ?? [];
  if (rows.length === 0) return 0;
  const listed = rows.filter(({ isListed }) => isListed === 1);
  const figures = listed.map(({ key, id, size, sources }) => [
    key,
    id,
    size,
    ...sources.map(([gain, count]) =>
      gain === null || count === null ? null : computeGainPercent(gain, count - gain),
    ),
  ]);
  const columns = ["key", "id", "size", ...STORED_METRICS[kind].map(toColumnName)];
  const ids = rows.map(({ id }) => id);
  const keys = rows.map(({ key }) => key);
  await tryWrite(database, sequence, {
    recordChange: recordFigures(kind, kind, ids),
    statements: [
      upsertFigures(kind, columns, figures),
      deleteFigures(
        kind,
        rows.filter((row) => !listed.includes(row)).map(({ key }) => key),
      ),
      unmarkStale(kind, keys),
    ],
  });
  return rows.length;
}
