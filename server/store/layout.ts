/**
 * How each kind of entity lies in the tables, as SQL: written once from the kinds' fields.
 *
 * A column is its field's name in snake case; `<column>_at` is the instant its value came from.
 */
import { KINDS, type Kind, type KindFields } from "../../core/kinds.ts";
import { element } from "./json.ts";

/** The tables and columns of a kind. */
export interface Layout {
  readonly kind: Kind;
  readonly entities: string;
  readonly histories: string;
  /** The column of `histories` that holds the entity's key. */
  readonly owner: string;
  /** Field to column. */
  readonly described: ReadonlyMap<string, string>;
  readonly counts: ReadonlyMap<string, string>;
}

function layoutOf(kind: Kind): Layout {
  const fields: KindFields = KINDS[kind];
  const columns = (names: readonly string[]) =>
    new Map(names.map((name) => [name, columnOf(name)] as const));
  return {
    kind,
    entities: `${kind}s`,
    histories: `${kind}_histories`,
    owner: kind,
    described: columns(Object.keys(fields.described)),
    counts: columns(fields.counts),
  };
}

/** The column of a field. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a describing column holds the key of a channel, in place of the identifier. */
function isChannelKey({ kind }: Layout, column: string): boolean {
  return kind === "short" && column === "channel";
}

/** What a describing column of a row says, as SQL. */
export function valueIn(layout: Layout, column: string, row: string): string {
  const held = `${row}.${column}`;
  return isChannelKey(layout, column) ? `(SELECT id FROM channels WHERE key = ${held})` : held;
}

/** The layout of every kind. */
export const LAYOUTS: Readonly<Record<Kind, Layout>> = {
  channel: layoutOf("channel"),
  short: layoutOf("short"),
  user: layoutOf("user"),
  tweet: layoutOf("tweet"),
};

/** What else is written when a describing column is: it follows that column's winner. */
interface Companion {
  readonly column: string;
  readonly of: string;
}

const COMPANIONS: Readonly<Partial<Record<Kind, Companion>>> = {
  channel: { column: "username_folded", of: "username" },
  tweet: { column: "user", of: "username" },
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
export function upsertEntities(layout: Layout, fields: readonly string[]): string {
  const { entities, kind } = layout;
  const columns = fields.map((field) => layout.described.get(field) ?? field);
  const present = ["observed_at", ...layout.counts.values()];
  const companion = COMPANIONS[kind];
  const values = columns.flatMap((column, index) => {
    const place = 2 + present.length + 2 * index;
    const value = element(place);
    return [
      isChannelKey(layout, column) ? `(SELECT key FROM channels WHERE id = ${value})` : value,
      element(place + 1),
    ];
  });
  const companionValue =
    kind === "tweet" ? `(SELECT key FROM users WHERE id = ${element(1)})` : element(1);
  const into = [
    "id",
    ...(companion === undefined ? [] : [companion.column]),
    ...present,
    ...columns.flatMap((column) => [column, `${column}_at`]),
  ];
  const selected = [
    element(0),
    ...(companion === undefined ? [] : [companionValue]),
    ...present.map((_, index) => element(2 + index)),
    ...values,
  ];
  const replace = (wins: string, targets: readonly string[]) =>
    targets.map(
      (target) => `${target} = CASE WHEN ${wins} THEN excluded.${target} ELSE ${target} END`,
    );
  const isNewest = `excluded.observed_at >= ifnull(${entities}.observed_at, excluded.observed_at)`;
  const updates = columns.flatMap((column) => {
    const follows = companion?.of === column ? [companion.column] : [];
    return replace(winsOver(layout, column), [column, `${column}_at`, ...follows]);
  });
  return (
    `INSERT INTO ${entities} (${into.join(", ")}) SELECT ${selected.join(", ")} ` +
    "FROM json_each(?) WHERE true ON CONFLICT (id) DO UPDATE SET " +
    [...replace(isNewest, present), ...updates].join(", ")
  );
}

/** Whether the incoming value of a column is greater, as a pair of instant and value. */
function winsOver(layout: Layout, column: string): string {
  const { entities } = layout;
  const greater = `${valueIn(layout, column, "excluded")} > ${valueIn(layout, column, entities)}`;
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
 * @param by The column of `entities` that the entity is named by.
 */
export function putChunks({ entities, histories, owner }: Layout, by: "id" | "key" = "id"): string {
  const values = [1, 2, 3].map((index) => element(index, "given.value"));
  return (
    `INSERT INTO ${histories} (${owner}, start, size, points) ` +
    `SELECT ${["entity.key", ...values].join(", ")} FROM json_each(?) AS given ` +
    `CROSS JOIN ${entities} AS entity ON entity.${by} = ${element(0, "given.value")} ` +
    `WHERE true ON CONFLICT (${owner}, start) ` +
    "DO UPDATE SET size = excluded.size, points = excluded.points"
  );
}

/**
 * Removes chunks of histories.
 *
 * Its one argument is a JSON array of arrays: the key of an entity and the start of a chunk.
 */
export function dropChunks({ histories, owner }: Layout): string {
  return (
    `DELETE FROM ${histories} WHERE (${owner}, start) IN ` +
    `(SELECT ${element(0)}, ${element(1)} FROM json_each(?))`
  );
}

/**
 * The chunks of an entity in order, as SQL: the text of a JSON array.
 *
 * @param key The entity's key, and `where` a condition besides, as SQL.
 */
export function chunksWhere({ histories, owner }: Layout, key: string, where = "true"): string {
  return (
    "(SELECT json_group_array(json_array(start, size, points)) FROM (SELECT start, size, points " +
    `FROM ${histories} WHERE ${owner} = ${key} AND ${where} ORDER BY start))`
  );
}

/**
 * Where the chunk starts that an instant lies in or after, as SQL: of an instant before all chunks,
 * the first.
 */
export function startBefore({ histories, owner }: Layout, key: string, at: string): string {
  const start = (which: string, where: string) =>
    `(SELECT ${which}(start) FROM ${histories} WHERE ${owner} = ${key}${where})`;
  return `ifnull(${start("max", ` AND start <= ${at}`)}, ${start("min", "")})`;
}

/**
 * Lends keys to entities that are named before they are observed.
 *
 * Its one argument is a JSON array of identifiers.
 */
export function lendKeys({ entities }: Layout): string {
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
export const FORGET_SPELLINGS =
  "UPDATE users SET username = NULL WHERE observed_at IS NULL AND key IN " +
  "(SELECT user FROM tweets WHERE id IN (SELECT value FROM json_each(?)) " +
  "UNION SELECT key FROM users WHERE id IN (SELECT value FROM json_each(?)))";

export const FIND_SPELLINGS =
  "UPDATE users SET username = (SELECT username FROM tweets WHERE user = users.key " +
  "ORDER BY observed_at DESC, username DESC LIMIT 1) " +
  "WHERE username IS NULL AND observed_at IS NULL";
