/** Stores API keys: their hashes and first characters, never the keys themselves. */
import { and, asc, eq, getTableColumns, isNull } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { KEY_SCOPES, type KeyScope } from "../../stored-names.ts";
import { addAdvice } from "../../system-errors.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { accounts, keys } from "../tables/account-tables.ts";

/** The label, the scopes and the validity of a new API key. */
export interface KeyOptions {
  readonly label: string | null;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: number | null;
}

/** A new secret as the database has it. */
export interface StoredSecret {
  /** SHA-256, in hex. */
  readonly hash: string;
  /** The first characters, by which people tell secrets apart. */
  readonly beginsWith: string;
}

/** A key to store; by default it has all scopes and does not expire. */
interface NewKey extends StoredSecret, Partial<KeyOptions> {
  readonly account: number;
  readonly label: string | null;
}

/** A reference to a key: its id, or the SHA-256 of its text, in hex. */
type KeyReference = { readonly id: number } | { readonly hash: string };

// These two statements may run twice: the second time, they change nothing.

const INSERT_COPY = `
  INSERT INTO keys (account, hash, begins_with, label, scopes, expires_at, created_at)
  SELECT account, ?, ?, label, scopes, expires_at, ?
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

export type KeyStore = ReturnType<typeof createKeyStore>;

/** The columns of a key that administrators see: never the key itself. */
const { account: _account, hash: _hash, ...LISTED_COLUMNS } = getTableColumns(keys);

/** A stored API key that is not revoked. */
export type StoredKey = NonNullable<Awaited<ReturnType<KeyStore["findByHash"]>>>;

export type ApiKeyRecord = Awaited<ReturnType<KeyStore["list"]>>[number];

/** Creates the store of API keys. Instants are milliseconds since 1970 UTC. */
export function createKeyStore(database: Database) {
  const { query } = database;
  return {
    /** @returns The id of the new key. */
    async create(key: NewKey, now: number) {
      const [created] = await query((drizzle) =>
        drizzle
          .insert(keys)
          .values({ ...key, scopes: [...(key.scopes ?? KEY_SCOPES)], createdAt: now })
          .returning({ id: keys.id }),
      );
      if (created === undefined) throw new Error("The key was not stored");
      return created.id;
    },

    /**
     * @param hash SHA-256 of the key, in hex.
     * @returns `undefined` for an unknown or revoked key.
     */
    async findByHash(hash: string) {
      const { id, account, scopes, expiresAt } = keys;
      const [key] = await query((drizzle) =>
        drizzle
          .select({ id, account, scopes, expiresAt })
          .from(keys)
          .where(and(eq(keys.hash, hash), isNull(keys.revokedAt))),
      );
      return key;
    },

    /** All keys of an account, by its name; oldest first. */
    list: (account: string) =>
      query((drizzle) =>
        drizzle
          .select(LISTED_COLUMNS)
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.account))
          .where(eq(accounts.name, account))
          .orderBy(asc(keys.id)),
      ),

    revoke: revokeKey.bind(null, database),
    rotate: rotateKey.bind(null, database),
  };
}

/**
 * Revokes a key; a revoked key keeps its first `revokedAt`.
 *
 * @throws {DomainError} `Not Found`.
 */
async function revokeKey({ query }: Database, reference: KeyReference, now: number) {
  const isKey = "id" in reference ? eq(keys.id, reference.id) : eq(keys.hash, reference.hash);
  await query((drizzle) =>
    drizzle
      .update(keys)
      .set({ revokedAt: now })
      .where(and(isKey, isNull(keys.revokedAt))),
  );
  const [key] = await query((drizzle) =>
    drizzle
      .select({ id: keys.id, account: accounts.name, hash: keys.hash, revokedAt: keys.revokedAt })
      .from(keys)
      .innerJoin(accounts, eq(accounts.id, keys.account))
      .where(isKey),
  );
  if (key === undefined) {
    const name = "id" in reference ? ` ${reference.id}` : " with this text";
    throw createUnknownKeyError(name);
  }
  return { ...key, revokedAt: key.revokedAt ?? now };
}

/**
 * Creates a key with the account, label, scopes and end of another one, which expires at
 * `expiresAt`, or at its end if that is earlier.
 *
 * @returns The id of the new key; of the old one, its account's name, its hash and its end.
 * @throws {DomainError} `Not Found`; `Conflict` for a key that is revoked, replaced or expired.
 */
async function rotateKey(
  database: Database,
  id: number,
  { hash, beginsWith }: StoredSecret,
  expiresAt: number,
  now: number,
) {
  const { oldKey, newKey } = await writeNamed(
    database,
    {
      insertCopy: { sql: INSERT_COPY, args: [hash, beginsWith, now, id, now] },
      replaceKey: { sql: REPLACE_KEY, args: [expiresAt, expiresAt, hash, id] },
      oldKey: { sql: SELECT_KEY, args: [id] },
      newKey: { sql: "SELECT id FROM keys WHERE hash = ?", args: [hash] },
    },
    { idempotent: true },
  );
  const [[old], [created]] = [oldKey, newKey];
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
  return {
    newId: Number(created["id"]),
    account: String(old["account_name"]),
    hash: String(old["hash"]),
    expiresAt: Number(old["expires_at"]),
  };
}

function createUnknownKeyError(name: string): DomainError {
  const error = new DomainError("Not Found", `There is no key${name}`);
  return addAdvice(error, "keys list ACCOUNT shows those of an account");
}
