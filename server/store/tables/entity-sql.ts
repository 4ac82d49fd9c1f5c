/**
 * The names of the tables and columns of each kind of entity.
 *
 * A column has the name of its field in snake case. The instant that an attribute came from is in
 * `<column>_at`.
 */
import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { KIND_FIELDS, type EntityFields, type EntityKind } from "../../../core/entity-kinds.ts";
import * as tables from "./entity-tables.ts";

/** The tables and columns of a kind. */
export interface KindTables {
  readonly kind: EntityKind;
  readonly entityTable: string;
  readonly historyTable: string;
  /** The column of the history table that holds the key of the entity. */
  readonly entityColumn: string;
  /** All columns of the entity table. */
  readonly allColumns: readonly string[];
  /** The columns of the attributes, by field. */
  readonly attributeColumns: ReadonlyMap<string, string>;
  /** The columns of the counts, by field. */
  readonly countColumns: ReadonlyMap<string, string>;
}

function createKindTables(
  kind: EntityKind,
  entities: SQLiteTable,
  histories: SQLiteTable,
): KindTables {
  const fields: EntityFields = KIND_FIELDS[kind];
  const toColumns = (names: readonly string[]) =>
    new Map(names.map((name) => [name, toColumnName(name)] as const));
  return {
    kind,
    entityTable: getTableName(entities),
    historyTable: getTableName(histories),
    entityColumn: kind,
    allColumns: Object.values(getTableColumns(entities)).map(({ name }) => name),
    attributeColumns: toColumns(Object.keys(fields.attributes)),
    countColumns: toColumns(fields.counts),
  };
}

/** The tables and columns of every kind. */
export const KIND_TABLES: Readonly<Record<EntityKind, KindTables>> = {
  channel: createKindTables("channel", tables.channels, tables.channelHistories),
  short: createKindTables("short", tables.shorts, tables.shortHistories),
  user: createKindTables("user", tables.users, tables.userHistories),
  tweet: createKindTables("tweet", tables.tweets, tables.tweetHistories),
};

/** The column of a field. */
export function toColumnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether an attribute's column holds the key of a channel where the field has its identifier. */
export function isChannelKeyColumn({ kind }: KindTables, column: string): boolean {
  return kind === "short" && column === "channel";
}

/** The value of an attribute in a row, as SQL. */
export function attributeValueSql(kindTables: KindTables, column: string, row: string): string {
  const value = `${row}.${column}`;
  return isChannelKeyColumn(kindTables, column)
    ? `(SELECT id FROM channels WHERE key = ${value})`
    : value;
}
