/** Generates API keys, and authenticates requests by them. */
import type { KeyOptions, KeyStore, StoredKey, StoredSecret } from "../store/accounts/api-keys.ts";
import type { KeyScope } from "../stored-names.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";

/** Characters of a secret that are stored in clear, so that people can tell secrets apart. */
const PREFIX_CHARACTERS = 10;

/** Another process may have revoked a cached key: a revocation takes effect within this time. */
const CACHE_TTL_MS = 500;

const CACHE_MAX_ENTRIES = 10_000;

/** Every API key begins with it, so that people and scanners of secrets recognize one. */
const API_KEY_PREFIX = "cm_";

export interface GeneratedApiKey extends StoredSecret {
  readonly key: string;
}

/** Generates a key of 256 random bits. */
export function generateApiKey(): GeneratedApiKey {
  const { secret: key, ...stored } = generateSecret(API_KEY_PREFIX);
  return { key, ...stored };
}

/** Generates a secret of 256 random bits behind a prefix. */
export function generateSecret(prefix: string): StoredSecret & { readonly secret: string } {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const secret = prefix + random.toBase64({ alphabet: "base64url", omitPadding: true });
  return { secret, hash: hashApiKey(secret), beginsWith: secret.slice(0, PREFIX_CHARACTERS) };
}

/** Returns the SHA-256 of a key or another secret, in hex. */
export function hashApiKey(key: string): string {
  return new Bun.CryptoHasher("sha256").update(key).digest("hex");
}

/** The API key of a request and its account, by their numbers. */
export interface Caller {
  readonly key: number;
  readonly account: number;
  readonly scopes: readonly KeyScope[];
}

/** Authenticates by a cache in front of the stored keys. */
export type ApiKeyAuthenticator = ReturnType<typeof createApiKeyAuthenticator>;

interface CachedCaller {
  readonly caller: Caller;
  readonly expiresAt: number | null;
  readonly hash: string;
  /** When the lookup began, in milliseconds. */
  readonly startedAt: number;
}

interface PendingLookup {
  readonly startedAt: number;
  readonly found: Promise<StoredKey | undefined>;
}

/**
 * Creates an authenticator that caches found keys for half a second. Requests that send the same
 * key within that time share one lookup.
 *
 * @param now The clock, in milliseconds.
 */
export function createApiKeyAuthenticator(keys: Pick<KeyStore, "findByHash">, now: () => number) {
  const cache = new Map<string, CachedCaller>();
  const pendingLookups = new Map<string, PendingLookup>();
  return {
    /** The caller of a key from the cache alone; `undefined` when the key is not cached. */
    getCachedCaller,
    /** The caller of a key; `undefined` for one that is unknown, revoked or expired. */
    authenticate: (key: string) => getCachedCaller(key) ?? lookUp(key),
    /** Removes a key that was changed from the cache. @param hash SHA-256 of the key, in hex. */
    invalidate(hash: string): void {
      for (const [key, cached] of cache) if (cached.hash === hash) cache.delete(key);
      pendingLookups.delete(hash);
    },
  };

  function getCachedCaller(key: string): Caller | undefined {
    const cached = cache.get(key);
    if (cached === undefined || !isFresh(cached.startedAt) || isExpired(cached)) return undefined;
    return cached.caller;
  }

  /** An instant in the future is not fresh: the clock was set back. */
  function isFresh(startedAt: number): boolean {
    const ageMs = now() - startedAt;
    return ageMs >= 0 && ageMs < CACHE_TTL_MS;
  }

  function isExpired({ expiresAt }: Pick<StoredKey, "expiresAt">): boolean {
    return expiresAt !== null && now() >= expiresAt;
  }

  async function lookUp(key: string): Promise<Caller | undefined> {
    const found = await findKey(key);
    return found === undefined || isExpired(found) ? undefined : toCaller(found);
  }

  function findKey(key: string): Promise<StoredKey | undefined> {
    const hash = hashApiKey(key);
    const pending = pendingLookups.get(hash);
    if (pending !== undefined && isFresh(pending.startedAt)) return pending.found;
    const lookup: PendingLookup = { startedAt: now(), found: keys.findByHash(hash) };
    pendingLookups.set(hash, lookup);
    const onSettled = (found: StoredKey | undefined) => {
      // A later lookup or a revocation in this process has newer information.
      if (pendingLookups.get(hash) !== lookup) return;
      pendingLookups.delete(hash);
      cache.delete(key);
      if (found === undefined) return;
      if (cache.size >= CACHE_MAX_ENTRIES) cache.clear();
      const { expiresAt } = found;
      cache.set(key, { caller: toCaller(found), expiresAt, hash, startedAt: lookup.startedAt });
    };
    lookup.found.then(onSettled, () => onSettled(undefined));
    return lookup.found;
  }
}

function toCaller({ id, account, scopes }: StoredKey): Caller {
  return { key: id, account, scopes };
}

export type KeyAdministration = ReturnType<typeof createKeyAdministration>;

/**
 * Creates the administration of API keys: create, list, rotate, revoke.
 *
 * @param now The clock, in milliseconds.
 */
export function createKeyAdministration(
  store: KeyStore,
  { account: readAccount }: Pick<LedgerStore, "account">,
  { invalidate }: Pick<ApiKeyAuthenticator, "invalidate">,
  now: () => number,
) {
  return {
    /** Creates an API key of an account. Its text is known only here. */
    async create(name: string, options: KeyOptions) {
      const account = await readAccount(name);
      const { key, hash, beginsWith } = generateApiKey();
      const id = await store.create({ ...options, account: account.id, hash, beginsWith }, now());
      return { id, key };
    },
    list: store.list,
    /** @param idOrKey Its id or its text. @throws {DomainError} `Not Found`. */
    async revoke(idOrKey: number | string) {
      const reference =
        typeof idOrKey === "number" ? { id: idOrKey } : { hash: hashApiKey(idOrKey) };
      const { hash, ...revoked } = await store.revoke(reference, now());
      invalidate(hash);
      return revoked;
    },
    /**
     * Replaces a key by a new one. Both are valid for some time.
     *
     * @param overlapMs How long the old key stays valid.
     */
    async rotate(id: number, overlapMs: number) {
      const { key, hash, beginsWith } = generateApiKey();
      const replaced = await store.rotate(id, { hash, beginsWith }, now() + overlapMs, now());
      // Other processes read the new end with their next lookup.
      invalidate(replaced.hash);
      const { newId, account, expiresAt } = replaced;
      return { id: newId, key, account, oldExpiresAt: expiresAt };
    },
  };
}
