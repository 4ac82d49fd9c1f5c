/**
 * How each kind of entity lies in the tables, as SQL: written once from the kinds' fields.
 *
 * A column is its field's name in snake case; `<column>_at` is the instant its value came from.
 */
import { KIND_FIELDS, type EntityKind, type EntityFields } from "../../../core/entity-kinds.ts";
import { jsonExtractSql } from "./json-sql.ts";

/** The tables and columns of a kind. */
export interface KindTables {
  readonly kind: EntityKind;
  readonly entityTable: string;
  readonly historyTable: string;
  /** The column of `histories` that holds the entity's key. */
  readonly entityColumn: string;
  /** Field to column. */
  readonly attributeColumns: ReadonlyMap<string, string>;
  readonly countColumns: ReadonlyMap<string, string>;
}

function createKindTables(kind: EntityKind): KindTables {
  const fields: EntityFields = KIND_FIELDS[kind];
  const columns = (names: readonly string[]) =>
    new Map(names.map((name) => [name, toColumnName(name)] as const));
  return {
    kind,
    entityTable: `${kind}s`,
    historyTable: `${kind}_histories`,
    entityColumn: kind,
    attributeColumns: columns(Object.keys(fields.attributes)),
    countColumns: columns(fields.counts),
  };
}

/** The column of a field. */
export function toColumnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a describing column holds the key of a channel, in place of the identifier. */
function isChannelKeyColumn({ kind }: KindTables, column: string): boolean {
  return kind === "short" && column === "channel";
}

/** What a describing column of a row says, as SQL. */
export function attributeValueSql(layout: KindTables, column: string, row: string): string {
  const held = `${row}.${column}`;
  return isChannelKeyColumn(layout, column)
    ? `(SELECT id FROM channels WHERE key = ${held})`
    : held;
}

/** The layout of every kind. */
export const KIND_TABLES: Readonly<Record<EntityKind, KindTables>> = {
  channel: createKindTables("channel"),
  short: createKindTables("short"),
  user: createKindTables("user"),
  tweet: createKindTables("tweet"),
};

/** What else is written when a describing column is: it follows that column's winner. */
interface DerivedColumn {
  readonly column: string;
  readonly source: string;
}

const DERIVED_COLUMNS: Readonly<Partial<Record<EntityKind, DerivedColumn>>> = {
  channel: { column: "username_folded", source: "username" },
  tweet: { column: "user", source: "username" },
};

/**
 * Writes entities, joined with what is known of them: field by field the newest instant wins, and
 * at one instant the greater value (booleans are 0 and 1, texts compare by their bytes).
 *
 * Its one argument is a JSON array of arrays: identifier, the folded username (of a channel and a
 * tweet, else null), the newest instant that is written and its counts, then value and instant of
 * each describing field.
 *
 * @param fields The describing fields that are written: those that some of the entities are given.
 */
export function upsertEntitiesSql(layout: KindTables, fields: readonly string[]): string {
  const { entityTable: entities, kind } = layout;
  const columns = fields.map((field) => layout.attributeColumns.get(field) ?? field);
  const newestColumns = ["observed_at", ...layout.countColumns.values()];
  const derived = DERIVED_COLUMNS[kind];
  const values = columns.flatMap((column, index) => {
    const position = 2 + newestColumns.length + 2 * index;
    const value = jsonExtractSql(position);
    return [
      isChannelKeyColumn(layout, column) ? `(SELECT key FROM channels WHERE id = ${value})` : value,
      jsonExtractSql(position + 1),
    ];
  });
  const derivedValue =
    kind === "tweet"
      ? `(SELECT key FROM users WHERE id = ${jsonExtractSql(1)})`
      : jsonExtractSql(1);
  const insertColumns = [
    "id",
    ...(derived === undefined ? [] : [derived.column]),
    ...newestColumns,
    ...columns.flatMap((column) => [column, `${column}_at`]),
  ];
  const insertValues = [
    jsonExtractSql(0),
    ...(derived === undefined ? [] : [derivedValue]),
    ...newestColumns.map((_, index) => jsonExtractSql(2 + index)),
    ...values,
  ];
  const setWhen = (wins: string, targets: readonly string[]) =>
    targets.map(
      (target) => `${target} = CASE WHEN ${wins} THEN excluded.${target} ELSE ${target} END`,
    );
  const isNewest = `excluded.observed_at >= ifnull(${entities}.observed_at, excluded.observed_at)`;
  const updates = columns.flatMap((column) => {
    const derivedColumns = derived?.source === column ? [derived.column] : [];
    return setWhen(incomingWinsSql(layout, column), [column, `${column}_at`, ...derivedColumns]);
  });
  return (
    `INSERT INTO ${entities} (${insertColumns.join(", ")}) SELECT ${insertValues.join(", ")} ` +
    "FROM json_each(?) WHERE true ON CONFLICT (id) DO UPDATE SET " +
    [...setWhen(isNewest, newestColumns), ...updates].join(", ")
  );
}

