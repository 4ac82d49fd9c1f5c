/** Turns transient errors of a database into `Service Unavailable`, and marks unsent calls. */
import { ClientError, ResponseError } from "@libsql/hrana-client";
import { DomainError } from "../../../core/errors.ts";
import { isOutOfDescriptors, readSystemErrorCode } from "../../system-errors.ts";

/** A call was not sent to a server, so nothing of it was done. */
export class NotSentError extends DomainError {
  constructor(cause: DomainError) {
    super(cause.code, cause.message, { cause });
  }
}

/** The error for callers of several attempts, if an attempt before this one may have been sent. */
export const toUncertainError = (error: unknown): unknown =>
  error instanceof NotSentError
    ? new DomainError(error.code, error.message, { cause: error.cause })
    : error;

export const createUnansweredError = () =>
  new DomainError("Service Unavailable", "The database does not answer right now");

export async function mapTransientErrors<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toUnavailableError(error) ?? error;
  }
}

const TRANSIENT_CODES =
  /^(?:SQLITE_(?:BUSY|LOCKED|FULL|READONLY|CANTOPEN)|TRANSACTION_(?:BUSY|TIMEOUT)|ZlibError)/;

/** The file driver's message, without a code, if it cannot open a file. */
const CANNOT_OPEN_MESSAGE = "Unable to open connection to local database";

/**
 * Creates the `Service Unavailable` error for a transient error: a lock that another process holds,
 * a server that is away, a full disk, a file that is read-only or was moved, no free file
 * descriptors. `undefined` for any other error.
 */
export function toUnavailableError(error: unknown): DomainError | undefined {
  if (!(error instanceof Error)) return undefined;
  const isBrokenConnection = error instanceof ClientError && !(error instanceof ResponseError);
  const isTransient =
    isBrokenConnection ||
    isOutOfDescriptors(error) ||
    TRANSIENT_CODES.test(readSystemErrorCode(error)) ||
    error.message.includes(CANNOT_OPEN_MESSAGE);
  return isTransient ? createUnavailableError(error) : undefined;
}

export const createUnavailableError = (cause: unknown) =>
  new DomainError("Service Unavailable", "The database is not available right now", { cause });
