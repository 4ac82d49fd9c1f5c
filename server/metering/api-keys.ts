/** Authenticates API keys, with a short-lived cache in front of the stored keys. */
import type { KeyStore } from "../store/accounts/api-keys.ts";

/** Another process may have revoked a cached key: a revocation takes effect within this time. */
const CACHE_TTL_MS = 500;

const CACHE_MAX_ENTRIES = 10_000;

type StoredKey = NonNullable<Awaited<ReturnType<KeyStore["find"]>>>;

/** The API key of a request and its account, by their numbers. */
export type Caller = Pick<StoredKey, "key" | "account" | "scopes">;

interface Lookup {
  readonly startedAt: number;
  readonly found: Promise<StoredKey | undefined>;
  /** The key, once it is found; absent while the lookup runs. */
  stored?: StoredKey;
}

/**
 * Creates an authenticator that caches found keys for half a second. Requests that send the same
 * key within that time share one lookup. `now` is in milliseconds.
 */
export function createApiKeyAuthenticator({ find }: Pick<KeyStore, "find">, now: () => number) {
  const lookups = new Map<string, Lookup>();
  return {
    getCachedCaller,
    /** Returns the caller of a key; `undefined` for an unknown, revoked or expired key. */
    authenticate: (key: string) => getCachedCaller(key) ?? lookUp(key),
    /** Removes a key that was changed from the cache. @param hash SHA-256 of the key, in hex. */
    invalidate(hash: string): void {
      for (const [key, { stored }] of lookups) {
        // A running lookup may have read the key before the change.
        if (stored === undefined || stored.hash === hash) lookups.delete(key);
      }
    },
  };

  function getCachedCaller(key: string): Caller | undefined {
    const lookup = lookups.get(key);
    if (lookup?.stored === undefined || !isFresh(lookup)) return undefined;
    return isExpired(lookup.stored) ? undefined : lookup.stored;
  }

  /** A lookup from the future is not fresh: the clock was set back. */
  function isFresh({ startedAt }: Lookup): boolean {
    const ageMs = now() - startedAt;
    return ageMs >= 0 && ageMs < CACHE_TTL_MS;
  }

  function isExpired({ expiresAt }: StoredKey): boolean {
    return expiresAt !== null && now() >= expiresAt;
  }

  async function lookUp(key: string): Promise<Caller | undefined> {
    const last = lookups.get(key);
    const { found } = last !== undefined && isFresh(last) ? last : startLookup(key);
    const stored = await found;
    return stored === undefined || isExpired(stored) ? undefined : stored;
  }

  function startLookup(key: string): Lookup {
    if (lookups.size >= CACHE_MAX_ENTRIES) lookups.clear();
    const lookup: Lookup = { startedAt: now(), found: find(key) };
    lookups.set(key, lookup);
    const onSettled = (stored: StoredKey | undefined) => {
      if (stored !== undefined) lookup.stored = stored;
      else if (lookups.get(key) === lookup) lookups.delete(key);
    };
    lookup.found.then(onSettled, () => onSettled(undefined));
    return lookup;
  }
}
