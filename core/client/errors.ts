/** The errors of the client. */
import { ERROR_CODES, type ErrorCode } from "../errors.ts";

/** The names of the errors of HTTP itself. */
const HTTP_ERROR_NAMES = [
  "Missing API Key",
  "Invalid API Key",
  "Forbidden",
  "Method Not Allowed",
  "Payload Too Large",
  "Unsupported Media Type",
  "Too Many Requests",
] as const;

/** The name of an error of the service, as its `error` field and its documentation have it. */
export type ServiceErrorName = ErrorCode | (typeof HTTP_ERROR_NAMES)[number];

const NAMES: readonly ServiceErrorName[] = [...ERROR_CODES, ...HTTP_ERROR_NAMES];

/** The names by status, for bodies that have a sentence instead. */
const NAMES_BY_STATUS: Readonly<Record<number, ServiceErrorName>> = {
  400: "Invalid Request",
  404: "Not Found",
  500: "Internal Error",
  503: "Service Unavailable",
};

/** An error response of the service. */
export class MetricsError extends Error {
  override readonly name = "MetricsError";
  /** Its name: `error.code === "Insufficient Credits"`. */
  readonly code: ServiceErrorName;
  readonly status: number;
  /** What to tell the operator of the service. */
  readonly requestId: string | null;

  constructor(
    code: ServiceErrorName,
    message: string,
    details: { readonly status: number; readonly requestId: string | null },
  ) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
  }
}

/** No response came in time, or the connection failed, at every attempt. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/**
 * Reads the body of an error: `{ error, message }`, or `{ error }` of the video interface, which has a
 * name or a sentence.
 */
export function createMetricsError(
  status: number,
  text: string,
  requestId: string | null,
): MetricsError {
  const { error = `Status ${status}`, message } = parseBody(text);
  const [name = ""] = error.split(": ");
  const code =
    NAMES.find((known) => known === name) ??
    findNameOfSentence(error) ??
    NAMES_BY_STATUS[status] ??
    "Internal Error";
  return new MetricsError(code, message ?? error, { status, requestId });
}

/** The name of `Channel nobody not found` and `Short x not found for channel y`. */
function findNameOfSentence(sentence: string): ServiceErrorName | undefined {
  if (/^Channel .* not found$/s.test(sentence)) return "Channel Not Found";
  return /^Short .* not found for channel /s.test(sentence) ? "Short Not Found" : undefined;
}

function parseBody(text: string): { error?: string; message?: string } {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) return {};
    const { error, message } = body as { error?: unknown; message?: unknown };
    return {
      ...(typeof error === "string" ? { error } : {}),
      ...(typeof message === "string" ? { message } : {}),
    };
  } catch {
    return {};
  }
}
