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
  readonly observations: string;
  /** The column of `observations` that holds the entity's key. */
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
    observations: `${kind}_observations`,
    owner: kind,
    described: columns(Object.keys(fields.described)),
    counts: columns(fields.counts),
  };
}

/** The column of a field. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
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
 * Its one argument is a JSON array of arrays: identifier, observed instant, the folded username
 * (of a channel and a tweet, else null), then value and instant of each describing field.
 *
 * @param fields The describing fields that are written: those that some of the entities are given.
 */
export function upsertEntities(layout: Layout, fields: readonly string[]): string {
  const { entities, kind } = layout;
  const columns = fields.map((field) => layout.described.get(field) ?? field);
  const companion = COMPANIONS[kind];
  const values = columns.flatMap((column, index) => {
    const value = element(3 + 2 * index);
    const isChannelKey = kind === "short" && column === "channel";
    return [
      isChannelKey ? `(SELECT key FROM channels WHERE id = ${value})` : value,
      element(4 + 2 * index),
    ];
  });
  const companionValue =
    kind === "tweet" ? `(SELECT key FROM users WHERE id = ${element(2)})` : element(2);
  const observed = kind === "short" || kind === "tweet";
  const into = [
    "id",
    ...(observed ? ["observed_at"] : []),
    ...(companion === undefined ? [] : [companion.column]),
    ...columns.flatMap((column) => [column, `${column}_at`]),
  ];
  const selected = [
    element(0),
    ...(observed ? [element(1)] : []),
    ...(companion === undefined ? [] : [companionValue]),
    ...values,
  ];
  const updates = columns.flatMap((column) => {
    const wins = winsOver(layout, column);
    const follows = companion?.of === column ? [companion.column] : [];
    return [column, `${column}_at`, ...follows].map(
      (target) => `${target} = CASE WHEN ${wins} THEN excluded.${target} ELSE ${target} END`,
    );
  });
  return (
    `INSERT INTO ${entities} (${into.join(", ")}) SELECT ${selected.join(", ")} ` +
    `FROM json_each(?) WHERE true ON CONFLICT (id) ` +
    (updates.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${updates.join(", ")}`)
  );
}

/** Whether the incoming value of a column is greater, as a pair of instant and value. */
function winsOver({ kind, entities }: Layout, column: string): string {
  const identifierOf = (row: string) => `(SELECT id FROM channels WHERE key = ${row}.${column})`;
  const greater =
    kind === "short" && column === "channel"
      ? `${identifierOf("excluded")} > ${identifierOf(entities)}`
      : `excluded.${column} > ${entities}.${column}`;
  const at = `${entities}.${column}_at`;
  return (
    `excluded.${column}_at IS NOT NULL AND (${at} IS NULL OR excluded.${column}_at > ${at} ` +
    `OR (excluded.${column}_at = ${at} AND ${greater}))`
  );
}

/**
 * Writes observations, joined with those of the same instant: of two counts the greater wins.
 *
 * Its one argument is a JSON array of arrays: an identifier and its points, each an array of the
 * instant, then the counts. In the order of instants it is fastest, because neighbours lie in one
 * page.
 */
export function upsertObservations(layout: Layout): string {
  const { entities, observations, owner } = layout;
  const counts = [...layout.counts.values()];
  const updates = counts.map((column) => {
    const [given, known] = [`excluded.${column}`, `${observations}.${column}`];
    return `${column} = max(ifnull(${given}, ${known}), ifnull(${known}, ${given}))`;
  });
  const values = ["at", ...counts].map((_, index) => element(index, "point.value"));
  return (
    `INSERT INTO ${observations} (${[owner, "at", ...counts].join(", ")}) ` +
    `SELECT ${["entity.key", ...values].join(", ")} FROM json_each(?) AS given ` +
    `CROSS JOIN ${entities} AS entity ON entity.id = ${element(0, "given.value")} ` +
    `CROSS JOIN json_each(given.value, '$[1]') AS point ` +
    `WHERE true ON CONFLICT (${owner}, at) DO UPDATE SET ${updates.join(", ")}`
  );
}

/**
 * Takes over the counts of the newest observation into the entities' rows.
 *
 * Its one argument is a JSON array of identifiers.
 */
export function refreshPresent({ entities, observations, owner, counts }: Layout): string {
  const columns = [...counts.values()].join(", ");
  return (
    `UPDATE ${entities} SET (observed_at, ${columns}) = (SELECT at, ${columns} ` +
    `FROM ${observations} WHERE ${owner} = ${entities}.key ORDER BY at DESC LIMIT 1) ` +
    `WHERE id IN (SELECT value FROM json_each(?))`
  );
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
