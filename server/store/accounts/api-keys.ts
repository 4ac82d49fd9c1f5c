/** Stores API keys: their hashes and first characters, never the keys themselves. */
import { and, asc, eq, isNull } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { KEY_SCOPES } from "../../ports/admission.ts";
import type { KeyStore } from "../../ports/administration.ts";
import type { Database } from "../database/database.ts";
import { accounts, keys } from "../tables/account-tables.ts";

/** Creates the store of API keys. */
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
