/** API keys: how they are made, and whose a presented one is. */
import type { ApiKeyLookup, Authenticator, Caller } from "../ports/admission.ts";

/** How many characters of a key are kept to tell keys apart. */
const PREFIX_CHARACTERS = 10;

/** How long a key is believed without another look: another process may have revoked it. */
const CACHE_TTL_MS = 500;

/** Keys that are remembered at most. */
const CACHE_MAX_ENTRIES = 10_000;

/** A new key, what is stored of it, and nothing else: the key itself is shown once. */
export interface GeneratedApiKey {
  readonly key: string;
  readonly hash: string;
  readonly beginsWith: string;
}

/** Makes a key of 256 random bits. */
export function generateApiKey(): GeneratedApiKey {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const key = `cm_${random.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  return { key, hash: hashApiKey(key), beginsWith: key.slice(0, PREFIX_CHARACTERS) };
}

/** The SHA-256 of a key, in hex: all that is ever stored or looked up of it. */
export function hashApiKey(key: string): string {
  return new Bun.CryptoHasher("sha256").update(key).digest("hex");
}

/** Authenticates by keys that it caches. */
export interface ApiKeyAuthenticator extends Authenticator {
  /** Removes a key that was revoked here from the cache. @param hash As stored. */
  invalidate(hash: string): void;
}

interface CachedCaller {
  readonly caller: Caller;
  readonly hash: string;
  /** When the lookup began, in milliseconds. */
  readonly startedAt: number;
}

interface PendingLookup {
  readonly startedAt: number;
  readonly caller: Promise<Caller | undefined>;
}

/**
 * Makes a keyring. A key that was found is believed for half a second after it was asked for, so
 * that a revocation in any process is effective within one. Requests with one key that come within
 * that time share a lookup.
 *
 * @param now The clock, in milliseconds.
 */
export function createApiKeyAuthenticator(
  lookup: ApiKeyLookup,
  now: () => number,
): ApiKeyAuthenticator {
  const cache = new Map<string, CachedCaller>();
  const pendingLookups = new Map<string, PendingLookup>();
  return {
    getCachedCaller,

    /** The caller that a key belongs to; `undefined` for an unknown or revoked key. */
    authenticate: (key: string): Caller | Promise<Caller | undefined> =>
      getCachedCaller(key) ?? lookUp(key),

    /** Forgets a key that was revoked here. */
    invalidate(hash: string): void {
      for (const [key, { hash: cachedHash }] of cache) if (cachedHash === hash) cache.delete(key);
      pendingLookups.delete(hash);
    },
  };

  /** The caller that a key belongs to, if it is believed. */
  function getCachedCaller(key: string): Caller | undefined {
    const cached = cache.get(key);
    return cached !== undefined && isFresh(cached.startedAt) ? cached.caller : undefined;
  }

  /** Whether an instant is not too long ago. It is ahead where the clock went back. */
  function isFresh(startedAt: number): boolean {
    const age = now() - startedAt;
    return age >= 0 && age < CACHE_TTL_MS;
  }

  function lookUp(key: string): Promise<Caller | undefined> {
    const hash = hashApiKey(key);
    const pending = pendingLookups.get(hash);
    if (pending !== undefined && isFresh(pending.startedAt)) return pending.caller;
    const newLookup: PendingLookup = { startedAt: now(), caller: find(hash) };
    pendingLookups.set(hash, newLookup);
    const onSettled = (caller: Caller | undefined) => {
      // A later lookup, or a revocation here, knows better.
      if (pendingLookups.get(hash) !== newLookup) return;
      pendingLookups.delete(hash);
      cache.delete(key);
      if (caller !== undefined) cacheCaller(key, { caller, hash, startedAt: newLookup.startedAt });
    };
    newLookup.caller.then(onSettled, () => onSettled(undefined));
    return newLookup.caller;
  }

  async function find(hash: string): Promise<Caller | undefined> {
    const found = await lookup.findByHash(hash);
    return found && { key: found.id, account: found.account };
  }

  function cacheCaller(key: string, found: CachedCaller): void {
    if (cache.size >= CACHE_MAX_ENTRIES) cache.clear();
    cache.set(key, found);
  }
}
