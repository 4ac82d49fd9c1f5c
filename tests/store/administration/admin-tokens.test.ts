import { describe, expect, test } from "bun:test";
import { generateSecret, hashApiKey } from "../../../server/metering/api-keys.ts";
import { createAdminTokenStore } from "../../../server/store/administration/admin-tokens.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

const createToken = (name: string) => ({ name, hash: hashApiKey(name), beginsWith: "cma_123456" });

describe("createAdminTokenStore()", () => {
  test("list() says since when tokens are revoked, by name or by id", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database);
      const billing = await tokens.create(createToken("billing"), 5);
      const ann = await tokens.create(createToken("ann"), 6);
      await tokens.recordUse(ann, 9);
      const revoked = { id: billing, name: "billing", revokedAt: 7 };
      expect(await tokens.revoke("billing", 7)).toEqual(revoked);
      expect(await tokens.revoke(billing, 8)).toEqual(revoked);
      expect(await tokens.list()).toEqual([
        { ...createToken("billing"), id: billing, createdAt: 5, lastUsedAt: null, revokedAt: 7 },
        { ...createToken("ann"), id: ann, createdAt: 6, lastUsedAt: 9, revokedAt: null },
      ]);
      expect(await resultOrError(tokens.revoke("billing", 9))).toEqual([
        "Not Found",
        "There is no valid token billing",
      ]);
      expect(await resultOrError(tokens.revoke(99, 9))).toEqual([
        "Not Found",
        "There is no valid token 99",
      ]);
    });
  });

  test("list() has all valid tokens, and the last revoked ones", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database);
      await tokens.create(createToken("first"), 0);
      for (let index = 0; index < 210; index++) {
        await tokens.create(createToken(`t${index}`), 0);
        await tokens.revoke(`t${index}`, 1);
      }
      await tokens.create(createToken("last"), 2);
      const names = (await tokens.list()).map(({ name }) => name);
      const revoked = Array.from({ length: 198 }, (_, index) => `t${index + 12}`);
      expect(names).toEqual(["first", ...revoked, "last"]);
    });
  });

  test("create() rejects the name of a valid token, and takes that of a revoked one", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database);
      await tokens.create(createToken("billing"), 0);
      const again = { ...createToken("billing"), hash: hashApiKey("another") };
      expect(await resultOrError(tokens.create(again, 1))).toEqual([
        "Conflict",
        "There is a token billing already; revoke it, or choose another name",
      ]);
      await tokens.revoke("billing", 2);
      await tokens.create(again, 3);
      const valid = (await tokens.list()).filter(({ revokedAt }) => revokedAt === null);
      expect(valid.map(({ hash }) => hash)).toEqual([hashApiKey("another")]);
    });
  });

  test("create() rejects a token beyond 100 valid ones", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database);
      for (let index = 0; index < 100; index++) await tokens.create(createToken(`t${index}`), 0);
      expect(await resultOrError(tokens.create(createToken("t100"), 0))).toEqual([
        "Conflict",
        "There are 100 tokens already; revoke those that nobody uses",
      ]);
      await tokens.revoke("t7", 1);
      await tokens.create(createToken("t100"), 2);
    });
  });

  test("stores no token, only its hash and its first characters", async () => {
    await withDatabase(async (database, file) => {
      const { secret, ...stored } = generateSecret("cma_");
      await createAdminTokenStore(database).create({ name: "a", ...stored }, 0);
      const text = JSON.stringify(await queryFromOtherProcess(file, "SELECT * FROM admin_tokens"));
      expect(text).toContain(hashApiKey(secret));
      expect(text).toContain(secret.slice(0, 10));
      expect(text).not.toContain(secret.slice(0, 11));
      expect(text).not.toContain(secret.slice(10, 20));
    });
  });
});
