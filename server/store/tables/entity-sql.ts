/** The names of the tables and columns of each kind of entity, and SQL that reads them. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  ENTITY_FIELDS,
  KINDS,
  type EntityFields,
  type EntityKind,
} from "../../../core/entity-kinds.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import * as tables from "./entity-tables.ts";
import { createPointLayout, type PointLayout } from "./point-layout.ts";

/** A gain of a kind. */
export interface KindGain {
  readonly name: string;
  /** The index of its count among those of the kind. */
  readonly countIndex: number;
  /** How many days it looks back. */
  readonly days: number;
}

export interface KindTables extends EntityFields {
  readonly kind: EntityKind;
  readonly entityTable: string;
  readonly historyTable: string;
  /** The column of the history table that holds the key of the entity. */
  readonly entityColumn: string;
  /** The counts of the points of a stored history. */
  readonly pointLayout: PointLayout;
  readonly gains: readonly KindGain[];
  /** All columns of the entity table but the gains, which change when observations are removed. */
  readonly stateColumns: readonly string[];
}

function createKindTables(kind: EntityKind, entities: SQLiteTable): KindTables {
  const fields: EntityFields = ENTITY_FIELDS[kind];
  const gains = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => ({
    name,
    countIndex: fields.counts.indexOf(count),
    days: GAIN_PERIOD_DAYS[period],
  }));
  const isGain = new Set(gains.map(({ name }) => tables.toColumnName(name)));
  return {
    ...fields,
    kind,
    entityTable: getTableName(entities),
    historyTable: `${kind}_histories`,
    entityColumn: kind,
    pointLayout: createPointLayout(Object.values(KINDS[kind].counts)),
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
