/** Checks whether a libSQL server syncs its commits to the disk, by a setting of the server. */
import { DomainError } from "../../../../core/errors.ts";
import type { Row } from "@libsql/client";
import type { Statement } from "../database.ts";
import { NotSentError } from "../errors.ts";

/** Reads the setting of a connection: the one that the server had when the connection was opened. */
export const READ_DURABILITY: Statement = { sql: "PRAGMA synchronous", args: [] };

/** `FULL` in SQLite, `durability_mode: strong` in the server. */
const SYNCED_MIN = 2;

const NOT_SYNCED =
  "The libSQL server does not sync commits to its disk, so a power cut loses charges; set the " +
  "durability_mode of its namespace to strong with its admin API, as server/README.md shows, or " +
  "accept the loss with DURABILITY=process";

function isSynced([row]: readonly Row[]): boolean {
  return Number(row?.[0]) >= SYNCED_MIN;
}

/** @throws {DomainError} `Conflict` if commits are not synced. */
export function assertSynced(rows: readonly Row[]): void {
  if (!isSynced(rows)) throw new DomainError("Conflict", NOT_SYNCED);
}

/**
 * The same for a connection that is about to write: a server can lose the setting when it starts
 * again.
 *
 * @throws {NotSentError} `Service Unavailable` if commits are not synced.
 */
export function assertStillSynced(rows: readonly Row[]): void {
  if (!isSynced(rows)) throw new NotSentError(new DomainError("Service Unavailable", NOT_SYNCED));
}
