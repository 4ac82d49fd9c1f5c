import { describe, expect, test } from "bun:test";
import { createApiKeyAuthenticator } from "../../server/metering/api-keys.ts";
import { hashSecret } from "../../server/secrets.ts";
import { KEY_SCOPES, type KeyScope } from "../../server/stored-names.ts";
import { createKeyStore, type KeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { withDatabase } from "../support/store/database.ts";

const NOW = 1_790_000_000_000;

type StoredKey = NonNullable<Awaited<ReturnType<KeyStore["find"]>>>;

const FOUND: StoredKey = {
  key: 1,
  account: 4,
  scopes: KEY_SCOPES,
  expiresAt: null,
  hash: hashSecret("cm_a"),
};

describe("createApiKeyAuthenticator()", () => {
  test("authenticate() looks an unknown key up each time, and accepts it once it is created", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("a", NOW);
      const store = createKeyStore(database);
      const created = await store.create("a", {}, NOW);
      let isStored = false;
      const find = async (key: string) => (isStored ? store.find(key) : undefined);
      const authenticator = createApiKeyAuthenticator({ find }, () => NOW);
      expect(await authenticator.authenticate(created.key)).toBeUndefined();
      isStored = true;
      expect(await authenticator.authenticate(created.key)).toMatchObject({
        key: created.id,
        scopes: KEY_SCOPES,
      });
    });
  });

  test("authenticate() looks a cached key up again after half a second or an invalidation", async () => {
    const clock = { now: 0 };
    const lookups: string[] = [];
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("a", NOW);
      const store = createKeyStore(database);
      const { key } = await store.create("a", {}, 0);
      const find = (text: string) => {
        lookups.push(text);
        return store.find(text);
      };
      const authenticator = createApiKeyAuthenticator({ find }, () => clock.now);
      for (const now of [0, 1, 499]) {
        clock.now = now;
        await authenticator.authenticate(key);
      }
      expect(lookups).toEqual([key]);
      clock.now = 500;
      await authenticator.authenticate(key);
      expect(lookups).toEqual([key, key]);
      authenticator.invalidate(hashSecret(key));
      await authenticator.authenticate(key);
      expect(lookups).toEqual([key, key, key]);
    });
  });

  test("authenticate() refuses a key at once after invalidate(), and after half a second without it", async () => {
    await withDatabase(async (database) => {
      const account = await createLedgerStore(database).createAccount("a", NOW);
      const store = createKeyStore(database, (hash) => here.invalidate(hash));
      const clock = { now: NOW };
      const here = createApiKeyAuthenticator(store, () => clock.now);
      const elsewhere = createApiKeyAuthenticator(store, () => clock.now);
      const { id, key } = await store.create("a", {}, NOW);
      const caller = expect.objectContaining({ key: id, account: account.id, scopes: KEY_SCOPES });
      expect(await here.authenticate(key)).toEqual(caller);
      expect(await elsewhere.authenticate(key)).toEqual(caller);
      expect(await here.authenticate(`${key}x`)).toBeUndefined();
      await store.revoke(id, NOW);
      expect(await here.authenticate(key)).toBeUndefined();
      clock.now += 499;
      expect(await elsewhere.authenticate(key)).toEqual(caller);
      clock.now += 1;
      expect(await elsewhere.authenticate(key)).toBeUndefined();
    });
  });
});

describe("createKeyStore() with createApiKeyAuthenticator()", () => {
  test("rotate() ends a cached key with its overlap, in this and in other processes", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("a", NOW);
      const keys = createKeyStore(database, (hash) => here.invalidate(hash));
      const clock = { now: NOW };
      const now = () => clock.now;
      const here = createApiKeyAuthenticator(keys, now);
      const elsewhere = createApiKeyAuthenticator(keys, now);
      const first = await keys.create("a", {}, NOW);
      const accept = async (key: string) => [
        (await here.authenticate(key)) !== undefined,
        (await elsewhere.authenticate(key)) !== undefined,
      ];
      expect(await accept(first.key)).toEqual([true, true]);
      const second = await keys.rotate(first.id, 2000, clock.now);
      for (const [at, isOldAccepted] of [
        [1999, true],
        [2000, false],
      ] as const) {
        clock.now = NOW + at;
        expect(await accept(first.key)).toEqual([isOldAccepted, isOldAccepted]);
        expect(await accept(second.key)).toEqual([true, true]);
      }
      await keys.rotate(second.id, 0, clock.now);
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
      authenticator: createApiKeyAuthenticator({ find }, () => clock.now),
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
    expect(await Promise.all(first)).toEqual(first.map(() => FOUND));
    lookups[1]?.resolve(undefined);
    expect(await second).toBeUndefined();
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });

  test("getCachedCaller() keeps a key for half a second from the start of its lookup", async () => {
    const { clock, lookups, authenticator } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    clock.now += 499;
    lookups[0]?.resolve(FOUND);
    expect(await asked).toEqual(FOUND);
    expect(authenticator.getCachedCaller("cm_a")).toEqual(FOUND);
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
    expect(await next).toEqual(FOUND);
  });

  test("invalidate() discards a lookup that runs", async () => {
    const { lookups, authenticator } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    authenticator.invalidate(hashSecret("cm_a"));
    lookups[0]?.resolve(FOUND);
    await asked;
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });
});

describe("createApiKeyAuthenticator() with a key that expires", () => {
  test("authenticate() accepts it until that instant, also while it is cached, and not after", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("a", NOW);
      const store = createKeyStore(database);
      const clock = { now: NOW };
      const expiresAt = NOW + 300;
      const scopes: KeyScope[] = ["creators"];
      const { id, key } = await store.create("a", { scopes, expiresAt }, NOW);
      const authenticator = createApiKeyAuthenticator(store, () => clock.now);
      const caller = expect.objectContaining({ key: id, scopes });
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
      { find: () => lookup.promise },
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
    const authenticator = createApiKeyAuthenticator({ find: async () => found }, () => clock.now);
    expect(await authenticator.authenticate("cm_a")).toEqual(FOUND);
    found = undefined;
    clock.now = NOW - 3_600_000;
    expect(await authenticator.authenticate("cm_a")).toBeUndefined();
    clock.now = NOW + 100;
    expect(authenticator.getCachedCaller("cm_a")).toBeUndefined();
  });
});

describe("getCachedCaller()", () => {
  test("holds at most 10,000 keys", async () => {
    const authenticator = createApiKeyAuthenticator({ find: async () => FOUND }, () => NOW);
    const names = Array.from({ length: 10_001 }, (_, index) => `cm_${index}`);
    for (const name of names) await authenticator.authenticate(name);
    const cached = names.filter((name) => authenticator.getCachedCaller(name) !== undefined);
    expect(cached.length).toBeWithin(1, 10_001);
    expect(cached.at(-1)).toBe("cm_10000");
  });
});
