/**
 * Publishes changes of entities in the change log of the ledger, if the entities have a database of
 * their own. Debits are committed in the ledger, and list its changes. So a change has to be listed
 * there before its write is acknowledged, and before any read shows it: else another process could
 * respond with an older state afterwards.
 *
 * Changes are published in order and without gaps, also those of a process that ended between its
 * write and its publication. So one number says which are published: that of the last one, in the
 * change log of the entities.
 */
import pLimit from "p-limit";
import type { Database, Statement } from "../database/database.ts";
import { DELETE_OLD_CHANGES, LAST_PUBLISHED, LAST_SEQUENCE } from "./change-log.ts";
import type { CommitChangeSet } from "./commit-changes.ts";

/** If more changes are not published yet, they become one with unknown tags. */
const PUBLISHED_AT_ONCE_MAX = 100;

/** The last change, and those since ?1, oldest first. */
const SELECT_CHANGES_SINCE = `
  SELECT json_object(
    'last', (
      SELECT json_array(sequence, uid)
      FROM changes
      ORDER BY sequence DESC
      LIMIT 1
    ),
    'changes', (
      SELECT json_group_array(json_array(sequence, uid, json(tags)))
      FROM (
        SELECT *
        FROM changes
        WHERE sequence > ?1
        ORDER BY sequence
        LIMIT ${PUBLISHED_AT_ONCE_MAX + 1}
      )
    )
  )`;

type Change = readonly [sequence: number, uid: string, tags: readonly string[] | null];

interface SelectedChanges {
  readonly last: readonly [sequence: number, uid: string] | null;
  readonly changes: readonly Change[];
}

// Another process may have published some of them meanwhile.
const INSERT_PUBLISHED = `
  INSERT INTO changes (uid, tags, entities_sequence)
  SELECT
    json_extract(value, '$[1]'),
    json_extract(value, '$[2]'),
    json_extract(value, '$[0]')
  FROM json_each(?1)
  WHERE json_extract(value, '$[0]') > ${LAST_PUBLISHED}
  ORDER BY key`;

/** Continues the numbers of the changes after ?1, unless they have got there. */
const INSERT_CHANGE_AFTER = `
  INSERT INTO changes (sequence, uid, tags)
  SELECT max(?1, ${LAST_SEQUENCE}) + 1, ?2, NULL
  WHERE NOT EXISTS (SELECT 1 FROM changes WHERE uid = ?2)`;

const SELECT_LAST_PUBLISHED = `
  SELECT json_array(entities_sequence, uid)
  FROM changes
  WHERE entities_sequence = ${LAST_PUBLISHED}`;

const SELECT_UID = "SELECT json_quote(uid) FROM changes WHERE sequence = ?1";

/** What reads know about the changes that they may show, and have to show. */
export interface PublishedChanges {
  /** The number of the last change of entities of which this process knows that it is published. */
  getLast(): number;
  /** Takes what a commit of debits listed. */
  learn(changes: Pick<CommitChangeSet, "sequence" | "published">): void;
  /**
   * Makes sure that the changes up to a number are published. @returns Whether they are: not if the
   * database of the entities does not have them.
   */
  ensure(sequence: number): Promise<boolean>;
}

/** Creates the state of changes where each is published by its commit: in one database. */
export function createCommittedChanges(database: Database): PublishedChanges {
  let last = 0;
  const raise = (sequence: number) => void (last = Math.max(last, sequence));
  return {
    getLast: () => last,
    learn: ({ sequence }) => raise(sequence),
    async ensure(sequence) {
      if (last < sequence) raise(await readNumber(database, LAST_SEQUENCE));
      return last >= sequence;
    },
  };
}

export type ChangePublisher = Awaited<ReturnType<typeof openChangePublisher>>;

/** Creates the publisher of the changes of entities, and publishes those that are not yet. */
export async function openChangePublisher(entities: Database, ledger: Database) {
  let last = 0;
  const raise = (sequence: number) => void (last = Math.max(last, sequence));

  async function publishNext(): Promise<void> {
    // A commit of debits can raise the last number during the read.
    const since = last;
    const { last: lastChange, changes } = await readChangesSince(entities, since);
    const [sequence, uid] = lastChange ?? [0, ""];
    if (sequence < since) {
      // The database of the entities was restored from a backup.
      await continueAfter(since);
      return publishNext();
    }
    if (sequence <= last) return;
    const isComplete =
      changes.length <= PUBLISHED_AT_ONCE_MAX && changes.length === sequence - since;
    const known = isComplete ? since : await readNumber(ledger, LAST_PUBLISHED);
    if (known > since) {
      raise(known);
      return publishNext();
    }
    const published = isComplete ? changes : [[sequence, uid, null] satisfies Change];
    const insert: Statement = { sql: INSERT_PUBLISHED, args: [JSON.stringify(published)] };
    const options = { durability: "configured", idempotent: true, inline: true } as const;
    await ledger.write([insert, DELETE_OLD_CHANGES], options);
    raise(sequence);
  }

  const continueAfter = (sequence: number) =>
    entities.write([{ sql: INSERT_CHANGE_AFTER, args: [sequence, crypto.randomUUID()] }], {
      idempotent: true,
    });

  const runNext = pLimit(1);
  let waiting: Promise<void> | undefined;
  /** Publishes all changes until now. Calls that wait share a run. */
  const publish = (): Promise<void> =>
    (waiting ??= runNext(() => {
      waiting = undefined;
      return publishNext();
    }));

  const [sequence = 0, uid] =
    (await ledger.queryJson<[number, string]>(SELECT_LAST_PUBLISHED, [])) ?? [];
  raise(sequence);
  const ownUid = await entities.queryJson<string>(SELECT_UID, [sequence]);
  // The database of the entities was restored from a backup, and changed since.
  if (ownUid !== undefined && ownUid !== uid) await continueAfter(sequence);
  await publish();

  return {
    getLast: () => last,
    learn: ({ published }: Pick<CommitChangeSet, "published">): void => raise(published),
    publish,

    async ensure(wanted: number): Promise<boolean> {
      // Its writer publishes a change within milliseconds.
      if (last < wanted) raise(await readNumber(ledger, LAST_PUBLISHED));
      if (last < wanted) await publish();
      return last >= wanted;
    },
  } satisfies PublishedChanges & Record<"publish", unknown>;
}

async function readChangesSince(entities: Database, sequence: number): Promise<SelectedChanges> {
  const selected = await entities.queryJson<SelectedChanges>(SELECT_CHANGES_SINCE, [sequence]);
  if (selected === undefined) throw new Error("The change log of the entities has no result");
  return selected;
}

const readNumber = async (database: Database, sql: string) =>
  (await database.queryJson<number>(`SELECT json_quote(${sql})`, [])) ?? 0;

/**
 * Returns the database of the entities for writers: what it acknowledges is published. `sync()`
 * publishes too: a repeated import that changes nothing tells its client that readers see all.
 */
export function publishWrites(
  database: Database,
  { publish }: Pick<ChangePublisher, "publish">,
): Database {
  return {
    ...database,
    async write(statements, options) {
      const results = await database.write(statements, options);
      await publish();
      return results;
    },
    async sync() {
      await database.sync();
      await publish();
    },
  };
}
