/**
 * What changed: each write of observations notes whom it is about, in the same transaction. Who
 * keeps answers learns with the next debit which of them are old, in whatever process.
 */
import type { Kind } from "../../core/kinds.ts";
import type { Description } from "../../core/observations.ts";
import { foldCase } from "../../core/text.ts";
import { channelSubject, CHANNELS_SUBJECT, userSubject } from "./subjects.ts";
import type { Statement } from "./connection.ts";
import type { Database } from "./database.ts";

/** An entity that is written. */
export interface ChangedFold {
  readonly kind: Kind;
  readonly id: string;
  readonly description: Description;
}

/** Subjects that a change names at most; one with more is about everything. */
const SUBJECTS_MAX = 200;

/** Changes that are remembered. */
const CHANGES_MAX = 1000;

/** The last change, as SQL; 0 where there is none. */
export const LAST_CHANGE = "ifnull((SELECT max(sequence) FROM changes), 0)";

/** Whether nobody changed anything since the change that this comes after. */
const IS_NEXT = `${LAST_CHANGE} = ?1`;

/**
 * Whether nobody changed what this is about since the change that it comes after. That some
 * channel changed is about none in particular; of what is forgotten nobody knows.
 */
const IS_ALONE =
  `${IS_NEXT} OR ((SELECT min(sequence) FROM changes) <= ?1 + 1 AND NOT EXISTS (SELECT 1 ` +
  "FROM changes AS since WHERE sequence > ?1 AND (subjects IS NULL OR EXISTS (SELECT 1 FROM " +
  `json_each(since.subjects) WHERE value <> '${CHANNELS_SUBJECT}' AND value IN ` +
  "(SELECT subject FROM mine)))))";

/** Its subjects, or all there are. */
const NAMED = `(SELECT iif(count(*) > ${SUBJECTS_MAX}, NULL, json_group_array(subject)) FROM mine)`;

/**
 * Notes a change, or fails with its whole transaction where it is out of its place: it is without a
 * name then, which the table does not take.
 *
 * @param mine The query of its subjects; its arguments are from the third on.
 * @param isInPlace The condition.
 * @param subjects What it names.
 */
const tell = (mine: string, isInPlace: string, subjects = NAMED) =>
  `INSERT INTO changes (uid, subjects) WITH mine(subject) AS (${mine}) ` +
  `SELECT iif(${isInPlace}, ?2, NULL), ${subjects}`;

/** Whose tweets and shorts these were before counts as well: they may lose them. */
const WRITTEN =
  "SELECT value AS subject FROM json_each(?3) " +
  "UNION SELECT ?6 || users.id FROM json_each(?4) AS written " +
  "JOIN tweets ON tweets.id = written.value JOIN users ON users.key = tweets.user " +
  "UNION SELECT ?7 || channels.id FROM json_each(?5) AS written " +
  "JOIN shorts ON shorts.id = written.value JOIN channels ON channels.key = shorts.channel";

const TELL_WRITTEN = tell(WRITTEN, IS_ALONE);

/** The same of too many to name: the thousands that they are need then not be gone through. */
const TELL_ALL_WRITTEN = tell(WRITTEN, IS_ALONE, "NULL");

/** Where the subjects of a kind's entities are, as they are now. */
const SUBJECTS_OF: Readonly<Record<Kind, string>> = {
  channel: `SELECT '${channelSubject("")}' || id AS subject FROM channels WHERE key IN `,
  short:
    `SELECT '${channelSubject("")}' || channels.id AS subject FROM shorts ` +
    "JOIN channels ON channels.key = shorts.channel WHERE shorts.key IN ",
  user: `SELECT '${userSubject("")}' || id AS subject FROM users WHERE key IN `,
  tweet:
    `SELECT '${userSubject("")}' || users.id AS subject FROM tweets ` +
    "JOIN users ON users.key = tweets.user WHERE tweets.key IN ",
};

const FORGET = `DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ${CHANGES_MAX}`;

/** The place of a change: after which one it comes, and what tells it from others. */
export interface Place {
  readonly after: number;
  readonly uid: string;
}

/** Notes a change, in its place; the statements come before those that make the change. */
export type Tell = (place: Place) => Statement[];

/** Notes that entities are written. */
export function tellWritten(written: readonly ChangedFold[]): Tell {
  const subjects = new Set(written.flatMap(subjectsOf));
  const idsOf = (kind: Kind) =>
    JSON.stringify(written.filter((fold) => fold.kind === kind).map(({ id }) => id));
  const named = [JSON.stringify([...subjects]), idsOf("tweet"), idsOf("short")];
  const prefixes = [userSubject(""), channelSubject("")];
  const sql = subjects.size > SUBJECTS_MAX ? TELL_ALL_WRITTEN : TELL_WRITTEN;
  return ({ after, uid }) => [
    { sql, args: [after, uid, ...named, ...prefixes] },
    { sql: FORGET, args: [] },
  ];
}

/**
 * Notes that histories of entities, by their keys, are written, where nobody changed anything
 * meanwhile: more was looked at than is written.
 */
export function tellRewritten(kind: Kind, keys: readonly number[]): Tell {
  const sql = tell(
    `SELECT DISTINCT subject FROM (${SUBJECTS_OF[kind]}(SELECT value FROM json_each(?3)))`,
    IS_NEXT,
  );
  return ({ after, uid }) => [
    { sql, args: [after, uid, JSON.stringify(keys)] },
    { sql: FORGET, args: [] },
  ];
}

/** The number of the last change; 0 where there is none. */
export async function lastChange(database: Database): Promise<number> {
  return (await database.document<number>(`SELECT json_quote(${LAST_CHANGE})`, [])) ?? 0;
}

/** Whether a change was noted. */
export async function isNoted(database: Database, uid: string): Promise<boolean> {
  const [row] = await database.select({
    sql: "SELECT 1 FROM changes WHERE uid = ?",
    args: [uid],
  });
  return row !== undefined;
}

function subjectsOf({ kind, id, description }: ChangedFold): string[] {
  switch (kind) {
    case "channel":
      return [channelSubject(id), CHANNELS_SUBJECT];
    case "short":
      return [channelSubject(String(description["channel"]?.value))];
    case "user":
      return [userSubject(id)];
    case "tweet":
      return [userSubject(foldCase(String(description["username"]?.value)))];
  }
}
