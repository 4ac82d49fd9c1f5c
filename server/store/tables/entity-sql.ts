/** The names of the tables and columns of each kind of entity, and SQL that reads them. */
import { getTableColumns, getTableName } from "drizzle-orm";
import {
  ENTITY_FIELDS,
  KINDS,
  type EntityFields,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../../../core/kinds.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import { entityTables, toColumnName } from "./entity-tables.ts";
import { createPointLayout, type PointLayout } from "./point-layout.ts";

export interface KindTables extends Omit<EntityFields, "owner"> {
  readonly kind: EntityKind;
  /** Of an item: the attribute with the identifier of its owner, and the column with its key. */
  readonly owner?: { readonly kind: OwnerKind; readonly field: string; readonly keyColumn: string };
  readonly entityTable: string;
  readonly historyTable: string;
  /** The column of the history table that holds the key of the entity. */
  readonly entityColumn: string;
  /** The counts of the points of a stored history. */
  readonly pointLayout: PointLayout;
  /** Its gains, each with the index of its count, and how many days it looks back. */
  readonly gains: readonly {
    readonly name: string;
    readonly countIndex: number;
    readonly days: number;
  }[];
  /** All columns of the entity table but the gains, which change when observations are removed. */
  readonly stateColumns: readonly string[];
}

/** The tables of items. */
export type ItemTables = KindTables & Required<Pick<KindTables, "owner">>;

function createKindTables(kind: EntityKind): KindTables {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const gains = Object.entries(GAIN_DEFINITIONS[kind]).map(([name, { count, period }]) => ({
    name,
    countIndex: counts.indexOf(count),
    days: GAIN_PERIOD_DAYS[period],
  }));
  const isGain = new Set(gains.map(({ name }) => toColumnName(name)));
  const entities = entityTables[`${kind}s`];
  return {
    kind,
    idField,
    attributes,
    counts,
    entityTable: getTableName(entities),
    historyTable: getTableName(entityTables[`${kind}Histories`]),
    entityColumn: kind,
    pointLayout: createPointLayout(Object.values(KINDS[kind].counts)),
    gains,
    stateColumns: Object.keys(getTableColumns(entities)).filter((name) => !isGain.has(name)),
  };
}

function createItemTables(kind: ItemKind, keyColumn: string): ItemTables {
  return { ...createKindTables(kind), owner: { ...KINDS[kind].owner, keyColumn } };
}

export const KIND_TABLES: Readonly<Record<OwnerKind, KindTables> & Record<ItemKind, ItemTables>> = {
  channel: createKindTables("channel"),
  short: createItemTables("short", entityTables.shorts.channel_key.name),
  user: createKindTables("user"),
  tweet: createItemTables("tweet", entityTables.tweets.user.name),
};

/** The fields of a schema as a JSON object, as SQL: each from the column of its name. */
export function fieldsJsonSql({ properties }: { readonly properties: object }): string {
  const members = Object.keys(properties).map((field) => `'${field}', ${toColumnName(field)}`);
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
