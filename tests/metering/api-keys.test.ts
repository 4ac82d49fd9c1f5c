import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import {
  createApiKeyAuthenticator,
  createKeyAdministration,
  hashApiKey,
  generateApiKey,
} from "../../server/metering/api-keys.ts";
import { KEY_SCOPES, type KeyScope } from "../../server/stored-names.ts";
import { createKeyStore, type StoredKey } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { withDatabase } from "../support/store/database.ts";

const NOW = 1_790_000_000_000;

const FOUND: StoredKey = { id: 1, account: 4, scopes: KEY_SCOPES, expiresAt: null };
const CALLER = { key: 1, account: 4, scopes: KEY_SCOPES };

describe("createApiKeyAuthenticator()", () => {
  test("authenticate() looks an unknown key up each time, and accepts it once it is created", async () => {
    await withDatabase(async (database) => {
      const store = createKeyStore(database);
      const { key, hash, beginsWith } = generateApiKey();
      const authenticator = createApiKeyAuthenticator(store, () => 0);
      expect(await authenticator.authenticate(key)).toBeUndefined();
      const id = await store.create({ account: 4, hash, beginsWith, label: null }, 0);
      expect(await authenticator.authenticate(key)).toEqual({
        key: id,
        account: 4,
        scopes: KEY_SCOPES,
      });
    });
  });

  test("authenticate() looks a cached key up again after half a second or an invalidation", async () => {
    const clock = { now: 0 };
    const lookups: string[] = [];
    await withDatabase(async (database) => {
      const store = createKeyStore(database);
      const generated = generateApiKey();
      const { hash, beginsWith } = generated;
      await store.create({ account: 4, hash, beginsWith, label: null }, 0);
      const find = (keyHash: string) => {
        lookups.push(keyHash);
        return store.findByHash(keyHash);
      };
      const authenticator = createApiKeyAuthenticator({ findByHash: find }, () => clock.now);
      for (const now of [0, 1, 499]) {
        clock.now = now;
        await authenticator.authenticate(generated.key);
      }
      expect(lookups).toEqual([hash]);
      clock.now = 500;
      await authenticator.authenticate(generated.key);
      expect(lookups).toEqual([hash, hash]);
      authenticator.invalidate(hash);
      await authenticator.authenticate(generated.key);
      expect(lookups).toEqual([hash, hash, hash]);
    });
  });

  test("authenticate() refuses a key at once after invalidate(), and after half a second without it", async () => {
    await withDatabase(async (database) => {
      const account = await createLedgerStore(database).createAccount("a", NOW);
      const store = createKeyStore(database);
      const clock = { now: NOW };
      const [here, elsewhere] = [0, 1].map(() => createApiKeyAuthenticator(store, () => clock.now));
      const { key, hash, beginsWith } = generateApiKey();
      const id = await store.create({ account: account.id, hash, beginsWith, label: null }, NOW);
      const caller = { key: id, account: account.id, scopes: KEY_SCOPES };
      expect(await here?.authenticate(key)).toEqual(caller);
      expect(await elsewhere?.authenticate(key)).toEqual(caller);
      expect(await here?.authenticate(`${key}x`)).toBeUndefined();
      await store.revoke({ id }, NOW);
      here?.invalidate(hash);
      expect(await here?.authenticate(key)).toBeUndefined();
      clock.now += 499;
      expect(await elsewhere?.authenticate(key)).toEqual(caller);
      clock.now += 1;
      expect(await elsewhere?.authenticate(key)).toBeUndefined();
    });
  });
});

describe("createKeyAdministration()", () => {
  test("rotate() ends a cached key with its overlap, in this and in other processes", async () => {
    await withDatabase(async (database) => {
      const ledger = createLedgerStore(database);
      await ledger.createAccount("a", NOW);
      const store = createKeyStore(database);
      const clock = { now: NOW };
      const now = () => clock.now;
      const here = createApiKeyAuthenticator(store, now);
      const elsewhere = createApiKeyAuthenticator(store, now);
      const keys = createKeyAdministration(store, ledger, here, now);
      const options = { label: null, scopes: KEY_SCOPES, expiresAt: null };
      const first = await keys.create("a", options);
      const accept = async (key: string) => [
        (await here.authenticate(key)) !== undefined,
        (await elsewhere.authenticate(key)) !== undefined,
      ];
      expect(await accept(first.key)).toEqual([true, true]);
      const second = await keys.rotate(first.id, 2000);
      for (const [at, isOldAccepted] of [
        [1999, true],
        [2000, false],
      ] as const) {
        clock.now = NOW + at;
        expect(await accept(first.key)).toEqual([isOldAccepted, isOldAccepted]);
        expect(await accept(second.key)).toEqual([true, true]);
      }
      await keys.rotate(second.id, 0);
      expect(await accept(second.key)).toEqual([false, true]);
      clock.now += 500;
      expect(await accept(second.key)).toEqual([false, false]);
    });
  });
});

