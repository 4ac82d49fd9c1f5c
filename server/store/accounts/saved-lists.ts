/**
 * Stores the saved lists of accounts. A change is computed by core from the stored list and written
 * if no other process changed the list meanwhile, else it is computed again. That a name is unique
 * in its account, and how many lists an account has, are conditions in SQL.
 */
import pLimit from "p-limit";
import pRetry from "p-retry";
import { DomainError } from "../../../core/errors.ts";
import type { OwnerKind } from "../../../core/kinds.ts";
import { SAVED_LISTS_MAX } from "../../../core/limits.ts";
import {
  changeSavedNames,
  createListExistsError,
  createListNotFoundError,
  createTooManyListsError,
  SAVED_LIST_FIELDS,
  type SavedNames,
  type SavedNamesChange,
  type StoredList,
  type StoredSummary,
} from "../../../core/saved-lists.ts";
import { foldCase } from "../../../core/text.ts";
import { writeNamed, type Database } from "../database/database.ts";
import { createConflictRetries } from "../history/optimistic-writes.ts";

const LIST_JSON = `
  json_object(
    'name', name,
    'version', version,
    'createdAt', created_at,
    'updatedAt', updated_at,
    'channels', json(channels),
    'users', json(users)
  )`;

const SELECT_LIST = `
  SELECT ${LIST_JSON}
  FROM saved_lists
  WHERE account = ?1 AND name_folded = ?2`;

const SELECT_SUMMARIES = `
  SELECT json_group_array(json_object(
    'name', name,
    'createdAt', created_at,
    'updatedAt', updated_at,
    'total_channels', total_channels,
    'total_users', total_users
  ))
  FROM saved_lists
  WHERE account = ?1`;

const SELECT_NAME = "SELECT name FROM saved_lists WHERE account = ?1 AND name_folded = ?2";

/** Replaces the names of a list, or creates it if the account has fewer than ?10 lists. */
const UPSERT_LIST = `
  INSERT INTO saved_lists (
    account, name_folded, name, version, created_at, updated_at,
    total_channels, total_users, channels, users
  )
  SELECT ?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9
  WHERE EXISTS (SELECT 1 FROM saved_lists WHERE account = ?1 AND name_folded = ?2)
    OR (SELECT count(*) FROM saved_lists WHERE account = ?1) < ?10
  ON CONFLICT DO UPDATE SET
    version = excluded.version,
    updated_at = excluded.updated_at,
    total_channels = excluded.total_channels,
    total_users = excluded.total_users,
    channels = excluded.channels,
    users = excluded.users
  RETURNING name, created_at`;

/** Changes the version ?11 of a list, if its new name is free. */
const UPDATE_LIST = `
  UPDATE saved_lists
  SET
    name_folded = ?2,
    name = ?3,
    version = ?4,
    updated_at = ?5,
    total_channels = ?6,
    total_users = ?7,
    channels = ?8,
    users = ?9
  WHERE account = ?1 AND name_folded = ?10 AND version = ?11
    AND (?2 = ?10 OR NOT EXISTS (
      SELECT 1
      FROM saved_lists
      WHERE account = ?1 AND name_folded = ?2
    ))
  RETURNING created_at`;

const DELETE_LIST = `
  DELETE FROM saved_lists
  WHERE account = ?1 AND name_folded = ?2
  RETURNING ${LIST_JSON} AS list`;

/** Retries while other processes change the same list. */
const CONFLICT_RETRIES = createConflictRetries((error) => error instanceof ListConflictError);

class ListConflictError extends DomainError {
  constructor() {
    super("Service Unavailable", "Other requests change this list without a pause; try again");
  }
}

interface VersionedList extends StoredList {
  readonly version: string;
}

export type SavedListStore = ReturnType<typeof createSavedListStore>;

/** @param options.max The most lists of an account; tests set it lower. */
export function createSavedListStore(
  database: Database,
  { max = SAVED_LISTS_MAX }: { readonly max?: number } = {},
) {
  // Changes of this process run one after another: so only other processes cause conflicts.
  const runChange = pLimit(1);
  return {
    /** Lists the names and the sizes of the lists of an account, in any order. */
    async list(account: number): Promise<readonly StoredSummary[]> {
      return (await database.queryJson<StoredSummary[]>(SELECT_SUMMARIES, [account])) ?? [];
    },

    /** Reads a list. It is never older than a change that was acknowledged before. */
    read: (account: number, name: string): Promise<StoredList> => readList(database, account, name),

    /** Reads the names of a kind that a list has. */
    async readNames(account: number, name: string, kind: OwnerKind): Promise<readonly string[]> {
      return (await readList(database, account, name))[SAVED_LIST_FIELDS[kind]];
    },

    /** Creates a list, or replaces what it has; an existing list keeps its spelling. */
    put: (account: number, name: string, names: SavedNames, now: number) =>
      runChange(async () => {
        const key = [account, foldCase(name)];
        const values = [name, crypto.randomUUID(), now, ...toColumns(names)];
        const { existing, stored } = await writeNamed(database, {
          existing: { sql: SELECT_NAME, args: key },
          stored: { sql: UPSERT_LIST, args: [...key, ...values, max] },
        });
        const [row] = stored;
        if (row === undefined) throw createTooManyListsError(max);
        const times = { createdAt: Number(row["created_at"]), updatedAt: now };
        const list: StoredList = { name: String(row["name"]), ...names, ...times };
        return { list, isNew: existing.length === 0 };
      }),

    /** Changes what a list has, and its name. */
    change: (account: number, name: string, change: SavedNamesChange, now: number) =>
      runChange(() =>
        pRetry(() => changeList(database, account, name, change, now), CONFLICT_RETRIES),
      ),

    /** Deletes a list. @returns What it had. */
    remove: (account: number, name: string): Promise<StoredList> =>
      runChange(async () => {
        const statement = { sql: DELETE_LIST, args: [account, foldCase(name)] };
        const [deleted] = await database.write([statement]);
        const json = deleted?.rows[0]?.["list"];
        if (json === undefined) throw createListNotFoundError(name);
        return JSON.parse(String(json));
      }),
  };
}

const toColumns = ({ channels, users }: SavedNames) => [
  channels.length,
  users.length,
  JSON.stringify(channels),
  JSON.stringify(users),
];

async function readList(database: Database, account: number, name: string): Promise<VersionedList> {
  const list = await database.queryJson<VersionedList>(SELECT_LIST, [account, foldCase(name)]);
  if (list === undefined) throw createListNotFoundError(name);
  return list;
}

/** Changes a list once. @throws {ListConflictError} If it was changed meanwhile. */
async function changeList(
  database: Database,
  account: number,
  name: string,
  change: SavedNamesChange,
  now: number,
): Promise<StoredList> {
  const { version, ...list } = await readList(database, account, name);
  const newName = change.name ?? list.name;
  const names = changeSavedNames(list, change);
  const [oldKey, newKey] = [foldCase(name), foldCase(newName)];
  const values = [newName, crypto.randomUUID(), now, ...toColumns(names)];
  const { sameName, updated } = await writeNamed(database, {
    sameName: { sql: SELECT_NAME, args: [account, newKey] },
    updated: { sql: UPDATE_LIST, args: [account, newKey, ...values, oldKey, version] },
  });
  if (updated.length === 1) return { ...list, ...names, name: newName, updatedAt: now };
  const [other] = sameName;
  if (other !== undefined && newKey !== oldKey) throw createListExistsError(String(other["name"]));
  throw new ListConflictError();
}
