import { describe, expect, test } from "bun:test";
import { hashSecret } from "../../../server/secrets.ts";
import { KEY_SCOPES } from "../../../server/stored-names.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

describe("createKeyStore()", () => {
  test("find() finds a key by its text until it is revoked", async () => {
    await withDatabase(async (database) => {
      const account = await createLedgerStore(database).createAccount("nasa", 0);
      const changed: string[] = [];
      const keys = createKeyStore(database, (hash) => changed.push(hash));
      const kept = await keys.create("nasa", { label: "one" }, 5);
      const revoked = await keys.create("nasa", { label: null }, 5);
      const toFound = ({ id, key }: typeof kept) => ({
        key: id,
        hash: hashSecret(key),
        account: account.id,
        scopes: KEY_SCOPES,
        expiresAt: null,
      });
      expect(await keys.find(hashSecret(kept.key))).toBeUndefined();
      expect(await keys.find("cm_unknown")).toBeUndefined();
      expect(await keys.find(revoked.key)).toEqual(toFound(revoked));
      const answer = { id: revoked.id, account: "nasa", revokedAt: 7 };
      expect(changed).toEqual([]);
      expect(await keys.revoke(revoked.id, 7)).toEqual(answer);
      expect(await keys.revoke(revoked.id, 8)).toEqual(answer);
      expect(await keys.revoke(revoked.key, 9)).toEqual(answer);
      expect(new Set(changed)).toEqual(new Set([hashSecret(revoked.key)]));
      expect(await keys.find(revoked.key)).toBeUndefined();
      expect(await keys.find(kept.key)).toEqual(toFound(kept));
      const shared = { createdAt: 5, scopes: KEY_SCOPES, expiresAt: null, replacedBy: null };
      const [keptStart, revokedStart] = [kept.key.slice(0, 10), revoked.key.slice(0, 10)];
      expect(await keys.list("nasa")).toEqual([
        { ...shared, id: kept.id, beginsWith: keptStart, label: "one", revokedAt: null },
        { ...shared, id: revoked.id, beginsWith: revokedStart, label: null, revokedAt: 7 },
      ]);
      expect(await keys.list("esa")).toEqual([]);
      expect(await resultOrError(keys.revoke(99, 0))).toEqual(["Not Found", "There is no key 99"]);
      expect(await resultOrError(keys.revoke("cm_unknown", 0))).toEqual([
        "Not Found",
        "There is no key with this text",
      ]);
    });
  });

  test("create() rejects the name of an account that does not exist", async () => {
    await withDatabase(async (database) => {
      expect(await resultOrError(createKeyStore(database).create("esa", {}, 0))).toEqual([
        "Not Found",
        "There is no account esa",
      ]);
    });
  });

  test("stores no key, only its first characters", async () => {
    await withDatabase(async (database, file) => {
      await createLedgerStore(database).createAccount("nasa", 0);
      const { key } = await createKeyStore(database).create("nasa", {}, 0);
      const stored = JSON.stringify(await queryFromOtherProcess(file, "SELECT * FROM keys"));
      expect(stored).toContain(hashSecret(key));
      expect(stored).toContain(key.slice(0, 10));
      expect(stored).not.toContain(key.slice(0, 11));
      expect(stored).not.toContain(key.slice(10, 20));
    });
  });

  test("rotate() copies a key, and ends the old one at the earlier of two instants", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("nasa", 0);
      const keys = createKeyStore(database);
      const create = async (expiresAt: number | null) =>
        (await keys.create("nasa", { label: "l", scopes: ["read"], expiresAt }, 5)).id;
      const [endless, ending] = [await create(null), await create(100)];
      const rotate = (id: number, expiresAt: number, now: number) =>
        keys.rotate(id, expiresAt - now, now);
      expect(await rotate(endless, 50, 10)).toMatchObject({ id: 3, oldExpiresAt: 50 });
      expect(await rotate(ending, 200, 10)).toMatchObject({ id: 4, oldExpiresAt: 100 });
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
      await keys.revoke(3, 30);
      expect(await resultOrError(rotate(3, 99, 31))).toEqual([
        "Conflict",
        "Key 3 is revoked; create a new key instead",
      ]);
      expect(await resultOrError(rotate(9, 99, 31))).toEqual(["Not Found", "There is no key 9"]);
      expect((await keys.list("nasa")).length).toBe(4);
    });
  });
});