/** Whether the incoming value of a column is greater, as a pair of instant and value. */
function incomingWinsSql(layout: KindTables, column: string): string {
  const { entityTable: entities } = layout;
  const greater = `${attributeValueSql(layout, column, "excluded")} > ${attributeValueSql(layout, column, entities)}`;
  const at = `${entities}.${column}_at`;
  return (
    `excluded.${column}_at IS NOT NULL AND (${at} IS NULL OR excluded.${column}_at > ${at} ` +
    `OR (excluded.${column}_at = ${at} AND ${greater}))`
  );
}

/**
 * Writes chunks of histories, each in the place of the one that starts with it.
 *
 * Its one argument is a JSON array of arrays: an entity, then the start, the size and the points of
 * a chunk.
 *
 * @param lookupColumn The column of `entities` that the entity is named by.
 */
export function upsertChunksSql(
  { entityTable: entities, historyTable: histories, entityColumn: owner }: KindTables,
  lookupColumn: "id" | "key" = "id",
): string {
  const values = [1, 2, 3].map((index) => jsonExtractSql(index, "given.value"));
  return (
    `INSERT INTO ${histories} (${owner}, start, size, points) ` +
    `SELECT ${["entity.key", ...values].join(", ")} FROM json_each(?) AS given ` +
    `CROSS JOIN ${entities} AS entity ON entity.${lookupColumn} = ${jsonExtractSql(0, "given.value")} ` +
    `WHERE true ON CONFLICT (${owner}, start) ` +
    "DO UPDATE SET size = excluded.size, points = excluded.points"
  );
}

/**
 * Removes chunks of histories.
 *
 * Its one argument is a JSON array of arrays: the key of an entity and the start of a chunk.
 */
export function deleteChunksSql({
  historyTable: histories,
  entityColumn: owner,
}: KindTables): string {
  return (
    `DELETE FROM ${histories} WHERE (${owner}, start) IN ` +
    `(SELECT ${jsonExtractSql(0)}, ${jsonExtractSql(1)} FROM json_each(?))`
  );
}

/** A row of a history table as the JSON of a `Chunk`, as SQL. */
export const CHUNK_JSON = "json_object('start', start, 'size', size, 'points', points)";

/**
 * The chunks of an entity in order, as SQL: the text of a JSON array.
 *
 * @param key The entity's key, and `where` a condition besides, as SQL.
 */
export function selectChunksSql(
  { historyTable: histories, entityColumn: owner }: KindTables,
  key: string,
  where = "true",
): string {
  return (
    `(SELECT json_group_array(${CHUNK_JSON}) FROM (SELECT start, size, points ` +
    `FROM ${histories} WHERE ${owner} = ${key} AND ${where} ORDER BY start))`
  );
}

/**
 * Where the chunk starts that an instant lies in or after, as SQL: of an instant before all chunks,
 * the first.
 */
export function selectChunkStartSql(
  { historyTable: histories, entityColumn: owner }: KindTables,
  key: string,
  at: string,
): string {
  const start = (which: string, where: string) =>
    `(SELECT ${which}(start) FROM ${histories} WHERE ${owner} = ${key}${where})`;
  return `ifnull(${start("max", ` AND start <= ${at}`)}, ${start("min", "")})`;
}

/**
 * Lends keys to entities that are named before they are observed.
 *
 * Its one argument is a JSON array of identifiers.
 */
export function reserveKeysSql({ entityTable: entities }: KindTables): string {
  return (
    `INSERT INTO ${entities} (id) SELECT DISTINCT value FROM json_each(?) WHERE true ` +
    `ON CONFLICT DO NOTHING`
  );
}

/**
 * Users that only tweets tell of are spelt as the newest of their tweets. Tweets that come in may
 * change that of the users that they name and of those that they belonged to, so the spelling of
 * both is forgotten before they are written, and found again after.
 *
 * The one takes two JSON arrays: of the tweets' identifiers and of the users'; the other nothing.
 */
export const CLEAR_SPELLINGS =
  "UPDATE users SET username = NULL WHERE observed_at IS NULL AND key IN " +
  "(SELECT user FROM tweets WHERE id IN (SELECT value FROM json_each(?)) " +
  "UNION SELECT key FROM users WHERE id IN (SELECT value FROM json_each(?)))";

export const RESTORE_SPELLINGS =
  "UPDATE users SET username = (SELECT username FROM tweets WHERE user = users.key " +
  "ORDER BY observed_at DESC, username DESC LIMIT 1) " +
  "WHERE username IS NULL AND observed_at IS NULL";
