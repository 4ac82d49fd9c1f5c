/** API keys: how they are made, and whose a presented one is. */

/** Who a request comes from. */
export interface Caller {
  readonly key: number;
  readonly account: number;
}

/** Where keys are looked up, by their hash. */
export interface KeyLookup {
  find(hash: string): Promise<{ readonly id: number; readonly account: number } | undefined>;
}

/** How many characters of a key are kept to tell keys apart. */
const SHOWN_CHARACTERS = 10;

/** How long a key is believed without another look: another process may have revoked it. */
const BELIEVED_MS = 500;

/** Keys that are remembered at most. */
const REMEMBERED_MAX = 10_000;

/** A new key, what is stored of it, and nothing else: the key itself is shown once. */
export interface MadeKey {
  readonly key: string;
  readonly hash: string;
  readonly beginsWith: string;
}

/** Makes a key of 256 random bits. */
export function makeKey(): MadeKey {
  const random = crypto.getRandomValues(new Uint8Array(32));
  const key = `cm_${random.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  return { key, hash: hashKey(key), beginsWith: key.slice(0, SHOWN_CHARACTERS) };
}

/** The SHA-256 of a key, in hex: all that is ever stored or looked up of it. */
export function hashKey(key: string): string {
  return new Bun.CryptoHasher("sha256").update(key).digest("hex");
}

interface Believed {
  readonly caller: Caller;
  readonly hash: string;
  /** When the lookup began, in milliseconds. */
  readonly startedAt: number;
}

interface Lookup {
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
export function createKeyring(lookup: KeyLookup, now: () => number) {
  const believed = new Map<string, Believed>();
  const lookups = new Map<string, Lookup>();
  return {
    recall,

    /** The caller that a key belongs to; `undefined` for an unknown or revoked key. */
    callerOf: (key: string): Caller | Promise<Caller | undefined> => recall(key) ?? lookUp(key),

    /** Forgets a key that was revoked here. */
    forget(hash: string): void {
      for (const [key, { hash: known }] of believed) if (known === hash) believed.delete(key);
      lookups.delete(hash);
    },
  };

  /** The caller that a key belongs to, if it is believed. */
  function recall(key: string): Caller | undefined {
    const known = believed.get(key);
    return known !== undefined && isFresh(known.startedAt) ? known.caller : undefined;
  }

  /** Whether an instant is not too long ago. It is ahead where the clock went back. */
  function isFresh(startedAt: number): boolean {
    const age = now() - startedAt;
    return age >= 0 && age < BELIEVED_MS;
  }

  function lookUp(key: string): Promise<Caller | undefined> {
    const hash = hashKey(key);
    const shared = lookups.get(hash);
    if (shared !== undefined && isFresh(shared.startedAt)) return shared.caller;
    const started: Lookup = { startedAt: now(), caller: find(hash) };
    lookups.set(hash, started);
    const end = (caller: Caller | undefined) => {
      // A later lookup, or a revocation here, knows better.
      if (lookups.get(hash) !== started) return;
      lookups.delete(hash);
      believed.delete(key);
      if (caller !== undefined) believe(key, { caller, hash, startedAt: started.startedAt });
    };
    started.caller.then(end, () => end(undefined));
    return started.caller;
  }

  async function find(hash: string): Promise<Caller | undefined> {
    const found = await lookup.find(hash);
    return found && { key: found.id, account: found.account };
  }

  function believe(key: string, found: Believed): void {
    if (believed.size >= REMEMBERED_MAX) believed.clear();
    believed.set(key, found);
  }
}
