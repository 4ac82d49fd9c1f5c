/** API keys in the database: their hashes and how they begin. */
import { and, asc, eq, isNull } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import type { Database } from "../database/database.ts";
import { accounts, keys } from "../tables/account-tables.ts";

/** What is stored of a new key. */
export interface NewKey {
  readonly account: number;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly beginsWith: string;
  readonly label: string | null;
}

/** The keys. */
export type KeyStore = ReturnType<typeof createKeyStore>;

/** The keys of a database; `now` is in milliseconds since 1970 UTC. */
export function createKeyStore({ query }: Database) {
  return {
    async create(key: NewKey, now: number) {
      const [created] = await query((drizzle) =>
        drizzle
          .insert(keys)
          .values({ ...key, createdAt: now })
          .returning({ id: keys.id }),
      );
      if (created === undefined) throw new Error("The key was not stored");
      return created.id;
    },

    /** The key of a hash, unless it was revoked. */
    async findByHash(hash: string) {
      const [key] = await query((drizzle) =>
        drizzle
          .select({ id: keys.id, account: keys.account })
          .from(keys)
          .where(and(eq(keys.hash, hash), isNull(keys.revokedAt))),
      );
      return key;
    },

    /** All keys of an account, oldest first. */
    list: (account: string) =>
      query((drizzle) =>
        drizzle
          .select({
            id: keys.id,
            beginsWith: keys.beginsWith,
            label: keys.label,
            createdAt: keys.createdAt,
            revokedAt: keys.revokedAt,
          })
          .from(keys)
          .innerJoin(accounts, eq(accounts.id, keys.account))
          .where(eq(accounts.name, account))
          .orderBy(asc(keys.id)),
      ),

    /**
     * Revokes a key; one that is revoked already stays so.
     *
     * @throws {DomainError} `Not Found`.
     */
    async revoke(id: number, now: number) {
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
