/** Stores API keys: their hashes and first characters, never the keys themselves. */
import { and, asc, eq, isNull } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { KEY_SCOPES } from "../../ports/admission.ts";
import type {
  KeyReference,
  KeyStore,
  ReplacedKey,
  RevokedKey,
  StoredSecret,
} from "../../ports/administration.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { accounts, keys } from "../tables/account-tables.ts";

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

/** Creates the store of API keys. */
export function createKeyStore(database: Database): KeyStore {
  const { query } = database;
  return {
    async create(key, now) {
      const [created] = await query((drizzle) =>
        drizzle
          .insert(keys)
          .values({ ...key, scopes: [...(key.scopes ?? KEY_SCOPES)], createdAt: now })
          .returning({ id: keys.id }),
      );
      if (created === undefined) throw new Error("The key was not stored");
      return created.id;
    },

    async findByHash(hash) {
      const [key] = await query((drizzle) =>
        drizzle
          .select({
            id: keys.id,
            account: keys.account,
            scopes: keys.scopes,
            expiresAt: keys.expiresAt,
          })
          .from(keys)
          .where(and(eq(keys.hash, hash), isNull(keys.revokedAt))),
      );
      return key;
    },

    list: (account) =>
      query((drizzle) =>
        drizzle
          .select({
            id: keys.id,
            beginsWith: keys.beginsWith,
            label: keys.label,
            scopes: keys.scopes,
            expiresAt: keys.expiresAt,
            createdAt: keys.createdAt,
            revokedAt: keys.revokedAt,
            replacedBy: keys.replacedBy,
          })
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.account))
          .where(eq(accounts.name, account))
          .orderBy(asc(keys.id)),
      ),

    revoke: (...request) => revokeKey(database, ...request),

    rotate: (...request) => rotateKey(database, ...request),
  };
}

async function revokeKey(
  { query }: Database,
  reference: KeyReference,
  now: number,
): Promise<RevokedKey> {
  const isKey = "id" in reference ? eq(keys.id, reference.id) : eq(keys.hash, reference.hash);
  await query((drizzle) =>
    drizzle
      .update(keys)
      .set({ revokedAt: now })
      .where(and(isKey, isNull(keys.revokedAt))),
  );
  const [key] = await query((drizzle) =>
    drizzle
      .select({
        id: keys.id,
        account: accounts.name,
        hash: keys.hash,
        revokedAt: keys.revokedAt,
      })
      .from(keys)
      .innerJoin(accounts, eq(accounts.id, keys.account))
      .where(isKey),
  );
  if (key === undefined) {
    const name = "id" in reference ? ` ${reference.id}` : " with this text";
    throw new DomainError("Not Found", `There is no key${name}`);
  }
  return { ...key, revokedAt: key.revokedAt ?? now };
}

async function rotateKey(
  database: Database,
  id: number,
  { hash, beginsWith }: StoredSecret,
  expiresAt: number,
  now: number,
): Promise<ReplacedKey> {
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
  if (old === undefined) throw new DomainError("Not Found", `There is no key ${id}`);
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
