import { describe, expect, test } from "bun:test";
import { createApiKeyAuthenticator } from "../../server/metering/api-keys.ts";
import { KEY_SCOPES } from "../../server/stored-names.ts";
import type { KeyLookup, KeyStore, StoredKey } from "../../server/store/accounts/api-keys.ts";
import type { ChangeSet } from "../../server/store/history/change-log.ts";

const NOW = 1_790_000_000_000;

const FOUND: StoredKey = { key: 1, account: 4, scopes: KEY_SCOPES, expiresAt: null };

const NO_CHANGES: ChangeSet = { sequence: 0, tags: [], keys: [] };

/** An authenticator whose lookups wait to be answered. */
function startAuthenticator() {
  const clock = { now: NOW };
  const lookups: (PromiseWithResolvers<KeyLookup> & {
    texts: readonly string[];
    since: number | undefined;
  })[] = [];
  const find: KeyStore["find"] = (texts, since) => {
    const lookup = { ...Promise.withResolvers<KeyLookup>(), texts, since };
    lookups.push(lookup);
    return lookup.promise;
  };
  const authenticator = createApiKeyAuthenticator({ find }, () => clock.now);
  /** Answers a lookup: all keys are found but those named. */
  function answer(index: number, changes = NO_CHANGES, unknown: readonly string[] = []): void {
    const texts = lookups[index]?.texts.filter((text) => !unknown.includes(text)) ?? [];
    lookups[index]?.resolve({ found: new Map(texts.map((text) => [text, FOUND])), changes });
  }
  return { clock, lookups, authenticator, answer };
}

const waitForEndOfTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("createApiKeyAuthenticator() while lookups are slow", () => {
  test("authenticate() looks up the keys of one turn of the event loop together, 32 at most", async () => {
    const { lookups, authenticator, answer } = startAuthenticator();
    const texts = Array.from({ length: 70 }, (_, index) => `cm_${index % 35}`);
    const callers = texts.map((text) => authenticator.authenticate(text));
    expect(lookups.length).toBe(0);
    await waitForEndOfTurn();
    expect(lookups.map((lookup) => lookup.texts)).toEqual([
      texts.slice(0, 32),
      texts.slice(32, 64),
      texts.slice(64, 70),
    ]);
    answer(0);
    answer(1, NO_CHANGES, ["cm_33"]);
    answer(2);
    const expected = texts.map((text, index) =>
      text === "cm_33" && index < 64 ? undefined : FOUND,
    );
    expect(await Promise.all(callers)).toEqual(expected);
  });

  test("authenticate() never takes the result of a lookup that ran before it was called", async () => {
    const { lookups, authenticator, answer } = startAuthenticator();
    const first = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    const second = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    expect(lookups.length).toBe(2);
    answer(1, { sequence: 1, tags: [], keys: [1] }, ["cm_a"]);
    expect(await second).toBeUndefined();
    answer(0);
    expect(await first).toEqual(FOUND);
    // The first lookup read the key before the change.
    void authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    expect(lookups[2]?.since).toBe(1);
  });

  test("applyChanges() keeps a lookup that began before the change out of the cache", async () => {
    const { lookups, authenticator, answer } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    authenticator.applyChanges({ sequence: 1, tags: [], keys: [1] }, NOW);
    answer(0);
    expect(await asked).toEqual(FOUND);
    const next = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(1, { sequence: 1, tags: [], keys: [] }, ["cm_a"]);
    expect(await next).toBeUndefined();
    expect(lookups.length).toBe(2);
  });

  test("readChanges() is not undone by changes that were read before and arrive later", async () => {
    const { authenticator, answer } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(0);
    await asked;
    const read = authenticator.readChanges();
    await waitForEndOfTurn();
    answer(1, { sequence: 2, tags: [], keys: [1] });
    await read;
    authenticator.applyChanges({ sequence: 1, tags: [], keys: [] }, NOW);
    const next = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(2, { sequence: 2, tags: [], keys: [] }, ["cm_a"]);
    expect(await next).toBeUndefined();
  });

  test("authenticate() counts half a second from the start of a lookup", async () => {
    const { clock, lookups, authenticator, answer } = startAuthenticator();
    const asked = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    clock.now += 499;
    answer(0);
    expect(await asked).toEqual(FOUND);
    expect(authenticator.authenticate("cm_a")).toEqual(FOUND);
    clock.now += 1;
    void authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    expect(lookups.length).toBe(2);
  });

  test("authenticate() throws the error of a lookup, also for a cached key, and tries again", async () => {
    const { clock, lookups, authenticator, answer } = startAuthenticator();
    const first = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(0);
    await first;
    clock.now += 500;
    const failed = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    lookups[1]?.reject(new Error("No answer"));
    expect(failed).rejects.toThrow("No answer");
    await Promise.allSettled([failed]);
    const next = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(2);
    expect(await next).toEqual(FOUND);
  });

  test("authenticate() accepts no cached key that a log of an older copy does not confirm", async () => {
    const { clock, lookups, authenticator, answer } = startAuthenticator();
    const first = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(0, { sequence: 9, tags: undefined, keys: undefined });
    await first;
    clock.now += 500;
    for (const index of [1, 2]) {
      const asked = authenticator.authenticate("cm_a");
      await waitForEndOfTurn();
      answer(index, { sequence: 5, tags: undefined, keys: undefined }, ["cm_a"]);
      expect(await asked).toBeUndefined();
    }
    expect(lookups.length).toBe(3);
  });

  test("authenticate() refuses an expired key to requests that shared a lookup and come after its end", async () => {
    const { clock, lookups, authenticator } = startAuthenticator();
    const asked = [authenticator.authenticate("cm_a"), authenticator.authenticate("cm_a")];
    await waitForEndOfTurn();
    clock.now = NOW + 100;
    const found = new Map([["cm_a", { ...FOUND, expiresAt: NOW + 100 }]]);
    lookups[0]?.resolve({ found, changes: NO_CHANGES });
    expect(await Promise.all(asked)).toEqual([undefined, undefined]);
  });
});

describe("createApiKeyAuthenticator() with a clock that is set back", () => {
  test("authenticate() does not accept a cached key without a lookup", async () => {
    const { clock, authenticator, answer } = startAuthenticator();
    const first = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(0);
    expect(await first).toEqual(FOUND);
    clock.now = NOW - 3_600_000;
    const second = authenticator.authenticate("cm_a");
    await waitForEndOfTurn();
    answer(1, { sequence: 1, tags: [], keys: [1] }, ["cm_a"]);
    expect(await second).toBeUndefined();
    clock.now = NOW + 100;
    expect(authenticator.authenticate("cm_a")).toBeInstanceOf(Promise);
    await waitForEndOfTurn();
    answer(2);
  });
});

describe("authenticate()", () => {
  test("caches the 100,000 keys that were used last", async () => {
    let next = 0;
    const find: KeyStore["find"] = async (texts) => ({
      found: new Map(texts.map((text) => [text, { ...FOUND, key: ++next }])),
      changes: NO_CHANGES,
    });
    const { authenticate } = createApiKeyAuthenticator({ find }, () => NOW);
    const texts = Array.from({ length: 100_001 }, (_, index) => `cm_${index}`);
    await Promise.all(texts.map(authenticate));
    const isCached = (text: string) => !(authenticate(text) instanceof Promise);
    expect(texts.filter(isCached).length).toBe(100_000);
    expect(isCached("cm_0")).toBe(false);
  });
});
