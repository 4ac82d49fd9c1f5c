/** Interfaces of admission: who sends a request, and whether the rate limit admits it. */

/** The API key of a request and its account, by their numbers. */
export interface Caller {
  readonly key: number;
  readonly account: number;
}

/** Finds stored API keys. */
export interface ApiKeyLookup {
  /**
   * @param hash SHA-256 of the key, in hex.
   * @returns `undefined` for an unknown or revoked key.
   */
  findByHash(hash: string): Promise<{ readonly id: number; readonly account: number } | undefined>;
}

/** Authenticates requests by their API key. */
export interface Authenticator {
  /** The caller of a key; `undefined` for an unknown or revoked one. */
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
