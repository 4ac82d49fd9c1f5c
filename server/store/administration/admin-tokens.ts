/** Stores the tokens of administrators: their hashes and first characters, never the tokens. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import type { Database } from "../database/database.ts";
import { writeNamed } from "../database/named-write.ts";
import { adminTokens } from "../tables/administration-tables.ts";

/** Valid tokens at a time: all are in memory, and a person revokes those that nobody needs. */
const ACTIVE_MAX = 100;

/** Listed tokens: all valid ones, then the newest of the revoked ones, which are never deleted. */
const LISTED_MAX = 2 * ACTIVE_MAX;

const INSERT_TOKEN = `
  INSERT INTO admin_tokens (name, hash, begins_with, created_at)
  SELECT ?, ?, ?, ?
  WHERE (SELECT count(*) FROM admin_tokens WHERE revoked_at IS NULL) < ?
  ON CONFLICT DO NOTHING`;

/** A stored token of an administrator: never the token itself. */
export type AdminTokenRecord = typeof adminTokens.$inferSelect;

export type AdminTokenStore = ReturnType<typeof createAdminTokenStore>;

/** Creates the store of tokens. Instants are milliseconds since 1970 UTC. */
export function createAdminTokenStore(database: Database) {
  const { query } = database;
  return {
    /**
     * @returns The id of the new token.
     * @throws {DomainError} `Conflict` if a valid token has this name, or if there are too many.
     */
    async create(
      { name, hash, beginsWith }: Pick<AdminTokenRecord, "name" | "hash" | "beginsWith">,
      now: number,
    ) {
      const { created, sameName } = await writeNamed(
        database,
        {
          insert: { sql: INSERT_TOKEN, args: [name, hash, beginsWith, now, ACTIVE_MAX] },
          created: { sql: "SELECT id FROM admin_tokens WHERE hash = ?", args: [hash] },
          sameName: {
            sql: "SELECT id FROM admin_tokens WHERE name = ? AND revoked_at IS NULL",
            args: [name],
          },
        },
        { idempotent: true },
      );
      const [token] = created;
      if (token !== undefined) return Number(token["id"]);
      throw new DomainError(
        "Conflict",
        sameName.length > 0
          ? `There is a token ${name} already; revoke it, or choose another name`
          : `There are ${ACTIVE_MAX} tokens already; revoke those that nobody uses`,
      );
    },

    /** All valid tokens, and the last revoked ones, 200 in all; oldest first. */
    async list() {
      const listed = await query((drizzle) =>
        drizzle
          .select()
          .from(adminTokens)
          .orderBy(sql`${adminTokens.revokedAt} IS NOT NULL`, desc(adminTokens.id))
          .limit(LISTED_MAX),
      );
      return listed.toSorted((a, b) => a.id - b.id);
    },

    revoke: revokeToken.bind(null, database),

    async recordUse(id: number, now: number) {
      await query((drizzle) =>
        drizzle.update(adminTokens).set({ lastUsedAt: now }).where(eq(adminTokens.id, id)),
      );
    },
  };
}

/**
 * Revokes the valid token with a name, or the token with an id. A revoked token keeps its first
 * `revokedAt`.
 *
 * @throws {DomainError} `Not Found`.
 */
async function revokeToken({ query }: Database, nameOrId: string | number, now: number) {
  const isNamed =
    typeof nameOrId === "number"
      ? eq(adminTokens.id, nameOrId)
      : and(eq(adminTokens.name, nameOrId), isNull(adminTokens.revokedAt));
  const [found] = await query((drizzle) => drizzle.select().from(adminTokens).where(isNamed));
  if (found === undefined) {
    throw new DomainError("Not Found", `There is no valid token ${nameOrId}`);
  }
  const { id, name } = found;
  await query((drizzle) =>
    drizzle
      .update(adminTokens)
      .set({ revokedAt: now })
      .where(and(eq(adminTokens.id, id), isNull(adminTokens.revokedAt))),
  );
  return { id, name, revokedAt: found.revokedAt ?? now };
}
