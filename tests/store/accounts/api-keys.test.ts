import { describe, expect, test } from "bun:test";
import {
  hashApiKey,
  generateApiKey,
  type GeneratedApiKey,
} from "../../../server/metering/api-keys.ts";
import { KEY_SCOPES } from "../../../server/stored-names.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

const pickStored = ({ hash, beginsWith }: GeneratedApiKey) => ({ hash, beginsWith });

describe("createKeyStore()", () => {
  test("findByHash() finds a key by its hash until it is revoked", async () => {
    await withDatabase(async (database) => {
      const account = await createLedgerStore(database).createAccount("nasa", 0);
      const keys = createKeyStore(database);
      const [kept, revoked] = [generateApiKey(), generateApiKey()];
      const create = ({ hash, beginsWith }: typeof kept, label: string | null) =>
        keys.create({ account: account.id, hash, beginsWith, label }, 5);
      const found = { account: account.id, scopes: KEY_SCOPES, expiresAt: null };
      const keptId = await create(kept, "one");
      const revokedId = await create(revoked, null);
      expect(await keys.findByHash(kept.key)).toBeUndefined();
      expect(await keys.findByHash(hashApiKey("cm_unknown"))).toBeUndefined();
      expect(await keys.findByHash(revoked.hash)).toEqual({ id: revokedId, ...found });
      const answer = { id: revokedId, account: "nasa", hash: revoked.hash, revokedAt: 7 };
      expect(await keys.revoke({ id: revokedId }, 7)).toEqual(answer);
      expect(await keys.revoke({ id: revokedId }, 8)).toEqual(answer);
      expect(await keys.revoke({ hash: revoked.hash }, 9)).toEqual(answer);
      expect(await keys.findByHash(revoked.hash)).toBeUndefined();
      expect(await keys.findByHash(kept.hash)).toEqual({ id: keptId, ...found });
      const shared = { createdAt: 5, scopes: KEY_SCOPES, expiresAt: null, replacedBy: null };
      expect(await keys.list("nasa")).toEqual([
        { ...shared, id: keptId, beginsWith: kept.beginsWith, label: "one", revokedAt: null },
        { ...shared, id: revokedId, beginsWith: revoked.beginsWith, label: null, revokedAt: 7 },
      ]);
      expect(await keys.list("esa")).toEqual([]);
      expect(await resultOrError(keys.revoke({ id: 99 }, 0))).toEqual([
        "Not Found",
        "There is no key 99",
      ]);
      expect(await resultOrError(keys.revoke({ hash: hashApiKey("cm_unknown") }, 0))).toEqual([
        "Not Found",
        "There is no key with this text",
      ]);
    });
  });

  test("stores no key, only its first characters", async () => {
    await withDatabase(async (database, file) => {
      const { key, hash, beginsWith } = generateApiKey();
      await createKeyStore(database).create({ account: 1, hash, beginsWith, label: null }, 0);
      const stored = JSON.stringify(await queryFromOtherProcess(file, "SELECT * FROM keys"));
      expect(stored).toContain(hash);
      expect(stored).toContain(key.slice(0, 10));
      expect(stored).not.toContain(key.slice(0, 11));
      expect(stored).not.toContain(key.slice(10, 20));
    });
  });

  test("rotate() copies a key, and ends the old one at the earlier of two instants", async () => {
    await withDatabase(async (database) => {
      const { id: account } = await createLedgerStore(database).createAccount("nasa", 0);
      const keys = createKeyStore(database);
      const old = { ...generateApiKey(), label: "l", scopes: ["read"] as const };
      const create = (expiresAt: number | null) =>
        keys.create({ ...old, ...pickStored(generateApiKey()), account, expiresAt }, 5);
      const [endless, ending] = [await create(null), await create(100)];
      const rotate = (id: number, expiresAt: number, now: number) =>
        keys.rotate(id, pickStored(generateApiKey()), expiresAt, now);
      expect(await rotate(endless, 50, 10)).toMatchObject({ newId: 3, expiresAt: 50 });
      expect(await rotate(ending, 200, 10)).toMatchObject({ newId: 4, expiresAt: 100 });
      expect(await resultOrError(rotate(endless, 60, 20))).toEqual([
        "Conflict",
        "Key 1 was replaced by key 3; rotate that one instead",
      ]);
      const shared = { label: "l", scopes: ["read"], revokedAt: null };
      expect(await keys.list("nasa")).toMatchObject([
        { ...shared, id: 1, createdAt: 5, expiresAt: 50, replacedBy: 3 },
        { ...shared, id: 2, createdAt: 5, expiresAt: 100, replacedBy: 4 },
        { ...shared, id: 3, createdAt: 10, expiresAt: null, replacedBy: null },
        { ...shared, id: 4, createdAt: 10, expiresAt: 100, replacedBy: null },
      ]);
      expect(await resultOrError(rotate(4, 200, 100))).toEqual([
        "Conflict",
        "Key 4 has expired; create a new key instead",
      ]);
      await keys.revoke({ id: 3 }, 30);
      expect(await resultOrError(rotate(3, 99, 31))).toEqual([
        "Conflict",
        "Key 3 is revoked; create a new key instead",
      ]);
      expect(await resultOrError(rotate(9, 99, 31))).toEqual(["Not Found", "There is no key 9"]);
      expect((await keys.list("nasa")).length).toBe(4);
    });
  });

  test("create() rejects a hash that is stored already", async () => {
    await withDatabase(async (database) => {
      const keys = createKeyStore(database);
      const key = { account: 1, hash: "same", beginsWith: "cm_", label: null };
      await keys.create(key, 0);
      const second = await keys.create(key, 0).then(
        () => "stored",
        () => "refused",
      );
      expect(second).toBe("refused");
    });
  });
});
