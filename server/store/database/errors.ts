/** Which errors of a database are transient, and which certainly left nothing behind. */
import { DomainError } from "../../../core/errors.ts";
import { isOutOfDescriptors, readSystemErrorCode } from "../../system-errors.ts";

/** A call that was not sent to a server, so nothing of it was done. */
export class NotSentError extends DomainError {
  /** @param cause Why it was not sent. */
  constructor(cause: DomainError) {
    super(cause.code, cause.message, { cause });
  }
}

/** The error of a call that a server does not answer in time. */
export function createUnansweredError(): DomainError {
  return new DomainError("Service Unavailable", "The database does not answer right now");
}

/** Runs a call. A transient error is thrown as `Service Unavailable`. */
export async function mapTransientErrors<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toUnavailableError(error) ?? error;
  }
}

const TRANSIENT_CODES = new RegExp(
  "^(?:SQLITE_(?:BUSY|LOCKED|FULL|READONLY|CANTOPEN)|" +
    "HRANA_(?:WEBSOCKET|CLOSED|PROTO)_ERROR|ZlibError)",
);

/** HTTP statuses come from proxies in front of a server; a JSON error is a truncated response. */
const TRANSIENT_MESSAGES = new RegExp(
  "Unable to open connection to local database|ConnectionRefused|ECONNREFUSED|ECONNRESET|" +
    "Unable to connect|socket connection was closed|" +
    "ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|" +
    "HTTP status (?:429|502|503|504)|JSON Parse error",
);

/**
 * The `Service Unavailable` error for a transient one: a lock that another process holds, a server
 * that is away, a full disk, a file that is read-only or was moved, no free file descriptors.
 *
 * @returns `undefined` for any other error.
 */
export function toUnavailableError(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = readSystemErrorCode(error);
  const isTransient =
    isOutOfDescriptors(error) ||
    TRANSIENT_CODES.test(code) ||
    TRANSIENT_MESSAGES.test(`${error.message} ${code}`);
  if (!isTransient) return undefined;
  const message = "The database is not available right now";
  return new DomainError("Service Unavailable", message, { cause: error });
}

/**
 * Whether a transaction on a file failed without leaving anything behind. After an error of the
 * disk itself, or one that is not SQLite's, that is not known.
 */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^SQLITE_(?!IOERR)/.test(readSystemErrorCode(error)) || isRolledBack(error.cause);
}
