import { describe, expect, test } from "bun:test";
import { hashSecret } from "../../../server/secrets.ts";
import { createAdminTokenStore } from "../../../server/store/administration/admin-tokens.ts";
import {
  queryFromOtherProcess,
  resultOrError,
  withDatabase,
} from "../../support/store/database.ts";

describe("createAdminTokenStore()", () => {
  test("list() says since when tokens are revoked, by name, id or text", async () => {
    await withDatabase(async (database) => {
      let now = 5;
      const tokens = createAdminTokenStore(database, () => now);
      const billing = await tokens.create("billing");
      now = 6;
      const ann = await tokens.create("ann");
      const bob = await tokens.create("bob");
      now = 9;
      await tokens.recordUse(ann.id);
      now = 7;
      const revoked = { id: billing.id, name: "billing", revokedAt: 7 };
      expect(await tokens.revoke("billing")).toEqual(revoked);
      expect(await tokens.revoke(bob.token)).toMatchObject({ id: bob.id, name: "bob" });
      now = 8;
      expect(await tokens.revoke(billing.id)).toEqual(revoked);
      const toStored = ({ token }: typeof billing) => ({
        hash: hashSecret(token),
        beginsWith: token.slice(0, 10),
        lastUsedAt: null,
      });
      expect(await tokens.list()).toEqual([
        { ...toStored(billing), id: billing.id, name: "billing", createdAt: 5, revokedAt: 7 },
        { ...toStored(ann), id: ann.id, name: "ann", createdAt: 6, lastUsedAt: 9, revokedAt: null },
        { ...toStored(bob), id: bob.id, name: "bob", createdAt: 6, revokedAt: 7 },
      ]);
      for (const [token, shown] of [
        ["billing", "billing"],
        [99, "99"],
        [bob.token, `${bob.token.slice(0, 10)}…`],
      ] as const) {
        expect(await resultOrError(tokens.revoke(token))).toEqual([
          "Not Found",
          `There is no valid token ${shown}`,
        ]);
      }
    });
  });

  test("list() has all valid tokens, and the last revoked ones", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database, () => 0);
      await tokens.create("first");
      for (let index = 0; index < 210; index++) {
        await tokens.create(`t${index}`);
        await tokens.revoke(`t${index}`);
      }
      await tokens.create("last");
      const names = (await tokens.list()).map(({ name }) => name);
      const revoked = Array.from({ length: 198 }, (_, index) => `t${index + 12}`);
      expect(names).toEqual(["first", ...revoked, "last"]);
    });
  });

  test("create() rejects the name of a valid token, and takes that of a revoked one", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database, () => 0);
      await tokens.create("billing");
      expect(await resultOrError(tokens.create("billing"))).toEqual([
        "Conflict",
        "There is a token billing already; revoke it, or choose another name",
      ]);
      await tokens.revoke("billing");
      const { token } = await tokens.create("billing");
      const valid = (await tokens.list()).filter(({ revokedAt }) => revokedAt === null);
      expect(valid.map(({ hash }) => hash)).toEqual([hashSecret(token)]);
    });
  });

  test("create() rejects a token beyond 100 valid ones", async () => {
    await withDatabase(async (database) => {
      const tokens = createAdminTokenStore(database, () => 0);
      for (let index = 0; index < 100; index++) await tokens.create(`t${index}`);
      expect(await resultOrError(tokens.create("t100"))).toEqual([
        "Conflict",
        "There are 100 tokens already; revoke those that nobody uses",
      ]);
      await tokens.revoke("t7");
      await tokens.create("t100");
    });
  });

  test("stores no token, only its hash and its first characters", async () => {
    await withDatabase(async (database, file) => {
      const { token } = await createAdminTokenStore(database, () => 0).create("a");
      const text = JSON.stringify(await queryFromOtherProcess(file, "SELECT * FROM admin_tokens"));
      expect(text).toContain(hashSecret(token));
      expect(text).toContain(token.slice(0, 10));
      expect(text).not.toContain(token.slice(0, 11));
      expect(text).not.toContain(token.slice(10, 20));
    });
  });
});
