/** The names of the tables and columns of each kind of entity, and SQL that reads them. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { ENTITY_FIELDS, type EntityFields, type EntityKind } from "../../../core/entity-kinds.ts";
import { GAIN_DEFINITIONS } from "../../../core/growth.ts";
import * as tables from "./entity-tables.ts";

export interface KindTables extends EntityFields {
  readonly kind: EntityKind;
  readonly entityTable: string;
  readonly historyTable: string;
  /** The column of the history table that holds the key of the entity. */
  readonly entityColumn: string;
  /** The names of the gains. */
  readonly gains: readonly string[];
  /** All columns of the entity table but the gains, which change when observations are removed. */
  readonly stateColumns: readonly string[];
}

function createKindTables(kind: EntityKind, entities: SQLiteTable): KindTables {
  const gains = Object.keys(GAIN_DEFINITIONS[kind]);
  const isGain = new Set(gains.map(tables.toColumnName));
  return {
    ...ENTITY_FIELDS[kind],
    kind,
    entityTable: getTableName(entities),
    historyTable: `${kind}_histories`,
    entityColumn: kind,
    gains,
    stateColumns: Object.keys(getTableColumns(entities)).filter((name) => !isGain.has(name)),
  };
}

export const KIND_TABLES: Readonly<Record<EntityKind, KindTables>> = {
  channel: createKindTables("channel", tables.channels),
  short: createKindTables("short", tables.shorts),
  user: createKindTables("user", tables.users),
  tweet: createKindTables("tweet", tables.tweets),
};

/** The fields of a schema as a JSON object, as SQL: each from the column of its name. */
export function fieldsJsonSql({ properties }: { readonly properties: object }): string {
  const members = Object.keys(properties).map(
    (field) => `'${field}', ${tables.toColumnName(field)}`,
  );
  return `json_object(${members.join(", ")})`;
}

/**
 * An element of a JSON array, as SQL. `json_extract` takes half the time of `->>`.
 *
 * @param array The array, as SQL; by default the value of the only `json_each` of the query.
 */
export function jsonExtractSql(index: number, array = "value"): string {
  return `json_extract(${array}, '$[${index}]')`;
}
