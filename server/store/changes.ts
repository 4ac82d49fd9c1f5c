/**
 * What changed: each write of observations notes whom it is about, in the same transaction. Who
 * keeps answers learns with the next debit which of them are old, in whatever process.
 */
import type { InValue } from "@libsql/client";
import type { Kind } from "../../core/kinds.ts";
import type { Description } from "../../core/observations.ts";
import { foldCase } from "../../core/text.ts";
import { channelSubject, CHANNELS_SUBJECT, userSubject } from "./subjects.ts";
import type { Statement } from "./connection.ts";

/** An entity that is written. */
export interface ChangedFold {
  readonly kind: Kind;
  readonly id: string;
  readonly description: Description;
}

/** Subjects that a change names at most; one with more is about everything. */
const SUBJECTS_MAX = 200;

/** Changes that are remembered. */
const CHANGES_MAX = 100;

/** Whose tweets and shorts these were before counts as well: they may lose them. */
const TELL =
  `INSERT INTO changes (subjects) SELECT iif(count(*) > ${SUBJECTS_MAX}, NULL, ` +
  "json_group_array(subject)) FROM (SELECT value AS subject FROM json_each(?1) " +
  "UNION SELECT ?4 || users.id FROM json_each(?2) AS written " +
  "JOIN tweets ON tweets.id = written.value JOIN users ON users.key = tweets.user " +
  "UNION SELECT ?5 || channels.id FROM json_each(?3) AS written " +
  "JOIN shorts ON shorts.id = written.value JOIN channels ON channels.key = shorts.channel)";

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

/** The statements that note a change; they come before those that make it. */
export function tellChanges(written: readonly ChangedFold[]): Statement[] {
  const subjects = new Set(written.flatMap(subjectsOf));
  const idsOf = (kind: Kind) =>
    JSON.stringify(written.filter((fold) => fold.kind === kind).map(({ id }) => id));
  const named = JSON.stringify([...subjects]);
  return [
    {
      sql: TELL,
      args: [named, idsOf("tweet"), idsOf("short"), userSubject(""), channelSubject("")],
    },
    { sql: FORGET, args: [] },
  ];
}

/**
 * The two statements that note a change of the histories of entities, if there are any; they come
 * before those that make it.
 *
 * @param keys The query that selects the entities' keys, and its arguments.
 */
export function tellChangesOf(kind: Kind, keys: string, args: InValue[]): [Statement, Statement] {
  // The parser of a libSQL server knows no HAVING without GROUP BY.
  const sql =
    `INSERT INTO changes (subjects) SELECT iif(number > ${SUBJECTS_MAX}, NULL, named) FROM ` +
    "(SELECT count(*) AS number, json_group_array(subject) AS named FROM " +
    `(SELECT DISTINCT subject FROM (${SUBJECTS_OF[kind]}(${keys})))) WHERE number > 0`;
  return [
    { sql, args },
    { sql: FORGET, args: [] },
  ];
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
