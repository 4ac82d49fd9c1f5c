/**
 * What changed: each write of observations notes whom it is about, in the same transaction. Who
 * keeps answers learns with the next debit which of them are old, in whatever process.
 */
import type { EntityKind } from "../../../core/entity-kinds.ts";
import type { Attributes } from "../../../core/observations.ts";
import { foldCase } from "../../../core/text.ts";
import { createChannelTag, CHANNELS_TAG, createUserTag } from "./cache-tags.ts";
import type { Database, Statement } from "../database/database.ts";

/** An entity that is written. */
export interface ChangedEntity {
  readonly kind: EntityKind;
  readonly id: string;
  readonly attributes: Attributes;
}

/** Subjects that a change names at most; one with more is about everything. */
const CHANGE_TAGS_MAX = 200;

/** Changes that are remembered. */
const RETAINED_CHANGES_MAX = 1000;

/** The last change, as SQL; 0 where there is none. */
export const LAST_SEQUENCE = "ifnull((SELECT max(sequence) FROM changes), 0)";

/** Whether nobody changed anything since the change that this comes after. */
const IS_UNCHANGED_SINCE = `${LAST_SEQUENCE} = ?1`;

/**
 * Whether nobody changed what this is about since the change that it comes after. That some
 * channel changed is about none in particular; of what is forgotten nobody knows.
 */
const HAS_NO_CONFLICT_SINCE =
  `${IS_UNCHANGED_SINCE} OR ((SELECT min(sequence) FROM changes) <= ?1 + 1 AND NOT EXISTS (SELECT 1 ` +
  "FROM changes AS since WHERE sequence > ?1 AND (tags IS NULL OR EXISTS (SELECT 1 FROM " +
  `json_each(since.tags) WHERE value <> '${CHANNELS_TAG}' AND value IN ` +
  "(SELECT subject FROM mine)))))";

/** Its subjects, or all there are. */
const TAGS_JSON = `(SELECT iif(count(*) > ${CHANGE_TAGS_MAX}, NULL, json_group_array(subject)) FROM mine)`;

/**
 * Notes a change, or fails with its whole transaction where it is out of its place: it is without a
 * name then, which the table does not take.
 *
 * @param tagsQuery The query of its subjects; its arguments are from the third on.
 * @param condition The condition.
 * @param tagsValue What it names.
 */
const insertChangeSql = (tagsQuery: string, condition: string, tagsValue = TAGS_JSON) =>
  `INSERT INTO changes (uid, tags) WITH mine(subject) AS (${tagsQuery}) ` +
  `SELECT iif(${condition}, ?2, NULL), ${tagsValue}`;

/** Whose tweets and shorts these were before counts as well: they may lose them. */
const WRITTEN_TAGS =
  "SELECT value AS subject FROM json_each(?3) " +
  "UNION SELECT ?6 || users.id FROM json_each(?4) AS written " +
  "JOIN tweets ON tweets.id = written.value JOIN users ON users.key = tweets.user " +
  "UNION SELECT ?7 || channels.id FROM json_each(?5) AS written " +
  "JOIN shorts ON shorts.id = written.value JOIN channels ON channels.key = shorts.channel";

const INSERT_TAGGED_CHANGE = insertChangeSql(WRITTEN_TAGS, HAS_NO_CONFLICT_SINCE);

/** The same of too many to name: the thousands that they are need then not be gone through. */
const INSERT_UNTAGGED_CHANGE = insertChangeSql(WRITTEN_TAGS, HAS_NO_CONFLICT_SINCE, "NULL");

/** Where the subjects of a kind's entities are, as they are now. */
const SELECT_TAGS: Readonly<Record<EntityKind, string>> = {
  channel: `SELECT '${createChannelTag("")}' || id AS subject FROM channels WHERE key IN `,
  short:
    `SELECT '${createChannelTag("")}' || channels.id AS subject FROM shorts ` +
    "JOIN channels ON channels.key = shorts.channel WHERE shorts.key IN ",
  user: `SELECT '${createUserTag("")}' || id AS subject FROM users WHERE key IN `,
  tweet:
    `SELECT '${createUserTag("")}' || users.id AS subject FROM tweets ` +
    "JOIN users ON users.key = tweets.user WHERE tweets.key IN ",
};

const DELETE_OLD_CHANGES = `DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ${RETAINED_CHANGES_MAX}`;

/** The place of a change: after which one it comes, and what tells it from others. */
export interface ExpectedVersion {
  readonly lastSequence: number;
  readonly uid: string;
}

/** Notes a change, in its place; the statements come before those that make the change. */
export type RecordChange = (place: ExpectedVersion) => Statement[];

/** Notes that entities are written. */
export function recordEntityWrites(written: readonly ChangedEntity[]): RecordChange {
  const subjects = new Set(written.flatMap(listTags));
  const idsJson = (kind: EntityKind) =>
    JSON.stringify(written.filter((fold) => fold.kind === kind).map(({ id }) => id));
  const tagArgs = [JSON.stringify([...subjects]), idsJson("tweet"), idsJson("short")];
  const prefixes = [createUserTag(""), createChannelTag("")];
  const sql = subjects.size > CHANGE_TAGS_MAX ? INSERT_UNTAGGED_CHANGE : INSERT_TAGGED_CHANGE;
  return ({ lastSequence: after, uid }) => [
    { sql, args: [after, uid, ...tagArgs, ...prefixes] },
    { sql: DELETE_OLD_CHANGES, args: [] },
  ];
}

/**
 * Notes that histories of entities, by their keys, are written, where nobody changed anything
 * meanwhile: more was looked at than is written.
 */
export function recordHistoryRewrites(kind: EntityKind, keys: readonly number[]): RecordChange {
  const sql = insertChangeSql(
    `SELECT DISTINCT subject FROM (${SELECT_TAGS[kind]}(SELECT value FROM json_each(?3)))`,
    IS_UNCHANGED_SINCE,
  );
  return ({ lastSequence: after, uid }) => [
    { sql, args: [after, uid, JSON.stringify(keys)] },
    { sql: DELETE_OLD_CHANGES, args: [] },
  ];
}

/** The number of the last change; 0 where there is none. */
export async function readLastSequence(database: Database): Promise<number> {
  return (await database.queryJson<number>(`SELECT json_quote(${LAST_SEQUENCE})`, [])) ?? 0;
}

/** Whether a change was noted. */
export async function isRecorded(database: Database, uid: string): Promise<boolean> {
  const [row] = await database.queryRows({
    sql: "SELECT 1 FROM changes WHERE uid = ?",
    args: [uid],
  });
  return row !== undefined;
}

function listTags({ kind, id, attributes: description }: ChangedEntity): string[] {
  switch (kind) {
    case "channel":
      return [createChannelTag(id), CHANNELS_TAG];
    case "short":
      return [createChannelTag(String(description["channel"]?.value))];
    case "user":
      return [createUserTag(id)];
    case "tweet":
      return [createUserTag(foldCase(String(description["username"]?.value)))];
  }
}
