/**
 * The change log: each write of observations records, in its transaction, the cache tags of its
 * changes. Response caches of all processes read it, and `writeOptimistically()` detects by it that
 * another process wrote in between.
 *
 * A cache tag is the name of something that cached responses depend on.
 */
import type { Row } from "@libsql/client";
import type { Attributes } from "../../../core/entities.ts";
import { KINDS, type EntityKind, type ItemKind, type OwnerKind } from "../../../core/kinds.ts";
import { toEntityId } from "../../../core/observations.ts";
import type { Database, Statement } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";
import type { ChangeSet } from "./cache-metadata.ts";

/** The tag of a channel or user with all items. */
export const createOwnerTag = (kind: OwnerKind, id: string) => `${kind} ${id}`;

/** The tag of the list of all channels, and of which channel has a username; and that of all users. */
export const LIST_TAGS: Readonly<Record<OwnerKind, string>> = {
  channel: "channels",
  user: "users",
};

/** Tags that a change names at most. A change with more has none, and affects everything. */
const CHANGE_TAGS_MAX = 200;

const RETAINED_CHANGES_MAX = 1000;

/** The sequence number of the last change, as SQL; 0 if there is none. */
const LAST_SEQUENCE = "ifnull((SELECT max(sequence) FROM changes), 0)";

const IS_UNCHANGED_SINCE = `${LAST_SEQUENCE} = ?1`;

/**
 * Whether no change since the expected version has a tag of this one. The tags of the lists count
 * for nothing here. Changes that are no longer retained may have had any tag.
 */
const HAS_NO_CONFLICT_SINCE = `
  ${IS_UNCHANGED_SINCE} OR (
    (SELECT min(sequence) FROM changes) <= ?1 + 1
    AND NOT EXISTS (
      SELECT 1
      FROM changes AS later
      WHERE sequence > ?1 AND (
        tags IS NULL
        OR EXISTS (
          SELECT 1
          FROM json_each(later.tags)
          WHERE value NOT IN ('${LIST_TAGS.channel}', '${LIST_TAGS.user}') AND value IN (SELECT tag FROM changed_tags)
        )
      )
    )
  )`;

/**
 * Records a change: ?1 is the expected last sequence number, ?2 the `uid` of the change, ?3 the JSON
 * of a {@link Change}. On a conflict the `uid` is NULL, which fails the whole transaction.
 *
 * The tags are those that the entities get, and those of the owners of items until now, which may
 * lose them. Tags that are too many already need not be counted in SQL.
 */
const insertChangeSql = (condition: string) => `
  INSERT INTO changes (uid, tags)
  WITH changed_tags(tag) AS (
    SELECT value
    FROM json_each(?3, '$.tags')
    ${selectOwnerTagsSql("tweet")}
    ${selectOwnerTagsSql("short")}
  )
  SELECT
    iif(${condition}, ?2, NULL),
    iif(json_array_length(?3, '$.tags') > ${CHANGE_TAGS_MAX}, NULL, (
      SELECT iif(count(*) > ${CHANGE_TAGS_MAX}, NULL, json_group_array(tag))
      FROM changed_tags
    ))`;

function selectOwnerTagsSql(kind: ItemKind): string {
  const { entityTable, owner } = KIND_TABLES[kind];
  return `
    UNION
    SELECT '${createOwnerTag(owner.kind, "")}' || owner.id
    FROM json_each(?3, '$.${kind}') AS written
    JOIN ${entityTable} AS item ON item.id = written.value
    JOIN ${KIND_TABLES[owner.kind].entityTable} AS owner ON owner.key = item.${owner.keyColumn}`;
}

const INSERT_ENTITY_WRITES = insertChangeSql(HAS_NO_CONFLICT_SINCE);
const INSERT_HISTORY_REWRITES = insertChangeSql(IS_UNCHANGED_SINCE);

