/** Turns all errors into HTTP responses, and reports the causes of a 5xx; core has the statuses. */
import { Elysia, ParseError } from "elysia";
import {
  ERROR_STATUSES,
  createInvalidRequestError,
  DomainError,
  createServiceError,
  createVideoError,
} from "../../core/errors.ts";
import type { OnFailure } from "../log.ts";
import { describeError, isOutOfDescriptors, readAdvice } from "../system-errors.ts";
import type { ResponseHeaders } from "./cache-headers.ts";
import { getPath } from "./request-url.ts";

/** The status in logs, metrics and traces of a request whose client left, as in nginx. */
export const CLIENT_CLOSED_REQUEST = 499;

interface ErrorOptions {
  readonly onFailure: OnFailure;
  /** Whether clients operate the service, so that responses include causes; by default not. */
  readonly isTrusted?: boolean;
  /** Where the operator sells credits. */
  readonly creditsUrl?: string | undefined;
}

export function toClientError(
  thrown: unknown,
  { isTrusted = false }: Pick<ErrorOptions, "isTrusted"> = {},
): DomainError {
  if (thrown instanceof DomainError) {
    return isTrusted ? new DomainError(thrown.code, describeError(thrown)) : thrown;
  }
  if (thrown instanceof ParseError) {
    const { cause } = thrown;
    if (cause instanceof DomainError) return cause;
    return createInvalidRequestError("The body must be JSON");
  }
  if (isOutOfDescriptors(thrown)) {
    const message = "The service has too many open files and connections right now";
    return new DomainError("Service Unavailable", message, { cause: thrown });
  }
  const message = isTrusted
    ? describeError(new Error("The operation failed", { cause: thrown }))
    : "Something went wrong here; the request id is logged";
  return new DomainError("Internal Error", message);
}

/** @param prefix What clients see before the path; see PUBLIC_URL. */
export const createMissingPathError = (prefix: string, path: string): DomainError =>
  new DomainError("Not Found", `There is no path ${prefix}${path}`);

export function throwTooManyRequests(
  headers: ResponseHeaders,
  retryAfterS: number,
  message: string,
): never {
  headers["retry-after"] = String(retryAfterS);
  throw new DomainError("Too Many Requests", `${message} is in ${retryAfterS} s`);
}

export function formatErrorResponse(
  error: Parameters<typeof createServiceError>[0],
  path: string,
  advice?: string,
) {
  const status = ERROR_STATUSES[error.code];
  const isVideo = path === "/api/video" || path.startsWith("/api/video/");
  const body = isVideo ? createVideoError(error) : createServiceError(error);
  return {
    status,
    body: JSON.stringify({ ...body, advice }),
    headers: {
      "content-type": "application/json",
      ...(status === 503 ? { "retry-after": "1" } : {}),
    },
  };
}

export function createErrorHandler(options: ErrorOptions) {
  const handler = new Elysia({ name: "error-handler" });
  return handler.onError({ as: "global" }, ({ error, request, set }) => {
    const response = createErrorResponse(error, request, set.headers, options);
    set.status = response.status;
    return response.body;
  });
}

/** Creates the response to an error, sets its headers, and reports the cause of a 5xx. */
export function createErrorResponse(
  error: unknown,
  request: Request,
  headers: ResponseHeaders,
  options: ErrorOptions,
) {
  const path = getPath(request);
  const clientError = toClientError(error, options);
  const advice = options.isTrusted === true ? readAdvice(error) : undefined;
  const response = formatErrorResponse(clientError, path, advice);
  if (response.status >= 500) {
    const cause = clientError === error ? (clientError.cause ?? error) : error;
    options.onFailure(cause, String(headers["x-request-id"] ?? path));
  }
  if (clientError.balance !== undefined) {
    headers["x-credits-remaining"] = String(clientError.balance);
    if (options.creditsUrl !== undefined)
      headers["link"] = `<${options.creditsUrl}>; rel="payment"`;
  }
  Object.assign(headers, response.headers);
  return response;
}
