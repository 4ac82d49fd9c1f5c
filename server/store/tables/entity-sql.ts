/** The names of the tables and columns of each kind of entity, and SQL that reads them. */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  ENTITY_FIELDS,
  KINDS,
  type EntityFields,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../../../core/kinds.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import * as tables from "./entity-tables.ts";
import { createPointLayout, type PointLayout } from "./point-layout.ts";

/** How the table of an item names its owner. */
interface OwnerColumns {
  readonly kind: OwnerKind;
  /** The attribute with the identifier of the owner; of a user, the username. */
  readonly field: string;
  /** The column with the key of the owner. */
  readonly keyColumn: string;
}

/** A gain of a kind. */
export interface KindGain {
  readonly name: string;
  /** The index of its count among those of the kind. */
  readonly countIndex: number;
  /** How many days it looks back. */
  readonly days: number;
}

export interface KindTables extends Omit<EntityFields, "owner"> {
  readonly kind: EntityKind;
  readonly owner?: OwnerColumns;
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

/** The tables of items. */
export interface ItemTables extends KindTables {
  readonly owner: OwnerColumns;
}

function createKindTables(kind: EntityKind, entities: SQLiteTable): KindTables {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const gains = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => ({
    name,
    countIndex: counts.indexOf(count),
    days: GAIN_PERIOD_DAYS[period],
  }));
  const isGain = new Set(gains.map(({ name }) => tables.toColumnName(name)));
  return {
    kind,
    idField,
    attributes,
    counts,
    entityTable: getTableName(entities),
    historyTable: `${kind}_histories`,
    entityColumn: kind,
    pointLayout: createPointLayout(Object.values(KINDS[kind].counts)),
    gains,
    stateColumns: Object.keys(getTableColumns(entities)).filter((name) => !isGain.has(name)),
  };
}

function createItemTables(kind: ItemKind, items: SQLiteTable, keyColumn: string): ItemTables {
  return { ...createKindTables(kind, items), owner: { ...KINDS[kind].owner, keyColumn } };
}

export const KIND_TABLES: Readonly<Record<OwnerKind, KindTables> & Record<ItemKind, ItemTables>> = {
  channel: createKindTables("channel", tables.channels),
  short: createItemTables("short", tables.shorts, tables.shorts.channel_key.name),
  user: createKindTables("user", tables.users),
  tweet: createItemTables("tweet", tables.tweets, tables.tweets.user.name),
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
