/**
 * Errors: those that functions throw, the names of all, and the HTTP status of each.
 *
 * @module @creator-metrics/core/errors
 */
export { ERROR_STATUSES } from "../error-statuses.ts";
export type { ErrorCode, ErrorNameByStatus, HttpErrorCode } from "../error-statuses.ts";
export type { ServiceErrorName } from "../error-statuses.ts";
export { createChannelNotFoundError, createInvalidRequestError } from "../errors.ts";
export { createShortNotFoundError, createTweetNotFoundError } from "../errors.ts";
export { createUserNotFoundError, DomainError, quoteValue } from "../errors.ts";
