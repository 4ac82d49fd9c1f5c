/** Interfaces of admission: who sends a request, and whether the rate limit admits it. */

/** What an API key may do: read data and its account, or use the monitoring list. */
export const KEY_SCOPES = ["read", "creators"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The API key of a request and its account, by their numbers. */
export interface Caller {
  readonly key: number;
  readonly account: number;
  readonly scopes: readonly KeyScope[];
}

/** A stored API key that is not revoked. */
export interface StoredKey {
  readonly id: number;
  readonly account: number;
  readonly scopes: readonly KeyScope[];
  /** From when on it is not valid, in milliseconds since 1970 UTC; `null` if it does not expire. */
  readonly expiresAt: number | null;
}

/** Finds stored API keys. */
export interface ApiKeyLookup {
  /**
   * @param hash SHA-256 of the key, in hex.
   * @returns `undefined` for an unknown or revoked key.
   */
  findByHash(hash: string): Promise<StoredKey | undefined>;
}

/** Authenticates requests by their API key. */
export interface Authenticator {
  /** The caller of a key; `undefined` for one that is unknown, revoked or expired. */
  authenticate(key: string): Caller | Promise<Caller | undefined>;
}

/** Whether a request is admitted, and the headers that tell the client its limit. */
export interface RateLimitDecision {
  readonly isAdmitted: boolean;
  /** Whole seconds until the next request is admitted. */
  readonly retryAfterS: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts a request of an API key and decides whether it is admitted. */
export type CheckRateLimit = (key: number) => RateLimitDecision;

/** Limits the charged reads of an API key that end without a response, because its clients left. */
export interface AbortLimiter {
  readonly maxPerMinute: number;
  countAbort(key: number): void;
  /** Whole seconds until the next request is admitted; 0 if it is now. */
  getRetryAfterS(key: number): number;
}
