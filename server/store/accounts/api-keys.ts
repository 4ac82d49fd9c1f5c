/** Stores API keys: their hashes and first characters, never the keys themselves. */
import { and, asc, eq, isNull } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { KEY_SCOPES, type ApiKeyLookup, type KeyScope } from "../../ports/admission.ts";
import type { ApiKeyRecord } from "../../ports/ledger.ts";
import type { Database } from "../database/database.ts";
import { accounts, keys } from "../tables/account-tables.ts";

/** A key to store. */
export interface NewKey {
  readonly account: number;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly beginsWith: string;
  readonly label: string | null;
  /** By default all. */
  readonly scopes?: readonly KeyScope[];
  /** By default the key does not expire. */
  readonly expiresAt?: number | null;
}

/** The stored API keys; `now` is in milliseconds since 1970 UTC. */
export interface KeyStore extends ApiKeyLookup {
  /** @returns The id of the new key. */
  create(key: NewKey, now: number): Promise<number>;
  /** All keys of an account, by its name; oldest first. */
  list(account: string): Promise<ApiKeyRecord[]>;
  /**
   * Revokes a key; a revoked key keeps its first `revokedAt`.
   *
   * @throws {DomainError} `Not Found`.
   */
  revoke(id: number, now: number): Promise<RevokedKey>;
}

export interface RevokedKey {
  readonly id: number;
  readonly hash: string;
  readonly revokedAt: number;
}

export function createKeyStore({ query }: Database): KeyStore {
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
          })
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.account))
          .where(eq(accounts.name, account))
          .orderBy(asc(keys.id)),
      ),

    async revoke(id, now) {
      await query((drizzle) =>
        drizzle
          .update(keys)
          .set({ revokedAt: now })
          .where(and(eq(keys.id, id), isNull(keys.revokedAt))),
      );
      const [key] = await query((drizzle) => drizzle.select().from(keys).where(eq(keys.id, id)));
      if (key === undefined) throw new DomainError("Not Found", `There is no key ${id}`);
      return { id, hash: key.hash, revokedAt: key.revokedAt ?? now };
    },
  };
}
