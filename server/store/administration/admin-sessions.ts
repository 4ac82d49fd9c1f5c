/**
 * Stores and authenticates the sessions in which administrators look at the dashboard: they read,
 * without an account and without credits.
 *
 * A session is valid for 12 hours at most, and only while the token that opened it is. A named
 * token ends its sessions when it is revoked. The hash of a session of ADMIN_TOKEN has that token
 * as its key: a process with another ADMIN_TOKEN, or none, does not find the session. So nobody can
 * check guesses of ADMIN_TOKEN, which people choose, with what the database has.
 */
import { DomainError } from "../../../core/errors.ts";
import { ADMIN_SESSION_HOURS, ADMIN_SESSIONS_MAX } from "../../../core/limits.ts";
import { HOUR_MS } from "../../../core/time.ts";
import { generateSecret, hashSecret } from "../../secrets.ts";
import { writeNamed, type Database } from "../database/database.ts";

/** Unlike `cm_` of API keys and `cma_` of tokens. */
const PREFIX = "cms_";

export const SESSION_MS = ADMIN_SESSION_HOURS * HOUR_MS;

/** Another process may have ended a session: that takes effect within this time. */
const CACHE_TTL_MS = 500;

const DELETE_EXPIRED = "DELETE FROM admin_sessions WHERE expires_at <= ?";

const INSERT_SESSION = `
  INSERT INTO admin_sessions (hash, begins_with, actor, token, created_at, expires_at)
  SELECT ?, ?, ?, ?, ?, ?
  WHERE (SELECT count(*) FROM admin_sessions) < ?
  ON CONFLICT DO NOTHING`;

const SELECT_VALID = `
  SELECT json_group_array(
    json_object('hash', hash, 'beginsWith', begins_with, 'actor', actor, 'expiresAt', expires_at)
  )
  FROM admin_sessions
  WHERE expires_at > ?
    AND (token IS NULL OR token IN (SELECT id FROM admin_tokens WHERE revoked_at IS NULL))`;

/** Who opens a session: the name of a token, and its id, which ADMIN_TOKEN does not have. */
interface Opener {
  readonly actor: string;
  readonly token: number | null;
}

export interface AdminSession {
  /** Identifies the session. */
  readonly hash: string;
  readonly beginsWith: string;
  readonly actor: string;
  readonly expiresAt: number;
}

type SessionsByHash = ReadonlyMap<string, AdminSession>;

/** An HMAC-SHA256 in hex. No text has it as its plain SHA-256. */
const hashWithKey = (text: string, key: string): string =>
  new Bun.CryptoHasher("sha256", key).update(text).digest("hex");

export type AdminSessionStore = ReturnType<typeof createAdminSessionStore>;

/** @param adminToken The value of ADMIN_TOKEN. */
export function createAdminSessionStore(
  database: Database,
  adminToken: string | undefined,
  now: () => number,
) {
  let cached: { readonly startedAt: number; readonly sessions: SessionsByHash } | undefined;
  let nextRead: Promise<SessionsByHash> | undefined;

  /** Only a process with the same ADMIN_TOKEN computes the second hash of a session of it. */
  const listHashes = (session: string): string[] => [
    hashSecret(session),
    ...(adminToken === undefined ? [] : [hashWithKey(session, adminToken)]),
  ];

  function findIn(sessions: SessionsByHash, hashes: readonly string[]): AdminSession | undefined {
    const session = hashes.map((hash) => sessions.get(hash)).find((found) => found !== undefined);
    return session !== undefined && now() < session.expiresAt ? session : undefined;
  }

  async function readAll(): Promise<SessionsByHash> {
    // Requests of one turn of the event loop share a read, so wrong sessions cost little.
    await new Promise((resolve) => void setImmediate(resolve));
    nextRead = undefined;
    const startedAt = now();
    const rows = (await database.queryJson<AdminSession[]>(SELECT_VALID, [startedAt])) ?? [];
    const sessions = new Map(rows.map((row) => [row.hash, row]));
    cached = { startedAt, sessions };
    return sessions;
  }

  return {
    /** Whether a text may be a session, and no API key. */
    isCandidate: (text: string): boolean => text.startsWith(PREFIX),

    /** The session with this text; `undefined` for one that is unknown, ended or expired. */
    async authenticate(text: string): Promise<AdminSession | undefined> {
      const hashes = listHashes(text);
      const ageMs = cached === undefined ? Infinity : now() - cached.startedAt;
      // An age below 0 is not fresh: the clock was set back.
      const isFresh = ageMs >= 0 && ageMs < CACHE_TTL_MS;
      const known = isFresh && cached !== undefined ? findIn(cached.sessions, hashes) : undefined;
      // Another process may have opened it since.
      return known ?? findIn(await (nextRead ??= readAll()), hashes);
    },

    /** Opens a session. Its text is known only here. */
    async open({ actor, token }: Opener) {
      const { secret: session, beginsWith } = generateSecret(PREFIX);
      const hash = listHashes(session).at(token === null ? -1 : 0) ?? "";
      const createdAt = now();
      const expiresAt = createdAt + SESSION_MS;
      const args = [hash, beginsWith, actor, token, createdAt, expiresAt, ADMIN_SESSIONS_MAX];
      const { opened } = await writeNamed(
        database,
        {
          deleteExpired: { sql: DELETE_EXPIRED, args: [createdAt] },
          insert: { sql: INSERT_SESSION, args },
          opened: { sql: "SELECT hash FROM admin_sessions WHERE hash = ?", args: [hash] },
        },
        { idempotent: true },
      );
      if (opened.length > 0) return { session, beginsWith, expiresAt };
      throw new DomainError(
        "Conflict",
        `There are ${ADMIN_SESSIONS_MAX} sessions already; end yours with DELETE /admin/sessions`,
      );
    },

    /** Ends a session; one that has ended stays so. */
    async end({ hash }: Pick<AdminSession, "hash">): Promise<void> {
      const sql = "DELETE FROM admin_sessions WHERE hash = ?";
      await database.write([{ sql, args: [hash] }], { idempotent: true });
      cached = undefined;
    },

    /** Ends all sessions that a token opened. @returns How many there were. */
    async endAll({ token }: Pick<Opener, "token">): Promise<number> {
      const sql = "DELETE FROM admin_sessions WHERE token IS ? AND expires_at > ?";
      const [deleted] = await database.write([{ sql, args: [token, now()] }]);
      cached = undefined;
      return deleted?.rowsAffected ?? 0;
    },
  };
}
