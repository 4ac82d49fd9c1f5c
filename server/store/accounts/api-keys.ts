/** Stores API keys: their hashes and first characters, never the keys themselves. */
import { asc, eq, getTableColumns, sql } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { generateSecret, hashSecret } from "../../secrets.ts";
import type { KeyScope } from "../../stored-names.ts";
import { addAdvice } from "../../system-errors.ts";
import { writeNamed, type Database } from "../database/database.ts";
import { changeColumnsSql, createChangeSet, type ChangeSet } from "../history/change-log.ts";
import { accounts, keys } from "../tables/account-tables.ts";
import { getAccountByName } from "./ledger.ts";

const PREFIX = "cm_";

/** The columns of a key that administrators see: never the key itself. */
const { account: _account, hash: _hash, ...LISTED_COLUMNS } = getTableColumns(keys);

/** The columns that a request for a new key sets. A rotation copies them. */
const {
  id: _id,
  beginsWith: _beginsWith,
  createdAt: _createdAt,
  revokedAt: _revokedAt,
  replacedBy: _replacedBy,
  ...CHOSEN_COLUMNS
} = LISTED_COLUMNS;

const CHOSEN = Object.values(CHOSEN_COLUMNS)
  .map(({ name }) => name)
  .join(", ");

/** The options of a new key. */
export type KeyOptions = Pick<typeof keys.$inferInsert, keyof typeof CHOSEN_COLUMNS>;

// These two statements may run twice: the second time, they change nothing.

const INSERT_COPY = `
  INSERT INTO keys (account, hash, begins_with, ${CHOSEN}, created_at)
  SELECT account, ?, ?, ${CHOSEN}, ?
  FROM keys
  WHERE id = ?
    AND revoked_at IS NULL
    AND replaced_by IS NULL
    AND (expires_at IS NULL OR expires_at > ?)
  ON CONFLICT DO NOTHING`;

const REPLACE_KEY = `
  UPDATE keys
  SET expires_at = min(ifnull(keys.expires_at, ?), ?), replaced_by = copy.id
  FROM keys AS copy
  WHERE copy.hash = ? AND keys.id = ?`;

const SELECT_KEY = `
  SELECT keys.*, accounts.name AS account_name
  FROM keys
  JOIN accounts ON accounts.id = keys.account
  WHERE keys.id = ?`;

const ACCOUNT_NAME = sql<string>`(SELECT name FROM accounts WHERE accounts.id = keys.account)`;

/**
 * The keys with the hashes ?2, a JSON array, that are not revoked, and the changes since ?1. One
 * statement selects both, so both are of one instant.
 */
const SELECT_BY_HASHES = `
  SELECT json_object('sequence', sequence, 'tagLists', json(tags), 'rows', json(found))
  FROM (
    SELECT
      ${changeColumnsSql("?1")},
      (
        SELECT json_group_array(
          json_array(given.key, keys.id, keys.account, json(keys.scopes), keys.expires_at)
        )
        FROM json_each(?2) AS given
        CROSS JOIN keys ON keys.hash = given.value
        WHERE keys.revoked_at IS NULL
      ) AS found
  )`;

type SelectedByHashes = Parameters<typeof createChangeSet>[0] & {
  readonly rows: readonly [
    position: number,
    key: number,
    account: number,
    scopes: readonly KeyScope[],
    expiresAt: number | null,
  ][];
};

export interface StoredKey {
  readonly key: number;
  readonly account: number;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: number | null;
}