const DELETE_OLD_CHANGES: Statement = {
  sql: `
    DELETE FROM changes
    WHERE sequence <= (SELECT max(sequence) FROM changes) - ${RETAINED_CHANGES_MAX}`,
  args: [],
};

/** The scope of a change: tags, and the identifiers of items, by kind. */
type Change = { readonly tags?: readonly string[] } & {
  readonly [Kind in ItemKind]?: readonly string[];
};

/** Creates the statements that record a change; they come before those that make it. */
export type RecordChange = ReturnType<typeof createRecorder>;

function createRecorder(sql: string, change: Change) {
  const json = JSON.stringify(change);
  return (lastSequence: number, uid: string): Statement[] => [
    { sql, args: [lastSequence, uid, json] },
    DELETE_OLD_CHANGES,
  ];
}

/** An entity that is written. */
export interface ChangedEntity {
  readonly kind: EntityKind;
  readonly id: string;
  readonly attributes: Attributes;
}

/** Records a write of entities, which conflicts with changes that have one of their tags. */
export function recordEntityWrites(written: readonly ChangedEntity[]): RecordChange {
  const tags = [...new Set(written.flatMap(listTags))];
  const idsOf = (kind: EntityKind) =>
    written.filter((entity) => entity.kind === kind).map(({ id }) => id);
  const change = { tags, tweet: idsOf("tweet"), short: idsOf("short") };
  return createRecorder(INSERT_ENTITY_WRITES, change);
}

function listTags({ kind, id, attributes }: ChangedEntity): string[] {
  if (kind === "channel" || kind === "user") return [createOwnerTag(kind, id), LIST_TAGS[kind]];
  const { owner } = KINDS[kind];
  const ownerId = toEntityId(owner.kind, String(attributes[owner.field]?.value));
  const ownerTag = createOwnerTag(owner.kind, ownerId);
  // A user is listed once one of their tweets was observed.
  return owner.kind === "user" ? [ownerTag, LIST_TAGS.user] : [ownerTag];
}

/**
 * Records that histories of entities are rewritten, which changes gains, by which lists are sorted.
 * It conflicts with any change, because a rewrite depends on more histories than it writes.
 */
export function recordHistoryRewrites(kind: EntityKind, ids: readonly string[]): RecordChange {
  const change =
    kind === "channel" || kind === "user"
      ? { tags: [...ids.map((id) => createOwnerTag(kind, id)), LIST_TAGS[kind]] }
      : { [kind]: ids };
  return createRecorder(INSERT_HISTORY_REWRITES, change);
}

/** Reads the sequence number of the last change; 0 if there is none. */
export async function readLastSequence(database: Database): Promise<number> {
  return (await database.queryJson<number>(`SELECT json_quote(${LAST_SEQUENCE})`, [])) ?? 0;
}

export async function isRecorded(database: Database, uid: string): Promise<boolean> {
  const sql = "SELECT json_quote(uid) FROM changes WHERE uid = ?";
  return (await database.queryJson<string>(sql, [uid])) !== undefined;
}

const SELECT_CHANGES = `
  SELECT
    ${LAST_SEQUENCE} AS sequence,
    (
      SELECT json_group_array(json(tags))
      FROM changes
      WHERE sequence > ?1
    ) AS tags`;

/** Selects the changes after a sequence number; `undefined` selects only the last number. */
export function selectChanges(since: number | undefined): Statement {
  return { sql: SELECT_CHANGES, args: [since ?? null] };
}

/** Parses the row of {@link selectChanges}. */
export function parseChanges(row: Row | undefined, since: number | undefined): ChangeSet {
  const sequence = Number(row?.["sequence"]);
  if (sequence === since) return { sequence, tags: [] };
  const tagLists: (string[] | null)[] = JSON.parse(String(row?.["tags"]));
  const isComplete =
    since !== undefined && tagLists.length === sequence - since && !tagLists.includes(null);
  return { sequence, tags: isComplete ? tagLists.flatMap((tags) => tags ?? []) : undefined };
}
