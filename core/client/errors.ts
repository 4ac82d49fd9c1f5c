/** The error classes of the client, and the parser of error responses. */
import { ERROR_STATUSES, isErrorCode, VIDEO_ERROR_SENTENCES, type ErrorCode } from "../errors.ts";
import type { HeadersLike } from "./runtime.ts";

/** The name of an error of the service, or the status of a response that names none. */
export type MetricsErrorCode = ErrorCode | `Status ${number}`;

/** The details of an error response beside its name and message. */
export type MetricsErrorDetails = Pick<MetricsError, "status" | "requestId"> & {
  readonly [Name in "cost" | "creditsRemaining" | "retryAfterMs" | "headers" | "idempotencyKey"]?:
    | MetricsError[Name]
    | undefined;
};

/**
 * An error response of the service, or of a proxy before it.
 *
 * @example
 * new MetricsError("Not Found", "Nothing", { status: 404, requestId: null }).code; // "Not Found"
 */
export class MetricsError extends Error {
  /** The name of the class. */
  override readonly name = "MetricsError";
  /** The name of the error: `error.code === "Insufficient Credits"`. */
  readonly code: MetricsErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** The id of the request in the log of the service, to give to its operator. */
  readonly requestId: string | null;
  /** Credits that the response cost, as a 404 does; `null` if the response does not say. */
  readonly cost: number | null;
  /** The balance after the request; `null` if the response does not say. */
  readonly creditsRemaining: number | null;
  /** How many milliseconds the service asks to wait, as after 429; `null` if it does not ask. */
  readonly retryAfterMs: number | null;
  /** All headers of the response: `error.headers.get("RateLimit")`. */
  readonly headers: HeadersLike;
  /** The idempotency key of the read. A repeat with this key is not charged a second time. */
  readonly idempotencyKey: string | undefined;

  /** Creates the error of a response. */
  constructor(code: MetricsErrorCode, message: string, details: MetricsErrorDetails) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.cost = details.cost ?? null;
    this.creditsRemaining = details.creditsRemaining ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.headers = details.headers ?? { get: () => null };
    this.idempotencyKey = details.idempotencyKey;
  }
}

/**
 * A request that got no response of the service.
 *
 * @example
 * new AbortError("Aborted") instanceof RequestError; // true
 */
export class RequestError extends Error {
  /** The idempotency key of the read. A repeat with this key is not charged a second time. */
  readonly idempotencyKey: string | undefined;

  /**
   * Creates the error of a request.
   *
   * @param details The `cause` is the error of the runtime, or the reason of the abort.
   */
  constructor(
    message: string,
    details: { readonly cause?: unknown; readonly idempotencyKey?: string | undefined } = {},
  ) {
    super(message, details);
    this.idempotencyKey = details.idempotencyKey;
  }
}

/**
 * The last attempt gave no response of the service: the connection failed, the time was over, or
 * something else responded, with a redirect or a page. The service may have charged the read.
 *
 * @example
 * new ConnectionError("No response").name; // "ConnectionError"
 */
export class ConnectionError extends RequestError {
  /** The name of the class. */
  override readonly name: "ConnectionError" | "TimeoutError" = "ConnectionError";
}

/**
 * The time of an attempt or of all attempts was over. The service may have charged the read.
 *
 * @example
 * new TimeoutError("No response") instanceof ConnectionError; // true
 */
export class TimeoutError extends ConnectionError {
  /** The name of the class. */
  override readonly name = "TimeoutError";
}

/**
 * The caller's signal ended the request; `cause` is its reason. The read may have been charged.
 *
 * @example
 * new AbortError("Aborted", { cause: "closed" }).cause; // "closed"
 */
export class AbortError extends RequestError {
  /** The name of the class. */
  override readonly name = "AbortError";
}

/** Reads `{ error, message }`; from `/api/video`, `{ error }` alone: a name or a sentence. */
export function createMetricsError(text: string, details: MetricsErrorDetails): MetricsError {
  const { status } = details;
  const { error = `Status ${status}`, message } = parseBody(text);
  const code = findName(error) ?? findNameOfStatus(status);
  return new MetricsError(code, message ?? error, details);
}

/** Finds the name of `Not Found`, `Invalid Request: limit must be 1` or `Channel x not found`. */
function findName(error: string): ErrorCode | undefined {
  const sentences = Object.entries(VIDEO_ERROR_SENTENCES);
  const [sentence = ""] = sentences.find(([, pattern]) => pattern.test(error)) ?? [];
  return [error.replace(/: .*/s, ""), sentence].find(isErrorCode);
}

/** The most general name of a status, for a body that a proxy wrote. */
function findNameOfStatus(status: number): MetricsErrorCode {
  const names = Object.keys(ERROR_STATUSES).filter(isErrorCode);
  const name = names.findLast((known) => ERROR_STATUSES[known] === status);
  return name ?? (status < 500 ? `Status ${status}` : "Service Unavailable");
}

function parseBody(text: string): { error?: string; message?: string } {
  try {
    // `Object()` makes an object without fields of a number or null.
    const { error, message } = Object(JSON.parse(text)) as { error?: unknown; message?: unknown };
    return {
      ...(typeof error === "string" ? { error } : {}),
      ...(typeof message === "string" ? { message } : {}),
    };
  } catch {
    return {};
  }
}
