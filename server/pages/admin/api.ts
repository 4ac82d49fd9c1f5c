/** Sends requests to the administration API; keeps the token, its refusal and the outage shown. */
import type { Static } from "@sinclair/typebox";
import { createMetricsError } from "../../../core/client/errors.ts";
import { ConnectionError, MetricsError } from "../../../core/client/mod.ts";
import type { RESOURCES } from "../../http/admin/resources.ts";
import { addPrefix, createStorageName } from "../router.ts";
import { createStore } from "../state-hooks.ts";

export type Resource<Name extends keyof typeof RESOURCES> = Static<(typeof RESOURCES)[Name]>;

export type AdminAccount = Resource<"AdminAccount">;

const STORAGE_KEY = createStorageName("adminToken");

/** The longest wait for a read. A change, such as a backup, may take longer. */
const READ_TIMEOUT_MS = 20_000;

export const adminSession = createStore<
  Readonly<Record<"token" | "refusal" | "outage", string | null>>
>({ token: sessionStorage.getItem(STORAGE_KEY), refusal: null, outage: null });

/** Uses a token until the tab is closed; `null` forgets the current token. */
export function setToken(token: string | null, refusal: string | null = null): void {
  if (token === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, token);
  adminSession.update({ token, refusal });
}

export const isOutage = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof MetricsError && error.status >= 502);

export function describeFailure(error: unknown): string {
  if (error instanceof ConnectionError) {
    return navigator.onLine ? "The service does not answer." : "You are offline.";
  }
  if (!(error instanceof Error)) return "Something failed.";
  // The body that a proxy wrote has no message, so the error names only the status.
  return error.message.replace(/^Status (\d+)$/, "The service is not available ($1)") + ".";
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Sends a request below `/admin`, and reads JSON. @throws {MetricsError | ConnectionError} */
export async function sendAdmin<Body>(
  method: Method,
  path: string,
  body?: unknown,
  token = adminSession.get().token,
): Promise<Body> {
  const signal = method === "GET" ? AbortSignal.timeout(READ_TIMEOUT_MS) : null;
  const options = { method, body: body === undefined ? null : JSON.stringify(body), signal };
  return JSON.parse(await request(path, token, options, (response) => response.text()));
}

export const downloadAdmin = (path: string): Promise<Blob> =>
  request(path, adminSession.get().token, {}, (response) => response.blob());

/** Reads the metrics, for which the service can want a token. */
export async function readMetrics(timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = createHeaders(adminSession.get().token);
  const response = await fetch(addPrefix("/metrics"), { signal, headers });
  if (!response.ok) throw new Error(`/metrics responds with ${response.status}`);
  return response.text();
}

/** Sends no token if a header cannot have this text; then the service refuses the request. */
const createHeaders = (token: string | null) =>
  new Headers({ authorization: `Bearer ${/^[\x21-\x7e]+$/.test(token ?? "") ? token : ""}` });

async function request<Content>(
  path: string,
  token: string | null,
  options: { readonly body?: string | null } & RequestInit,
  readContent: (response: Response) => Promise<Content>,
): Promise<Content> {
  const headers = createHeaders(token);
  if (typeof options.body === "string") headers.set("content-type", "application/json");
  const disconnect = (cause: unknown) => {
    throw new ConnectionError("The service does not answer", { cause });
  };
  const response = await fetch(addPrefix(`/admin/${path}`), { ...options, headers }).catch(
    disconnect,
  );
  if (response.ok) return readContent(response).catch(disconnect);
  const { status } = response;
  const text = await response.text().catch(disconnect);
  if (status === 401 && token === adminSession.get().token) {
    setToken(null, "The service does not accept this token any more.");
  }
  throw createMetricsError(text, { status, requestId: response.headers.get("x-request-id") });
}
