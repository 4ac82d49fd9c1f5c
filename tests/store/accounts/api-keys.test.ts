import { describe, expect, test } from "bun:test";
import { parseObservationLine } from "../../../core/observations.ts";
import { hashSecret } from "../../../server/secrets.ts";
import { KEY_SCOPES } from "../../../server/stored-names.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import { createOwnerTag, LIST_TAGS } from "../../../server/store/history/change-log.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { writeObservations } from "../../support/store/observations.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

describe("createKeyStore()", () => {
  test("find() finds keys by their texts until they are revoked", async () => {
    await withDatabase(async (database) => {
      const account = await createLedgerStore(database).createAccount("nasa", 0);
      let changeCount = 0;
      const keys = createKeyStore(database, async () => void changeCount++);
      const kept = await keys.create("nasa", { label: "one" }, 5);
      const revoked = await keys.create("nasa", { label: null, expiresAt: 9 }, 5);
      const stored = { account: account.id, scopes: KEY_SCOPES };
      const foundKept = { [kept.key]: { ...stored, key: kept.id, expiresAt: null } };
      const foundRevoked = { [revoked.key]: { ...stored, key: revoked.id, expiresAt: 9 } };
      const find = async (...texts: string[]) => Object.fromEntries((await keys.find(texts)).found);
      expect(await find()).toEqual({});
      expect(await find(hashSecret(kept.key), "cm_unknown")).toEqual({});
      expect(await find(revoked.key, "cm_unknown", kept.key)).toEqual({
        ...foundRevoked,
        ...foundKept,
      });
      const answer = { id: revoked.id, account: "nasa", revokedAt: 7 };
      expect(changeCount).toBe(0);
      expect(await keys.revoke(revoked.id, 7)).toEqual(answer);
      expect(await keys.revoke(revoked.id, 8)).toEqual(answer);
      expect(await keys.revoke(revoked.key, 9)).toEqual(answer);
      expect(changeCount).toBe(3);
      expect(await find(revoked.key, kept.key)).toEqual(foundKept);
      const shared = { createdAt: 5, scopes: KEY_SCOPES, replacedBy: null };
      const [keptStart, revokedStart] = [kept.key.slice(0, 10), revoked.key.slice(0, 10)];
      expect(await keys.list("nasa")).toEqual([
        {
          ...shared,
          id: kept.id,
          beginsWith: keptStart,
          label: "one",
          expiresAt: null,
          revokedAt: null,
        },
        {
          ...shared,
          id: revoked.id,
          beginsWith: revokedStart,
          label: null,
          expiresAt: 9,
          revokedAt: 7,
        },
      ]);
      expect(await keys.list("esa")).toEqual([]);
      expect(await resultOrError(keys.revoke(99, 0))).toEqual(["Not Found", "There is no key 99"]);
      expect(await resultOrError(keys.revoke("cm_unknown", 0))).toEqual([
        "Not Found",
        "There is no key with this text",
      ]);
      expect(changeCount).toBe(3);
    });
  });

  test("find() lists the keys that were revoked or replaced, beside the writes of observations", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("nasa", 0);
      const keys = createKeyStore(database);
      const [first, second] = [await keys.create("nasa", {}, 5), await keys.create("nasa", {}, 5)];
      const readChanges = async (since?: number) => (await keys.find([], since)).changes;
      expect(await readChanges()).toEqual({ sequence: 0, tags: undefined, keys: undefined });
      expect(await readChanges(0)).toEqual({ sequence: 0, tags: [], keys: [] });
      await keys.revoke(second.id, 6);
      await keys.rotate(first.id, 10, 6);
      expect(await resultOrError(keys.rotate(first.id, 10, 7))).toBeArray();
      expect(await readChanges(0)).toMatchObject({ sequence: 2, keys: [second.id, first.id] });
      const line = '{"kind":"user","observedAt":"2026-09-01","username":"Nasa"}';
      await writeObservations(database, [parseObservationLine(line, NOW)]);
      expect(await readChanges(1)).toMatchObject({ sequence: 3, keys: [first.id] });
      expect(await readChanges(2)).toEqual({
        sequence: 3,
        tags: [createOwnerTag("user", "nasa"), LIST_TAGS.user],
        keys: [],
      });
      const unknown = { tags: undefined, keys: undefined };
      expect(await readChanges(4)).toEqual({ sequence: 3, ...unknown });
      await database.write([{ sql: "DELETE FROM changes WHERE sequence < 3", args: [] }]);
      expect(await readChanges(1)).toEqual({ sequence: 3, ...unknown });
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
