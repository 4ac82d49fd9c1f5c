import { describe, expect, test } from "bun:test";
import { createApiKeyAuthenticator } from "../../server/metering/api-keys.ts";
import { KEY_SCOPES, type KeyScope } from "../../server/stored-names.ts";
import { createKeyStore, type KeyStore } from "../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../server/store/accounts/ledger.ts";
import { makeCharge } from "../support/store/debits.ts";
import { withDatabase } from "../support/store/database.ts";

const NOW = 1_790_000_000_000;

/** The authenticators of two processes that share a database, and what they look up. */
function withTwoProcesses(
  use: (given: ReturnType<typeof startTwoProcesses>) => Promise<void>,
): Promise<void> {
  return withDatabase(async (database) => {
    await createLedgerStore(database).createAccount("a", NOW);
    await use(startTwoProcesses(database));
  });
}

function startTwoProcesses(database: Parameters<typeof createKeyStore>[0]) {
  const clock = { now: NOW };
  const lookups: (readonly string[])[] = [];
  const keys = createKeyStore(database, () => here.readChanges());
  const find: KeyStore["find"] = (texts, since) => {
    lookups.push(texts);
    return keys.find(texts, since);
  };
  const here = createApiKeyAuthenticator({ find }, () => clock.now);
  const elsewhere = createApiKeyAuthenticator({ find }, () => clock.now);
  const accept = async (key: string) => [
    (await here.authenticate(key)) !== undefined,
    (await elsewhere.authenticate(key)) !== undefined,
  ];
  return { database, clock, keys, lookups, here, elsewhere, accept };
}

/** What a commit of another process's debits lists. */
async function commitDebit(database: Parameters<typeof createKeyStore>[0], since?: number) {
  const batch = { id: crypto.randomUUID(), now: NOW, since };
  return (await createLedgerStore(database).debit([makeCharge(1)], batch)).changes;
}

describe("createApiKeyAuthenticator()", () => {
  test("authenticate() looks an unknown key up each time, and accepts it once it is created", async () => {
    await withTwoProcesses(async ({ keys, lookups, here }) => {
      const { id, key } = await keys.create("a", {}, NOW);
      expect(await here.authenticate(`${key}x`)).toBeUndefined();
      expect(await here.authenticate(`${key}x`)).toBeUndefined();
      expect(lookups).toEqual([[`${key}x`], [`${key}x`]]);
      expect(await here.authenticate(key)).toMatchObject({ key: id, scopes: KEY_SCOPES });
    });
  });

  test("authenticate() needs one lookup in half a second to keep all keys valid", async () => {
    await withTwoProcesses(async ({ clock, keys, lookups, here }) => {
      const [a, b] = [await keys.create("a", {}, 0), await keys.create("a", {}, 0)];
      await here.authenticate(a.key);
      for (const ms of [0, 1, 499]) {
        clock.now = NOW + ms;
        await here.authenticate(a.key);
        await here.authenticate(b.key);
      }
      expect(lookups).toEqual([[a.key], [b.key]]);
      clock.now = NOW + 500;
      expect(await here.authenticate(a.key)).toMatchObject({ key: a.id });
      expect(here.authenticate(b.key)).toMatchObject({ key: b.id });
      expect(lookups).toEqual([[a.key], [b.key], [a.key]]);
    });
  });

  test("authenticate() needs no lookup while commits list the changes", async () => {
    await withTwoProcesses(async ({ database, clock, keys, lookups, here }) => {
      const { id, key } = await keys.create("a", {}, 0);
      await here.authenticate(key);
      // The first commit of a process knows no change before it.
      here.applyChanges(await commitDebit(database), clock.now);
      for (let commits = 0; commits < 10; commits++) {
        clock.now += 499;
        here.applyChanges(await commitDebit(database, 0), clock.now);
        expect(here.authenticate(key)).toMatchObject({ key: id });
      }
      expect(lookups.length).toBe(1);
      // The read of the log counts from its start.
      here.applyChanges(await commitDebit(database, 0), clock.now - 500);
      await here.authenticate(key);
      expect(lookups.length).toBe(2);
    });
  });

  test("authenticate() refuses a revoked key at once here, elsewhere after half a second", async () => {
    await withTwoProcesses(async ({ clock, keys, accept }) => {
      const { id, key } = await keys.create("a", {}, NOW);
      expect(await accept(key)).toEqual([true, true]);
      await keys.revoke(id, NOW);
      expect(await accept(key)).toEqual([false, true]);
      clock.now += 499;
      expect(await accept(key)).toEqual([false, true]);
      clock.now += 1;
      expect(await accept(key)).toEqual([false, false]);
    });
  });

  test("authenticate() refuses a revoked key elsewhere at once after a commit, and keeps other keys", async () => {
    await withTwoProcesses(async ({ database, keys, accept, elsewhere, lookups }) => {
      const [kept, revoked] = [await keys.create("a", {}, 0), await keys.create("a", {}, 0)];
      expect([await accept(kept.key), await accept(revoked.key)].flat()).not.toContain(false);
      await keys.revoke(revoked.id, NOW);
      elsewhere.applyChanges(await commitDebit(database, 0), NOW);
      expect(await accept(revoked.key)).toEqual([false, false]);
      const { length } = lookups;
      expect(elsewhere.authenticate(kept.key)).toMatchObject({ key: kept.id });
      expect(lookups.length).toBe(length);
    });
  });

  test("rotate() ends a cached key with its overlap, in this and in other processes", async () => {
    await withTwoProcesses(async ({ clock, keys, accept }) => {
      const first = await keys.create("a", {}, NOW);
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

  test("applyChanges() keeps keys after a write whose tags are unknown, and none after a gap", async () => {
    await withTwoProcesses(async ({ database, keys, here, lookups }) => {
      const { id, key } = await keys.create("a", {}, NOW);
      await here.authenticate(key);
      const insert = { sql: "INSERT INTO changes (uid, tags) VALUES ('large', NULL)", args: [] };
      await database.write([insert]);
      const large = await commitDebit(database, 0);
      expect(large).toEqual({ sequence: 1, published: 0, tags: undefined, keys: [] });
      here.applyChanges(large, NOW);
      expect(here.authenticate(key)).toMatchObject({ key: id });
      expect(lookups.length).toBe(1);
      const deleteOld = { sql: "DELETE FROM changes WHERE sequence < 3", args: [] };
      await database.write([insert, insert, deleteOld]);
      const gap = await commitDebit(database, 1);
      expect(gap).toEqual({ sequence: 3, published: 0, tags: undefined, keys: undefined });
      here.applyChanges(gap, NOW);
      await here.authenticate(key);
      expect(lookups.length).toBe(2);
    });
  });
});

describe("createApiKeyAuthenticator() with a key that expires", () => {
  test("authenticate() accepts it until that instant, also while it is cached, and not after", async () => {
    await withTwoProcesses(async ({ clock, keys, here }) => {
      const expiresAt = NOW + 300;
      const scopes: KeyScope[] = ["creators"];
      const { id, key } = await keys.create("a", { scopes, expiresAt }, NOW);
      const caller = expect.objectContaining({ key: id, scopes });
      expect(await here.authenticate(key)).toEqual(caller);
      clock.now = expiresAt - 1;
      expect(here.authenticate(key)).toEqual(caller);
      for (const now of [expiresAt, expiresAt + 1, expiresAt + 10_000]) {
        clock.now = now;
        expect(await here.authenticate(key)).toBeUndefined();
      }
    });
  });
});
