/** Errors as clients get them: the one table of statuses, and the one place that writes them. */
import { Elysia, ParseError, ValidationError } from "elysia";
import { InsufficientCreditsError } from "../../core/ledger.ts";
import { DomainError, quote, type ErrorCode } from "../../core/errors.ts";
import type { OnFailure } from "../ports/process.ts";
import { describeError, isOutOfDescriptors } from "../system-errors.ts";
import type { ResponseHeaders } from "./cache-headers.ts";
import { getPath } from "./request-url.ts";

/** The status of every error. */
export const ERROR_STATUSES: Readonly<Record<ErrorCode, number>> = {
  "Invalid Pagination Parameters": 400,
  "Invalid Request": 400,
  "Missing API Key": 401,
  "Invalid API Key": 401,
  "Insufficient Credits": 402,
  "Channel Not Found": 404,
  "Short Not Found": 404,
  "User Not Found": 404,
  "Tweet Not Found": 404,
  "Creator Not Found": 404,
  "Page Out of Range": 404,
  "Not Found": 404,
  "Method Not Allowed": 405,
  "Creator Already Exists": 409,
  "Creator List Full": 409,
  Conflict: 409,
  "Payload Too Large": 413,
  "Unsupported Media Type": 415,
  "Too Many Requests": 429,
  "Internal Error": 500,
  "Service Unavailable": 503,
};

/** Whether an error answers a charged read: what does not exist is charged, failures are not. */
export function isChargedError(error: unknown): boolean {
  return ERROR_STATUSES[toDomainError(error).code] === 404;
}

/** How long a client waits before it tries again what was unavailable. */
const RETRY_AFTER_S = 1;

/** An error as it is answered. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a thrown value is to a client: a domain error is told, anything else is an internal error
 * of which nothing leaks.
 *
 * @param isTrusted Whether its cause is told none the less.
 */
export function toDomainError(thrown: unknown, isTrusted = false): DomainError {
  if (thrown instanceof DomainError) {
    return isTrusted ? new DomainError(thrown.code, describeError(thrown)) : thrown;
  }
  if (thrown instanceof ParseError) {
    const { cause } = thrown;
    if (cause instanceof DomainError) return cause;
    return new DomainError("Invalid Request", "The body must be JSON");
  }
  if (thrown instanceof ValidationError) {
    return new DomainError("Invalid Request", describeValidationError(thrown));
  }
  if (isOutOfDescriptors(thrown)) {
    const message = "The service has too many open files and connections right now";
    return new DomainError("Service Unavailable", message, { cause: thrown });
  }
  const message = isTrusted
    ? describeError(new Error("It failed", { cause: thrown }))
    : "Something went wrong here; the request id is logged";
  return new DomainError("Internal Error", message);
}

/** What was sent, where, and what was expected there. */
function describeValidationError({ all: [first], type }: ValidationError): string {
  if (first === undefined || !("path" in first)) return `The ${type} is not as described`;
  const { path, message, value } = first;
  const where = path === "" ? `The ${type}` : path.slice(1).replaceAll("/", ".");
  return `${where}: ${message.toLowerCase()}, got ${quote(value)}`;
}

/** Writes an error: one field under the video interface, a name and a sentence elsewhere. */
export function formatErrorResponse(error: DomainError, path: string): ErrorResponse {
  const status = ERROR_STATUSES[error.code];
  const isVideo = path === "/api/video" || path.startsWith("/api/video/");
  const body = isVideo
    ? { error: formatVideoError(error) }
    : { error: error.code, message: error.message };
  return {
    status,
    body: JSON.stringify(body),
    headers: {
      "content-type": "application/json",
      ...(status === 503 ? { "retry-after": String(RETRY_AFTER_S) } : {}),
    },
  };
}

/** The two named conditions are their sentence; a 400 adds to its name what was wrong. */
function formatVideoError({ code, message }: DomainError): string {
  if (code === "Channel Not Found" || code === "Short Not Found") return message;
  return ERROR_STATUSES[code] === 400 ? `${code}: ${message}` : code;
}

/**
 * Writes every error of an app the one way.
 *
 * @param isTrusted Whether who asks runs the service, and so is told the cause of what went wrong.
 */
export function createErrorHandler(onFailure: OnFailure, isTrusted = false) {
  return new Elysia({ name: "error-answers" }).onError(
    { as: "global" },
    ({ error, request, set }) => {
      const response = createErrorResponse(error, request, set.headers, onFailure, isTrusted);
      set.status = response.status;
      return response.body;
    },
  );
}

/** What an error is answered with; the cause of a 5xx is told to who runs the service. */
export function createErrorResponse(
  error: unknown,
  request: Request,
  headers: ResponseHeaders,
  onFailure: OnFailure,
  isTrusted = false,
): ErrorResponse {
  const domainError = toDomainError(error, isTrusted);
  const response = formatErrorResponse(domainError, getPath(request));
  if (response.status >= 500) {
    const cause = domainError === error ? (domainError.cause ?? error) : error;
    onFailure(cause, String(headers["x-request-id"] ?? getPath(request)));
  }
  if (domainError instanceof InsufficientCreditsError) {
    headers["x-credits-remaining"] = String(domainError.balance);
  }
  Object.assign(headers, response.headers);
  return response;
}
