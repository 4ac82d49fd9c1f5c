/**
 * The change log and its cache tags. Each write of observations records, in its transaction, the
 * cache tags of its changes: the names of what cached responses depend on. A trigger records each
 * change of an API key. The caches of responses and of keys in all processes read the log.
 *
 * A write depends on its reads: a new point is packed into an existing chunk. So the change log
 * fails its transaction if another process wrote something that this write depends on in between.
 */
import type { Attributes } from "../../../core/entities.ts";
import { KINDS, type EntityKind, type ItemKind, type OwnerKind } from "../../../core/kinds.ts";
import { toEntityId } from "../../../core/observations.ts";
import type { Statement } from "../database/database.ts";
import { KIND_TABLES } from "../tables/entity-sql.ts";

/** The changes since a reader's last known change. */
export interface ChangeSet {
  /** The number of the last change. */
  readonly sequence: number;
  /** `undefined` if unknown, so that any observation may have changed. */
  readonly tags: readonly string[] | undefined;
  /** The API keys that changed; `undefined` if unknown, so that any may have. */
  readonly keys: readonly number[] | undefined;
}

/** What a statement selects about the changes: the tags of each. */
interface SelectedChanges {
  readonly sequence: number;
  readonly tagLists: readonly (readonly string[] | null)[];
}

/** The trigger in api-keys.sql writes this tag, with the key's number. */
const KEY_TAG_START = "key ";

/** The tag of a channel or user with all items. */
export const createOwnerTag = (kind: OwnerKind, id: string) => `${kind} ${id}`;

/** The tags of the lists of all entities of a kind; of channels, also of who has a username. */
export const LIST_TAGS: Readonly<Record<EntityKind, string>> = {
  channel: "channels",
  short: "shorts",
  user: "users",
  tweet: "tweets",
};

/** The tags of all lists, as SQL. */
const ALL_LIST_TAGS = Object.values(LIST_TAGS)
  .map((tag) => `'${tag}'`)
  .join(", ");

/** The sequence number of the last change, as SQL; 0 if there is none. */
export const LAST_SEQUENCE = "ifnull((SELECT max(sequence) FROM changes), 0)";

/** The number of the last published change of entities, as SQL; the index has only such changes. */
export const LAST_PUBLISHED = `ifnull((
      SELECT max(entities_sequence)
      FROM changes
      WHERE entities_sequence IS NOT NULL
    ), 0)`;

/**
 * The number of the last change of entities with a database of their own, as SQL. It is null in the
 * ledger, which has the same numbers, but those of published changes.
 */
export const LAST_ENTITIES_SEQUENCE = `iif(${LAST_PUBLISHED} = 0, ${LAST_SEQUENCE}, NULL)`;

/** The columns of the changes since a number, which is an argument such as `?1`. */
export const changeColumnsSql = (since: string): string => `
    ${LAST_SEQUENCE} AS sequence,
    (SELECT json_group_array(json(tags)) FROM changes WHERE sequence > ${since}) AS tags`;

/** Only a write of observations can have unknown tags: they hide no change of a key. */
export function createChangeSet(
  { sequence, tagLists }: SelectedChanges,
  since: number | undefined,
): ChangeSet {
  // Old changes are deleted.
  const isComplete = since !== undefined && tagLists.length === sequence - since;
  if (!isComplete) return { sequence, tags: undefined, keys: undefined };
  const tags = tagLists.flatMap((list) => list ?? []);
  const keys = tags
    .filter((tag) => tag.startsWith(KEY_TAG_START))
    .map((tag) => Number(tag.slice(KEY_TAG_START.length)));
  return { sequence, tags: tagLists.includes(null) ? undefined : tags, keys };
}

/** Tags that a change names at most. A change with more has none, and affects everything. */
const CHANGE_TAGS_MAX = 200;

const RETAINED_CHANGES_MAX = 1000;

