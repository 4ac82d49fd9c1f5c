/**
 * The tables of figures: the metrics by which lists are sorted, except gains, which the rows of
 * entities have. An import does not write them: their indexes would make it slower by a quarter. It
 * marks the entities that it changes as stale, and figures/refresh.ts computes their figures soon.
 */
import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { GAIN_DEFINITIONS } from "../../../core/growth.ts";
import {
  mapKinds,
  MAIN_COUNTS,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../../../core/kinds.ts";
import { METRICS } from "../../../core/metrics/catalog.ts";
import { toColumnName } from "./entity-tables.ts";

/** The names of the metrics that tables of figures have. */
export const STORED_METRICS: Readonly<Record<EntityKind, readonly string[]>> = mapKinds((kind) =>
  Object.entries(METRICS[kind]).flatMap(([name, { isSort }]) =>
    isSort && !(name in GAIN_DEFINITIONS[kind]) ? [name] : [],
  ),
);

const createMetricColumns = (kind: EntityKind) =>
  Object.fromEntries(STORED_METRICS[kind].map((name) => [toColumnName(name), real()]));

/** `key` is the key of the entity, and `id` its identifier, by which equal figures are ordered. */
const createKeyColumns = () => ({ key: integer().primaryKey(), id: text().notNull() });

/** Creates an index for each column. The columns that filters compare are in it too. */
const createIndexes = (kind: EntityKind, columns: readonly string[], filtered: readonly string[]) =>
  columns.map((column) =>
    index(`${kind}_figures_by_${column}`).on(
      sql`${sql.identifier(column)} DESC`,
      sql`id`,
      ...filtered.filter((name) => name !== column).map((name) => sql.raw(name)),
    ),
  );

/** `size` is the count of subscribers or followers, by which lists leave small ones out. */
const createOwnerFigures = (kind: OwnerKind) =>
  sqliteTable(
    `${kind}_figures`,
    { ...createKeyColumns(), size: integer(), ...createMetricColumns(kind) },
    () => createIndexes(kind, STORED_METRICS[kind].map(toColumnName), ["size"]),
  );

/** `owner` is the key of the channel or user. An item without an instant of publication has no row. */
function createItemFigures(kind: ItemKind) {
  const views = toColumnName(MAIN_COUNTS[kind]);
  const columns = ["published_at", views, ...STORED_METRICS[kind].map(toColumnName)];
  return sqliteTable(
    `${kind}_figures`,
    {
      ...createKeyColumns(),
      owner: integer().notNull(),
      published_at: integer().notNull(),
      [views]: integer(),
      ...createMetricColumns(kind),
    },
    () => createIndexes(kind, columns, ["published_at", "owner"]),
  );
}

export const channelFigures = createOwnerFigures("channel");
export const shortFigures = createItemFigures("short");
export const userFigures = createOwnerFigures("user");
export const tweetFigures = createItemFigures("tweet");

/** The keys of the entities whose observations changed since their figures were computed. */
const createStaleKeys = (kind: EntityKind) =>
  sqliteTable(`stale_${kind}_figures`, { key: integer().primaryKey() });

export const staleChannelFigures = createStaleKeys("channel");
export const staleShortFigures = createStaleKeys("short");
export const staleUserFigures = createStaleKeys("user");
export const staleTweetFigures = createStaleKeys("tweet");
