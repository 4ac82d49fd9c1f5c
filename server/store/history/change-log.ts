/**
 * The change log, its cache tags, and the optimistic writes that it makes possible. Each write of
 * observations records, in its transaction, the cache tags of its changes: the names of what cached
 * responses depend on. A trigger records each change of an API key. The caches of responses and of
 * keys in all processes read the log.
 *
 * A write depends on its reads: a new point is packed into an existing chunk. So the change log
 * fails its transaction if another process wrote something that this write depends on in between,
 * and the write starts again.
 */
import type { Row } from "@libsql/client";
import pRetry, { type Options } from "p-retry";
import type { Attributes } from "../../../core/entities.ts";
import { DomainError } from "../../../core/errors.ts";
import { KINDS, type EntityKind, type ItemKind, type OwnerKind } from "../../../core/kinds.ts";
import { toEntityId } from "../../../core/observations.ts";
import type { Database, Statement, StatementResult, WriteOptions } from "../database/database.ts";
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

/** The tag of the list of channels, and of which channel has a username; and that of all users. */
export const LIST_TAGS: Readonly<Record<OwnerKind, string>> = {
  channel: "channels",
  user: "users",
};

/** The sequence number of the last change, as SQL; 0 if there is none. */
const LAST_SEQUENCE = "ifnull((SELECT max(sequence) FROM changes), 0)";

/** The columns of the changes since a number, which is an argument such as `?1`. */
export const changeColumnsSql = (since: string): string => `
    ${LAST_SEQUENCE} AS sequence,
    (SELECT json_group_array(json(tags)) FROM changes WHERE sequence > ${since}) AS tags`;

const SELECT_CHANGES = `SELECT ${changeColumnsSql("?1")}`;

export const selectChanges = (since: number | undefined): Statement => ({
  sql: SELECT_CHANGES,
  args: [since ?? null],
});

export function parseChanges(row: Row | undefined, since: number | undefined): ChangeSet {
  const sequence = Number(row?.["sequence"]);
  if (sequence === since) return { sequence, tags: [], keys: [] };
  return createChangeSet({ sequence, tagLists: JSON.parse(String(row?.["tags"])) }, since);
}

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
 * Whether no change since the expected version has a tag of this one, but those of lists. Changes
 * that are no longer retained may have had any tag.
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

const DELETE_OLD_CHANGES: Statement = {
  sql: `
    DELETE FROM changes
    WHERE sequence <= (SELECT max(sequence) FROM changes) - ${RETAINED_CHANGES_MAX}`,
  args: [],
};

/** Creates the statements that record a change; they come before those that make it. */
type RecordChange = ReturnType<typeof createRecorder>;

function createRecorder(
  sql: string,
  change: { readonly [Member in "tags" | ItemKind]?: readonly string[] },
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
  const ownerTag = createOwnerTag(owner.kind, ownerId);
  // A user is listed once one of their tweets was observed.
  return owner.kind === "user" ? [ownerTag, LIST_TAGS.user] : [ownerTag];
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
      : { [kind]: ids };
  return createRecorder(INSERT_HISTORY_REWRITES, change);
}

interface WritePlan {
  readonly recordChange: RecordChange;
  /** The statements that change histories; if there are none, nothing is written. */
  readonly statements: readonly Statement[];
}

/** Retries while other processes write; the last delays are half a second. */
const CONFLICT_RETRIES: Options = {
  retries: 25,
  minTimeout: 5,
  maxTimeout: 500,
  factor: 1.5,
  randomize: true,
  shouldRetry: ({ error }) => error instanceof WriteConflictError,
};

/** The error when the change log refuses a change because it expected another version. */
const VERSION_CONFLICT = "NOT NULL constraint failed: changes.uid";

class WriteConflictError extends DomainError {
  constructor() {
    super(
      "Service Unavailable",
      "Other processes write the same observations without a pause; these are not stored",
    );
  }
}

/** The last write to each database: within a process, writes run one after another. */
const writeQueues = new WeakMap<Database, Promise<unknown>>();

/**
 * Executes a plan as one transaction; within a process, in the order of the calls. `createPlan`
 * reads the state that the plan depends on, again after a conflict. There are no results if the
 * plan is stored but the response was lost.
 */
export function writeOptimistically<Plan extends WritePlan>(
  database: Database,
  createPlan: () => Promise<Plan>,
  { durability = "configured" }: Pick<WriteOptions, "durability"> = {},
): Promise<{ readonly plan: Plan; readonly results: readonly StatementResult[] }> {
  async function attemptWrite() {
    const sequence = await database.queryJson<number>(`SELECT json_quote(${LAST_SEQUENCE})`, []);
    const uid = crypto.randomUUID();
    const plan = await createPlan();
    if (plan.statements.length === 0) return { plan, results: [] };
    const changeStatements = plan.recordChange(sequence ?? 0, uid);
    try {
      const statements = [...changeStatements, ...plan.statements];
      const results = await database.write(statements, { durability, idempotent: true });
      return { plan, results: results.slice(changeStatements.length) };
    } catch (error) {
      if (!String(error).includes(VERSION_CONFLICT)) throw error;
      // The conflict may be with this same change, if the response to a first attempt was lost.
      const selectOwn = "SELECT json_quote(uid) FROM changes WHERE uid = ?";
      const own = await database.queryJson<string>(selectOwn, [uid]);
      if (own !== undefined) return { plan, results: [] };
      throw new WriteConflictError();
    }
  }
  const previousWrite = writeQueues.get(database) ?? Promise.resolve();
  const write = previousWrite.then(() => pRetry(attemptWrite, CONFLICT_RETRIES));
  // The queue must not keep the results alive: they may be large.
  writeQueues.set(database, write.then(discardResult, discardResult));
  return write;
}

const discardResult = () => undefined;
