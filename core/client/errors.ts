/** The errors of the client. */
import {
  ERROR_STATUSES,
  isServiceErrorName,
  VIDEO_ERROR_SENTENCES,
  type ServiceErrorName,
} from "../error-statuses.ts";

/**
 * An error response of the service.
 *
 * @example
 * new MetricsError("Not Found", "Nothing", { status: 404, requestId: null }).code; // "Not Found"
 */
export class MetricsError extends Error {
  /** The name of the class. */
  override readonly name = "MetricsError";
  /** Its name: `error.code === "Insufficient Credits"`. */
  readonly code: ServiceErrorName;
  /** The HTTP status. */
  readonly status: number;
  /** What to tell the operator of the service. */
  readonly requestId: string | null;

  /** Creates the error of a response. */
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

/**
 * No response of the service came in time, at any attempt: the connection failed, or a proxy
 * responded.
 *
 * @example
 * new ConnectionError("No response").name; // "ConnectionError"
 */
export class ConnectionError extends Error {
  /** The name of the class. */
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
  const code = findName(error) ?? findNameOfStatus(status);
  return new MetricsError(code, message ?? error, { status, requestId });
}

/** The name in `Not Found` and `Invalid Request: limit must be 1`, or of `Channel x not found`. */
function findName(error: string): ServiceErrorName | undefined {
  const [name = ""] = error.split(": ");
  if (isServiceErrorName(name)) return name;
  const sentences = Object.entries(VIDEO_ERROR_SENTENCES);
  return sentences
    .map(([known, pattern]) => (pattern.test(error) ? known : ""))
    .find(isServiceErrorName);
}

/** The most general name of a status, for a body that a proxy wrote. */
function findNameOfStatus(status: number): ServiceErrorName {
  const names = Object.keys(ERROR_STATUSES).filter(isServiceErrorName);
  return names.findLast((name) => ERROR_STATUSES[name] === status) ?? "Internal Error";
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
