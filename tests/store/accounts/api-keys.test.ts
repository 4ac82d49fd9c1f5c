import { describe, expect, test } from "bun:test";
import { hashApiKey, generateApiKey } from "../../../server/metering/api-keys.ts";
import { KEY_SCOPES } from "../../../server/ports/admission.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

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
      const answer = { id: revokedId, hash: revoked.hash, revokedAt: 7 };
      expect(await keys.revoke(revokedId, 7)).toEqual(answer);
      expect(await keys.revoke(revokedId, 8)).toEqual(answer);
      expect(await keys.findByHash(revoked.hash)).toBeUndefined();
      expect(await keys.findByHash(kept.hash)).toEqual({ id: keptId, ...found });
      const shared = { createdAt: 5, scopes: KEY_SCOPES, expiresAt: null };
      expect(await keys.list("nasa")).toEqual([
        { ...shared, id: keptId, beginsWith: kept.beginsWith, label: "one", revokedAt: null },
        { ...shared, id: revokedId, beginsWith: revoked.beginsWith, label: null, revokedAt: 7 },
      ]);
      expect(await keys.list("esa")).toEqual([]);
      expect(await resultOrError(keys.revoke(99, 0))).toEqual(["Not Found", "There is no key 99"]);
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
