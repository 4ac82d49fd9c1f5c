/** Limits how long a request waits for the ledger. */
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";

/** The error of a request that waited too long. */
export function createDeadlineError(): DomainError {
  return new DomainError("Service Unavailable", "The database does not answer right now");
}

/** Rejects when the work takes too long. The work itself is not cancelled. */
export function withDeadline<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  // Creating an error takes longer than all else here, so only a deadline that passes creates one.
  const fallback = () => {
    throw createDeadlineError();
  };
  return pTimeout<Result, never>(work, { milliseconds: timeoutMs, fallback });
}
