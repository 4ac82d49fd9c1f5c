/**
 * Leases of roles: of the processes that share a database server, one at a time holds a role, until
 * it releases the role or does not renew its lease. Only the clock of the database counts.
 *
 * A process that was suspended does not know that its lease has expired until it looks. So what
 * must not happen twice is written with {@link fenceWrites}, which checks the holder in the
 * transaction of the write.
 */
import { hostname } from "node:os";
import { DomainError } from "../../../core/errors.ts";
import type { Role } from "../../stored-names.ts";
import type { Database, Statement } from "./database.ts";

/**
 * With the interval of renewals, the time until another process goes on after the holder is gone:
 * 8 seconds. A shorter lease would expire while the server is slow.
 */
const LEASE_MS = 6000;

/** How often a lease is renewed, and how often other processes look whether it has expired. */
export const LEASE_RENEWAL_MS = 2000;

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Also if it ends later than a new lease would: then the clock of the database was set back. */
const IS_EXPIRED = `expires_at NOT BETWEEN ${NOW} AND ${NOW} + ${LEASE_MS}`;

const SELECT_OTHER_HOLDER = `
  SELECT json_object('process', process, 'address', address)
  FROM roles
  WHERE name = ? AND holder <> ? AND NOT (${IS_EXPIRED})`;

const ACQUIRE = `
  INSERT INTO roles (name, holder, process, address, expires_at)
  VALUES (?, ?, ?, ?, ${NOW} + ${LEASE_MS})
  ON CONFLICT DO UPDATE SET
    holder = excluded.holder,
    process = excluded.process,
    address = excluded.address,
    expires_at = excluded.expires_at,
    term = term + (holder <> excluded.holder)
  WHERE holder = excluded.holder OR ${IS_EXPIRED}
  RETURNING term`;

const RELEASE = "UPDATE roles SET holder = '', expires_at = 0 WHERE name = ? AND holder = ?";

/** Names the holder where it has no lease, unless a later one is named. */
const CLAIM = `
  INSERT INTO roles (name, holder, process, expires_at, term)
  VALUES (?1, ?2, ?3, 0, ?4)
  ON CONFLICT DO UPDATE SET
    holder = excluded.holder,
    process = excluded.process,
    term = excluded.term
  WHERE excluded.term > term`;

const SELECT_CLAIM = "SELECT holder, term FROM roles WHERE name = ?1";

const RAISE_TERM = "UPDATE roles SET term = ?3 + 1 WHERE name = ?1 AND holder = ?2 AND term <= ?3";

export type RoleLease = ReturnType<typeof createRoleLease>;

/** The process that holds a role. */
export interface RoleHolder {
  /** Its description for people. */
  readonly process: string;
  /** Where other processes reach it; `null` if its role does not need that. */
  readonly address: string | null;
}

interface RoleLeaseOptions {
  /** Where other processes reach this one, if the role needs that. */
  readonly address?: string | null;
  /** Another database in which writes need the role, too. */
  readonly entities?: Database | undefined;
}

/** Creates the lease of a role for this process, which does not hold the role yet. */
export function createRoleLease(
  database: Database,
  role: Role,
  { address = null, entities }: RoleLeaseOptions = {},
) {
  const holder = Bun.randomUUIDv7();
  const description = `process ${process.pid} on ${hostname()}`;
  let expiresAt = Number.NEGATIVE_INFINITY;
  let claimedTerm = entities === undefined ? Number.POSITIVE_INFINITY : 0;
  const getRemainingMs = () => Math.max(0, expiresAt - performance.now());

  const findOtherHolder = () => database.queryJson<RoleHolder>(SELECT_OTHER_HOLDER, [role, holder]);

  /** Names this process in the other database, so that writes of former holders fail there. */
  async function claim(term: number): Promise<boolean> {
    if (entities === undefined || term <= claimedTerm) return true;
    const statements = [
      { sql: CLAIM, args: [role, holder, description, term] },
      { sql: SELECT_CLAIM, args: [role] },
    ];
    const [, selected] = await entities.write(statements, { idempotent: true });
    const [named] = selected?.rows ?? [];
    if (named?.["holder"] === holder) {
      claimedTerm = term;
      return true;
    }
    // This database was restored from a backup: the next renewal has a later term.
    await database.write([{ sql: RAISE_TERM, args: [role, holder, Number(named?.["term"])] }]);
    return false;
  }

  async function release(): Promise<void> {
    expiresAt = Number.NEGATIVE_INFINITY;
    await database.write([{ sql: RELEASE, args: [role, holder] }], { idempotent: true });
  }

  /** Leaves the role to another process if this one does not reach the other database. */
  async function claimOrRelease(term: number): Promise<boolean> {
    try {
      return await claim(term);
    } catch (error) {
      await release();
      throw error;
    }
  }

  return {
    role,
    holder,
    /** How long this process holds the role at least. */
    getRemainingMs,
    isHeld: (): boolean => getRemainingMs() > 0,
    /** Finds the process that holds the role, unless it is this one. */
    findOtherHolder,

    /** Acquires the role, or renews the lease. @returns Whether this process holds the role now. */
    async acquire(): Promise<boolean> {
      // Most of the time another process holds it: then it is not worth a write.
      if (getRemainingMs() === 0 && (await findOtherHolder()) !== undefined) return false;
      // The lease begins later, when the statement runs.
      const startedAt = performance.now();
      const statement = { sql: ACQUIRE, args: [role, holder, description, address] };
      const [acquired] = await database.write([statement], { inline: true });
      const [lease] = acquired?.rows ?? [];
      const isAcquired = lease !== undefined && (await claimOrRelease(Number(lease["term"])));
      expiresAt = isAcquired ? startedAt + LEASE_MS : Number.NEGATIVE_INFINITY;
      return isAcquired;
    },

    /** Lets another process acquire the role at once. */
    release,
  };
}

/** Fails if the process does not hold the role: a holder of NULL breaks a constraint. */
const CHECK_HOLDER = `
  INSERT INTO roles (name, holder, process, expires_at)
  SELECT ?1, NULL, '', 0
  WHERE NOT EXISTS (SELECT 1 FROM roles WHERE name = ?1 AND holder = ?2)`;

const HOLDER_CONFLICT = "NOT NULL constraint failed: roles.holder";

/**
 * Returns the database for the work of a role: a write is stored only while this process holds the
 * role. If the lease has expired and no other process took the role, this process still holds it.
 */
export function fenceWrites(
  database: Database,
  { role, holder }: Pick<RoleLease, "role" | "holder">,
): Database {
  const check: Statement = { sql: CHECK_HOLDER, args: [role, holder] };
  return {
    ...database,
    async write(statements, options) {
      try {
        return (await database.write([check, ...statements], options)).slice(1);
      } catch (error) {
        if (!String(error).includes(HOLDER_CONFLICT)) throw error;
        const message = `This process does not hold the role ${role} any more`;
        throw new DomainError("Conflict", message, { cause: error });
      }
    },
  };
}
