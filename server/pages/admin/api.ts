/** Sends requests of the administration API, with the token of the tab. */
import { ConnectionError } from "../../../core/client/mod.ts";
import { createMetricsError } from "../../../core/client/errors.ts";

const STORAGE_KEY = "adminToken";

let token = sessionStorage.getItem(STORAGE_KEY);

export function hasToken(): boolean {
  return token !== null;
}

/** Uses a token until the tab is closed; `null` forgets it. */
export function setToken(next: string | null): void {
  token = next;
  if (next === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, next);
}

/**
 * Sends a request below `/admin`.
 *
 * @param body Sent as JSON.
 * @throws {MetricsError | ConnectionError}
 */
export async function sendAdmin<Body>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Body> {
  const headers: Record<string, string> = { authorization: `Bearer ${token ?? ""}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`/admin/${path}`, init).catch((cause: unknown) => {
    throw new ConnectionError("The service does not answer", { cause });
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw createMetricsError(text, {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
  });
}

/** An account, as the administration API describes it. */
export interface AdminAccount {
  readonly name: string;
  readonly created_at: string;
  readonly granted: number;
  readonly debited: number;
  readonly refunded: number;
  readonly balance: number;
}

/** An API key; its text is not known. */
export interface AdminKey {
  readonly id: number;
  readonly begins_with: string;
  readonly label: string | null;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** How a creator or a channel is collected. */
export interface AdminTarget {
  readonly added_at: string;
  readonly last_success: string | null;
  readonly last_failure: string | null;
  readonly failure: string | null;
  readonly next_due: string | null;
}

export interface AdminChannel extends AdminTarget {
  readonly channel: string;
  readonly channel_id: string | null;
}

export interface AdminCreator extends AdminTarget {
  readonly creator: string;
  readonly platform: string;
}

/** A source of observations, and how it is. */
export interface AdminSource {
  readonly source: string;
  readonly status: "ok" | "failing" | "stopped";
  readonly reason: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly quotas: readonly {
    readonly bucket: string;
    readonly used: number;
    readonly limit: number;
  }[];
}

/** What the service has, and how its sources are. */
export interface AdminStatus {
  readonly database: {
    readonly url: string;
    readonly bytes: number | null;
    readonly durability: string | null;
    readonly outage: string | null;
  };
  readonly kinds: readonly {
    readonly kind: string;
    readonly entities: number;
    readonly observations: number;
    readonly is_estimated: boolean;
    readonly newest: string | null;
  }[];
  readonly sources: readonly AdminSource[];
}

/** An entry of the audit. */
export interface AdminAuditEntry {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  readonly origin: string;
  readonly action: string;
  readonly target: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly outcome: string | null;
}
