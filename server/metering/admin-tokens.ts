/** Generates the tokens of administrators, and finds those that requests send. */
import { DomainError } from "../../core/errors.ts";
import { MINUTE_MS } from "../../core/time.ts";
import type { AdminTokenRecord, AdminTokenStore } from "../store/administration/admin-tokens.ts";
import { generateSecret, hashApiKey } from "./api-keys.ts";

/** Every token begins with it, so that people and scanners of secrets recognize one. */
const PREFIX = "cma_";

/** Another process may have revoked a token: a revocation takes effect within this time. */
const CACHE_TTL_MS = 500;

/** The time of the last use is written this often at most, because each write takes a sync. */
const USE_INTERVAL_MS = MINUTE_MS;

/** Finds the named tokens that requests send. */
export type AdminTokenLookup = ReturnType<typeof createAdminTokens>["lookup"];

/** Creates, lists and revokes the tokens of administrators. */
export type AdminTokenAdministration = ReturnType<typeof createAdminTokens>["administration"];

/** Creates the lookup and the administration of tokens. @param now The clock, in milliseconds. */
export function createAdminTokens(store: AdminTokenStore, now: () => number) {
  let cached:
    | { readonly startedAt: number; readonly tokens: Promise<AdminTokenRecord[]> }
    | undefined;
  const lastUses = new Map<number, number>();

  /** An instant in the future is not fresh: the clock was set back. */
  function isFresh(startedAt: number): boolean {
    const ageMs = now() - startedAt;
    return ageMs >= 0 && ageMs < CACHE_TTL_MS;
  }

  /** Lists as the store does; a revocation by another process takes effect within a second. */
  function list(): Promise<AdminTokenRecord[]> {
    if (cached !== undefined && isFresh(cached.startedAt)) return cached.tokens;
    const loading = { startedAt: now(), tokens: store.list() };
    cached = loading;
    loading.tokens.catch(() => {
      if (cached === loading) cached = undefined;
    });
    return loading.tokens;
  }

  /** Records that a token was used now. It never fails. */
  async function recordUse(id: number): Promise<void> {
    const lastUse = lastUses.get(id);
    if (lastUse !== undefined && Math.abs(now() - lastUse) < USE_INTERVAL_MS) return;
    lastUses.set(id, now());
    // If the database does not answer, the request itself fails and says why.
    await store.recordUse(id, now()).catch(() => lastUses.delete(id));
  }

  /** The id of a valid token. No name begins as a token does. */
  async function findId(token: string): Promise<number> {
    const hash = hashApiKey(token);
    const found = (await store.list()).find((stored) => stored.hash === hash);
    if (found?.revokedAt === null) return found.id;
    throw new DomainError("Not Found", `There is no valid token ${token.slice(0, 10)}…`);
  }

  return {
    lookup: {
      /** Whether a text may be a token: only then it is worth a lookup. */
      isCandidate: (text: string): boolean => text.startsWith(PREFIX),
      list,
      recordUse,
    },
    administration: {
      /** Creates a token. Its text is known only here. */
      async create(name: string) {
        const { secret: token, ...stored } = generateSecret(PREFIX);
        const id = await store.create({ name, ...stored }, now());
        cached = undefined;
        return { id, token };
      },
      list: store.list,
      /**
       * Revokes as the store does, and takes the text of a valid token, too.
       *
       * @throws {DomainError} `Not Found`.
       */
      async revoke(nameIdOrToken: string | number) {
        const isToken = typeof nameIdOrToken === "string" && nameIdOrToken.startsWith(PREFIX);
        const nameOrId = isToken ? await findId(nameIdOrToken) : nameIdOrToken;
        const revoked = await store.revoke(nameOrId, now());
        cached = undefined;
        return revoked;
      },
    },
  };
}