/** The keys that a lookup found, by their texts, and the changes until then. */
export interface KeyLookup {
  readonly found: ReadonlyMap<string, StoredKey>;
  readonly changes: ChangeSet;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

/** Creates the store of API keys. It waits for `onChange` after a key was revoked or replaced. */
export function createKeyStore(
  database: Database,
  onChange: () => Promise<void> = () => Promise.resolve(),
) {
  const { query } = database;
  return {
    /** Creates an API key of an account. Its text is known only here. */
    async create(name: string, options: KeyOptions, now: number) {
      const { id: account } = await getAccountByName(database, name);
      const { secret: key, ...stored } = generateSecret(PREFIX);
      const [created] = await query((drizzle) =>
        drizzle
          .insert(keys)
          .values({ ...options, ...stored, account, createdAt: now })
          .returning({ id: keys.id }),
      );
      if (created === undefined) throw new Error("The key was not stored");
      return { id: created.id, key };
    },

    /**
     * Finds keys by their texts, but not unknown and revoked ones, and lists the changes since the
     * last one that the caller knows of.
     */
    async find(texts: readonly string[], since?: number): Promise<KeyLookup> {
      const hashes = JSON.stringify(texts.map(hashSecret));
      const args = [since ?? null, hashes];
      const selected = await database.queryJson<SelectedByHashes>(SELECT_BY_HASHES, args);
      if (selected === undefined) throw new Error("The lookup of keys has no result");
      const found = new Map<string, StoredKey>();
      for (const [position, key, account, scopes, expiresAt] of selected.rows) {
        found.set(texts[position] ?? "", { key, account, scopes, expiresAt });
      }
      return { found, changes: createChangeSet(selected, since) };
    },

    list: (account: string) =>
      query((drizzle) =>
        drizzle
          .select(LISTED_COLUMNS)
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.account))
          .where(eq(accounts.name, account))
          .orderBy(asc(keys.id)),
      ),

    revoke: revokeKey.bind(null, database, onChange),
    rotate: rotateKey.bind(null, database, onChange),
  };
}

/** Revokes a key; a revoked one keeps its first `revokedAt`. */
async function revokeKey(
  { query }: Database,
  onChange: () => Promise<void>,
  idOrKey: number | string,
  now: number,
) {
  const isId = typeof idOrKey === "number";
  const { id, hash, revokedAt } = keys;
  const [revoked] = await query((drizzle) =>
    drizzle
      .update(keys)
      .set({ revokedAt: sql`ifnull(${revokedAt}, ${now})` })
      .where(isId ? eq(id, idOrKey) : eq(hash, hashSecret(idOrKey)))
      .returning({ id, revokedAt: sql<number>`${revokedAt}`, account: ACCOUNT_NAME }),
  );
  if (revoked === undefined) throw createUnknownKeyError(isId ? ` ${idOrKey}` : " with this text");
  await onChange();
  return revoked;
}

/** Replaces a key by a copy. Both are valid for the overlap, the old one until its end at most. */
async function rotateKey(
  database: Database,
  onChange: () => Promise<void>,
  id: number,
  overlapMs: number,
  now: number,
) {
  const { secret: key, hash, beginsWith } = generateSecret(PREFIX);
  const end = now + overlapMs;
  const {
    oldKey: [old],
    newKey: [created],
  } = await writeNamed(
    database,
    {
      insertCopy: { sql: INSERT_COPY, args: [hash, beginsWith, now, id, now] },
      replaceKey: { sql: REPLACE_KEY, args: [end, end, hash, id] },
      oldKey: { sql: SELECT_KEY, args: [id] },
      newKey: { sql: "SELECT id FROM keys WHERE hash = ?", args: [hash] },
    },
    { idempotent: true },
  );
  if (old === undefined) throw createUnknownKeyError(` ${id}`);
  if (created === undefined) {
    const { revoked_at: revokedAt, replaced_by: newId } = old;
    const reason =
      revokedAt !== null
        ? "is revoked; create a new key instead"
        : newId !== null
          ? `was replaced by key ${newId}; rotate that one instead`
          : "has expired; create a new key instead";
    throw new DomainError("Conflict", `Key ${id} ${reason}`);
  }
  await onChange();
  return {
    id: Number(created["id"]),
    key,
    account: String(old["account_name"]),
    oldExpiresAt: Number(old["expires_at"]),
  };
}

function createUnknownKeyError(name: string): DomainError {
  const error = new DomainError("Not Found", `There is no key${name}`);
  return addAdvice(error, "keys list ACCOUNT shows those of an account");
}
