/** How long the ledger may take before who waits for it is told that it does not answer. */
import pTimeout from "p-timeout";
import { DomainError } from "../../core/errors.ts";

/** The error of what takes longer than a client may wait. */
export function createDeadlineError(): DomainError {
  return new DomainError("Service Unavailable", "The database does not answer right now");
}

/** Waits for what the ledger does; it goes on where this is too late. */
export function withDeadline<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  return pTimeout(work, { milliseconds: timeoutMs, message: createDeadlineError() });
}
