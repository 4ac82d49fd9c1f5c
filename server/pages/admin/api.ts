/** Sends requests of the administration API, with the token of the tab. */
import { ConnectionError, MetricsError } from "../../../core/client/mod.ts";
import { createMetricsError } from "../../../core/client/errors.ts";
import { createStore } from "../store.ts";

const STORAGE_KEY = "adminToken";

/** The longest wait for a read. A change, such as a backup, may take longer. */
const READ_TIMEOUT_MS = 20_000;

/** The state of the tab, which the frame of the page shows. */
interface AdminSession {
  /** `null` before one is entered. */
  readonly token: string | null;
  /** Why the service refused the token that was used before. */
  readonly refusal: string | null;
  /** Why the service cannot be read; `null` if it can. */
  readonly outage: string | null;
}

export const adminSession = createStore<AdminSession>({
  token: sessionStorage.getItem(STORAGE_KEY),
  refusal: null,
  outage: null,
});
/** Why each of the failing reads fails. */
const outages = new Map<object, string>();

/** Uses a token until the tab is closed; `null` forgets it. */
export function setToken(token: string | null, refusal: string | null = null): void {
  if (token === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, token);
  adminSession.update({ token, refusal });
}

/**
 * Reports why a read fails for now, or that it does not.
 *
 * @param reader Identifies the read.
 */
export function reportOutage(reader: object, message: string | null): void {
  if (message === null) outages.delete(reader);
  else outages.set(reader, message);
  const [outage = null] = outages.values();
  if (outage !== adminSession.get().outage) adminSession.update({ outage });
}

/** Whether a request may succeed when it is sent again. */
export function isOutage(error: unknown): boolean {
  const isUnavailable = error instanceof MetricsError && error.status >= 502;
  return error instanceof ConnectionError || isUnavailable;
}

/** Describes an error for people. */
export function describeFailure(error: unknown): string {
  if (error instanceof ConnectionError) {
    return navigator.onLine ? "The service does not answer." : "You are offline.";
  }
  if (!(error instanceof Error)) return "Something failed.";
  // The body that a proxy wrote says nothing.
  return error.message.replace(/^Status (\d+)$/, "The service is not available ($1)") + ".";
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * Sends a request below `/admin`, and reads the JSON of the response.
 *
 * @param body Sent as JSON.
 * @param token By default the token of the tab.
 * @throws {MetricsError | ConnectionError}
 */
export async function sendAdmin<Body>(
  method: Method,
  path: string,
  body?: unknown,
  token = adminSession.get().token,
): Promise<Body> {
  const signal = method === "GET" ? AbortSignal.timeout(READ_TIMEOUT_MS) : null;
  const response = await request(method, path, { body, token, signal });
  return JSON.parse(await readBody(response.text()));
}

/** Downloads a file below `/admin`. @throws {MetricsError | ConnectionError} */
export async function downloadAdmin(path: string): Promise<Blob> {
  const response = await request("GET", path, { token: adminSession.get().token });
  return readBody(response.blob());
}

interface RequestOptions {
  readonly body?: unknown;
  readonly token: string | null;
  readonly signal?: AbortSignal | null;
}

/** Sends a request. @throws {MetricsError} For any status but success. */
async function request(
  method: Method,
  path: string,
  { body, token, signal = null }: RequestOptions,
): Promise<Response> {
  // A text that no header can have is no token. The service refuses a request without one.
  const sendable = /^[\x21-\x7e]+$/.test(token ?? "") ? token : "";
  const response = await fetch(`/admin/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${sendable}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  }).catch((cause: unknown) => {
    throw new ConnectionError("The service does not answer", { cause });
  });
  if (response.ok) return response;
  const text = await readBody(response.text());
  if (response.status === 401 && token === adminSession.get().token) {
    setToken(null, "The service does not accept this token any more.");
  }
  throw createMetricsError(text, {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
  });
}

function readBody<Body>(body: Promise<Body>): Promise<Body> {
  return body.catch((cause: unknown) => {
    throw new ConnectionError("The response was cut", { cause });
  });
}
