/** Reads the gains that no list is sorted by: they are not stored, but follow from the histories. */
import type { EntityKind } from "../../../../core/kinds.ts";
import { PERCENT_SUFFIX } from "../../../../core/metrics/catalog.ts";
import type { EntityGains } from "../../../../core/growth.ts";
import type { DatabaseReads } from "../../database/database.ts";
import { readGains } from "../../history/gains.ts";
import { KIND_TABLES } from "../../tables/entity-sql.ts";

/**
 * Reads the gains of the chosen columns, also of those in percent.
 *
 * @returns By key; empty if no column needs them.
 */
export async function readOtherGains(
  database: DatabaseReads,
  kind: EntityKind,
  fields: readonly string[],
  rows: readonly {
    readonly key: number;
    readonly observedAt: number | null;
    readonly values: Readonly<Record<string, unknown>>;
  }[],
): Promise<ReadonlyMap<number, EntityGains>> {
  const tables = KIND_TABLES[kind];
  const gains = tables.otherGains.filter(
    ({ name }) => fields.includes(name) || fields.includes(name + PERCENT_SUFFIX),
  );
  if (gains.length === 0) return new Map();
  const points = rows.flatMap(({ key, observedAt, values }) => {
    if (observedAt === null) return [];
    const counts = tables.counts.map((name) => {
      const count = values[name];
      return typeof count === "number" ? count : null;
    });
    return [{ key, at: observedAt, counts }];
  });
  return readGains(database, { ...tables, gains }, points);
}