/** Whether only keys changed since. The newest write of observations is always retained. */
const IS_UNCHANGED_SINCE = `
  NOT EXISTS (
    SELECT 1
    FROM changes
    WHERE sequence > ?1 AND ifnull(tags, '') NOT LIKE '["${KEY_TAG_START}%'
  )`;

/**
 * Whether no change since the expected version has a tag that this one has or has read, but those of
 * lists. Changes that are no longer retained may have had any tag.
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
          WHERE value NOT IN (${ALL_LIST_TAGS}) AND (
            value IN (SELECT tag FROM changed_tags)
            OR value IN (SELECT value FROM json_each(?3, '$.read'))
          )
        )
      )
    )
  )`;

/**
 * Records a change: ?1 is the expected last sequence number, ?2 the `uid` of the change, ?3 the
 * JSON of a change. On a conflict the `uid` is NULL, which fails the whole transaction. The tags
 * are those that the entities get, and those of the owners of items until now, which may lose them.
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

export const DELETE_OLD_CHANGES: Statement = {
  sql: `
    DELETE FROM changes
    WHERE sequence <= (SELECT max(sequence) FROM changes) - ${RETAINED_CHANGES_MAX}`,
  args: [],
};

/** Creates the statements that record a change; they come before those that make it. */
export type RecordChange = ReturnType<typeof createRecorder>;

function createRecorder(
  sql: string,
  change: { readonly [Member in "tags" | "read" | ItemKind]?: readonly string[] },
) {
  const json = JSON.stringify(change);
  return (lastSequence: number, uid: string): Statement[] => [
    { sql, args: [lastSequence, uid, json] },
    DELETE_OLD_CHANGES,
  ];
}

type ChangedEntity = Readonly<{ kind: EntityKind; id: string; attributes: Attributes }>;

/** Records a write of entities, which conflicts with changes that have one of their tags. */
export function recordEntityWrites(written: readonly ChangedEntity[]): RecordChange {
  const tags = [...new Set(written.flatMap(listTags))];
  const idsOf = (kind: ItemKind) =>
    written.filter((entity) => entity.kind === kind).map(({ id }) => id);
  const change = { tags, tweet: idsOf("tweet"), short: idsOf("short") };
  return createRecorder(INSERT_ENTITY_WRITES, change);
}

function listTags({ kind, id, attributes }: ChangedEntity): string[] {
  if (kind === "channel" || kind === "user") return [createOwnerTag(kind, id), LIST_TAGS[kind]];
  const { owner } = KINDS[kind];
  const ownerId = toEntityId(owner.kind, String(attributes[owner.field]?.value));
  const tags = [createOwnerTag(owner.kind, ownerId), LIST_TAGS[kind]];
  // A user is listed once one of their tweets was observed.
  return owner.kind === "user" ? [...tags, LIST_TAGS.user] : tags;
}

/**
 * Records that histories of entities are rewritten, which changes gains, by which lists are sorted.
 * It conflicts with any other write of observations, because a rewrite depends on more histories
 * than it writes.
 */
export function recordHistoryRewrites(kind: EntityKind, ids: readonly string[]): RecordChange {
  const change =
    kind === "channel" || kind === "user"
      ? { tags: [...ids.map((id) => createOwnerTag(kind, id)), LIST_TAGS[kind]] }
      : { [kind]: ids, tags: [LIST_TAGS[kind]] };
  return createRecorder(INSERT_HISTORY_REWRITES, change);
}

/**
 * Records a write of figures. It conflicts with changes of the owners from whose observations they
 * were computed.
 */
export function recordFigures(
  kind: EntityKind,
  owner: OwnerKind,
  ownerIds: readonly string[],
): RecordChange {
  const read = ownerIds.map((id) => createOwnerTag(owner, id));
  return createRecorder(INSERT_ENTITY_WRITES, { tags: [LIST_TAGS[kind]], read });
}
