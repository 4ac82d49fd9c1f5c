/** Stores the tokens of administrators: their hashes and first characters, never the tokens. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { DomainError } from "../../../core/errors.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import { generateSecret, hashSecret } from "../../secrets.ts";
import { writeNamed, type Database } from "../database/database.ts";
import { adminTokens } from "../tables/administration-tables.ts";

/** Every token begins with this prefix; no name does. */
const PREFIX = "cma_";

/** The most valid tokens at a time: all are in memory, and people revoke unneeded ones. */
const ACTIVE_MAX = 100;

/** Listed tokens: all valid ones, then the newest of the revoked ones, which are never deleted. */
const LISTED_MAX = 2 * ACTIVE_MAX;

/** Another process may have revoked a token: a revocation takes effect within this time. */
const CACHE_TTL_MS = 500;

/** The time of the last use is written this often at most, because each write takes a sync. */
const USE_INTERVAL_MS = MINUTE_MS;

const INSERT_TOKEN = `
  INSERT INTO admin_tokens (name, hash, begins_with, created_at)
  SELECT ?, ?, ?, ?
  WHERE (SELECT count(*) FROM admin_tokens WHERE revoked_at IS NULL) < ?
  ON CONFLICT DO NOTHING`;

export type AdminTokenStore = ReturnType<typeof createAdminTokenStore>;

export function createAdminTokenStore(database: Database, now: () => number) {
  const { query } = database;
  let cached: { readonly startedAt: number; readonly tokens: ReturnType<typeof list> } | undefined;
  const lastUses = new Map<number, number>();

  /** All valid tokens, and the last revoked ones, 200 in all; oldest first. */
  async function list() {
    const listed = await query((drizzle) =>
      drizzle
        .select()
        .from(adminTokens)
        .orderBy(sql`${adminTokens.revokedAt} IS NOT NULL`, desc(adminTokens.id))
        .limit(LISTED_MAX),
    );
    return listed.toSorted((a, b) => a.id - b.id);
  }

  return {
    /** Whether a text may be a token: only then it is worth a lookup. */
    isCandidate: (text: string): boolean => text.startsWith(PREFIX),

    list,

    /** Like `list()`, but a revocation by another process can show half a second late. */
    listCached() {
      const ageMs = cached === undefined ? Infinity : now() - cached.startedAt;
      // An age below 0 is not fresh: the clock was set back.
      if (cached !== undefined && ageMs >= 0 && ageMs < CACHE_TTL_MS) return cached.tokens;
      const loading = { startedAt: now(), tokens: list() };
      cached = loading;
      loading.tokens.catch(() => {
        if (cached === loading) cached = undefined;
      });
      return loading.tokens;
    },

    /** Records that a token was used now. It never fails. */
    async recordUse(id: number): Promise<void> {
      const at = now();
      const lastUse = lastUses.get(id);
      if (lastUse !== undefined && Math.abs(at - lastUse) < USE_INTERVAL_MS) return;
      lastUses.set(id, at);
      const update = query((drizzle) =>
        drizzle.update(adminTokens).set({ lastUsedAt: at }).where(eq(adminTokens.id, id)),
      );
      // If the database does not answer, the request itself fails and says why.
      await update.catch(() => lastUses.delete(id));
    },

    async create(name: string) {
      const created = await createToken(database, name, now());
      cached = undefined;
      return created;
    },

    async revoke(nameIdOrToken: string | number) {
      const revoked = await revokeToken(database, nameIdOrToken, now());
      cached = undefined;
      return revoked;
    },
  };
}

/** Creates a token. Its text is known only here. */
async function createToken(database: Database, name: string, now: number) {
  const { secret: token, hash, beginsWith } = generateSecret(PREFIX);
  const {
    created: [created],
    sameName,
  } = await writeNamed(
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
  if (created !== undefined) return { id: Number(created["id"]), token };
  throw new DomainError(
    "Conflict",
    sameName.length > 0
      ? `There is a token ${name} already; revoke it, or choose another name`
      : `There are ${ACTIVE_MAX} tokens already; revoke those that nobody uses`,
  );
}

function isToken(nameIdOrToken: string | number) {
  if (typeof nameIdOrToken === "number") return eq(adminTokens.id, nameIdOrToken);
  const isNamed = nameIdOrToken.startsWith(PREFIX)
    ? eq(adminTokens.hash, hashSecret(nameIdOrToken))
    : eq(adminTokens.name, nameIdOrToken);
  return and(isNamed, isNull(adminTokens.revokedAt));
}

/** Revokes a token; a revoked one keeps its first `revokedAt`. */
async function revokeToken({ query }: Database, nameIdOrToken: string | number, now: number) {
  const { id, name, revokedAt } = adminTokens;
  const [revoked] = await query((drizzle) =>
    drizzle
      .update(adminTokens)
      .set({ revokedAt: sql`ifnull(${revokedAt}, ${now})` })
      .where(isToken(nameIdOrToken))
      .returning({ id, name, revokedAt: sql<number>`${revokedAt}` }),
  );
  if (revoked !== undefined) return revoked;
  const text = String(nameIdOrToken);
  const shown = text.startsWith(PREFIX) ? `${text.slice(0, 10)}…` : text;
  throw new DomainError("Not Found", `There is no valid token ${shown}`);
}