describe("createApiKeyAuthenticator() while lookups are slow", () => {
  /** An authenticator whose lookups wait to be answered. */
  function startAuthenticator() {
    const clock = { now: NOW };
    const lookups: PromiseWithResolvers<StoredKey | undefined>[] = [];
    const find = () => {
      const lookup = Promise.withResolvers<StoredKey | undefined>();
      lookups.push(lookup);
      return lookup.promise;
    };
    return {
      clock,
      lookups,
      authenticator: createApiKeyAuthenticator({ findByHash: find }, () => clock.now),
    };
  }

  test("authenticate() looks a key up once for all requests of half a second", async () => {
    const { clock, lookups, authenticator } = startAuthenticator();
    const first = Array.from({ length: 100 }, () => authenticator.authenticate("cm_a"));
    clock.now += 499;
    first.push(authenticator.authenticate("cm_a"));
    expect(lookups.length).toBe(1);
    clock.now += 1;
    const second = authenticator.authenticate("cm_a");
    expect(lookups.length).toBe(2);
    lookups[0]?.resolve(FOUND);
    expect(await Promise.all(first)).toEqual(first.map(() => CALLER));
    lookups[1]?.resolve(undefined);
    expect(await second).toBeUndefined();
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });

  test("getCachedCaller() keeps a key for half a second from the start of its lookup", async () => {
    const { clock, lookups, authenticator } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    clock.now += 499;
    lookups[0]?.resolve(FOUND);
    expect(await asked).toEqual(CALLER);
    expect(authenticator.getCachedCaller("cm_a")).toEqual(CALLER);
    clock.now += 1;
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });

  test("authenticate() looks a key up again after a lookup that failed", async () => {
    const { lookups, authenticator } = startAuthenticator();
    const failed = authenticator.authenticate("cm_a");
    lookups[0]?.reject(new Error("No answer"));
    expect(failed).rejects.toThrow("No answer");
    await Promise.allSettled([failed]);
    const next = authenticator.authenticate("cm_a");
    lookups[1]?.resolve(FOUND);
    expect(await next).toEqual(CALLER);
  });

  test("invalidate() discards a lookup that runs", async () => {
    const { lookups, authenticator } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    authenticator.invalidate(hashApiKey("cm_a"));
    lookups[0]?.resolve(FOUND);
    await asked;
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });
});

describe("createApiKeyAuthenticator() with a key that expires", () => {
  test("authenticate() accepts it until that instant, also while it is cached, and not after", async () => {
    await withDatabase(async (database) => {
      const store = createKeyStore(database);
      const clock = { now: NOW };
      const { key, hash, beginsWith } = generateApiKey();
      const expiresAt = NOW + 300;
      const scopes: KeyScope[] = ["creators"];
      const id = await store.create(
        { account: 4, hash, beginsWith, label: null, scopes, expiresAt },
        NOW,
      );
      const authenticator = createApiKeyAuthenticator(store, () => clock.now);
      const caller = { key: id, account: 4, scopes };
      expect(await authenticator.authenticate(key)).toEqual(caller);
      clock.now = expiresAt - 1;
      expect(authenticator.getCachedCaller(key)).toEqual(caller);
      expect(await authenticator.authenticate(key)).toEqual(caller);
      for (const now of [expiresAt, expiresAt + 1, expiresAt + 10_000]) {
        clock.now = now;
        expect(authenticator.getCachedCaller(key)).toBeUndefined();
        expect(await authenticator.authenticate(key)).toBeUndefined();
      }
    });
  });

  test("authenticate() refuses it to requests that shared a lookup and come after that instant", async () => {
    const clock = { now: NOW };
    const lookup = Promise.withResolvers<StoredKey | undefined>();
    const authenticator = createApiKeyAuthenticator(
      { findByHash: () => lookup.promise },
      () => clock.now,
    );
    const asked = [authenticator.authenticate("cm_a"), authenticator.authenticate("cm_a")];
    clock.now = NOW + 100;
    lookup.resolve({ ...FOUND, expiresAt: NOW + 100 });
    expect(await Promise.all(asked)).toEqual([undefined, undefined]);
  });
});

describe("createApiKeyAuthenticator() with a clock that is set back", () => {
  test("authenticate() does not cache a key for longer than half a second", async () => {
    const clock = { now: NOW };
    let found: StoredKey | undefined = FOUND;
    const authenticator = createApiKeyAuthenticator(
      { findByHash: async () => found },
      () => clock.now,
    );
    expect(await authenticator.authenticate("cm_a")).toEqual({
      key: 1,
      account: 4,
      scopes: KEY_SCOPES,
    });
    found = undefined;
    clock.now = NOW - 3_600_000;
    expect(await authenticator.authenticate("cm_a")).toBeUndefined();
    clock.now = NOW + 100;
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });
});

describe("getCachedCaller()", () => {
  test("holds at most 10,000 keys", async () => {
    const authenticator = createApiKeyAuthenticator({ findByHash: async () => FOUND }, () => NOW);
    const names = Array.from({ length: 10_001 }, (_, index) => `cm_${index}`);
    for (const name of names) await authenticator.authenticate(name);
    const cached = names.filter((name) => authenticator.getCachedCaller(name) !== undefined);
    expect(cached.length).toBeWithin(1, 10_001);
    expect(cached.at(-1)).toBe("cm_10000");
  });
});

describe("generateApiKey()", () => {
  test("returns a key of 256 random bits and its SHA-256", () => {
    const generated = Array.from({ length: 1000 }, generateApiKey);
    expect(new Set(generated.map(({ key }) => key)).size).toBe(1000);
    for (const { key, hash, beginsWith } of generated) {
      expect(Buffer.from(key.slice(3), "base64url").length).toBe(32);
      expect(hash).toBe(createHash("sha256").update(key).digest("hex"));
      expect(hash).toBe(hashApiKey(key));
      expect([key.startsWith(beginsWith), beginsWith.length]).toEqual([true, 10]);
    }
  });
});
