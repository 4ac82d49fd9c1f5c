import { describe, expect, test } from "bun:test";
import { hashSecret } from "../../../server/secrets.ts";
import {
  createAdminSessionStore,
  SESSION_MS,
} from "../../../server/store/administration/admin-sessions.ts";
import { withDatabase } from "../../support/store/database.ts";

const BY_ADMIN_TOKEN = { actor: "ADMIN_TOKEN", token: null };

describe("createAdminSessionStore()", () => {
  test("open() opens at most 100 sessions, also at once, and again after they have expired", async () => {
    await withDatabase(async (database) => {
      let now = 0;
      const store = createAdminSessionStore(database, "secret", () => now);
      const open = () =>
        Promise.allSettled(Array.from({ length: 120 }, () => store.open(BY_ADMIN_TOKEN)));
      const count = async () =>
        (await open()).filter(({ status }) => status === "fulfilled").length;
      expect(await count()).toBe(100);
      now = SESSION_MS - 1;
      expect(await count()).toBe(0);
      now = SESSION_MS;
      expect(await count()).toBe(100);
    });
  });

  test("authenticate() reads once for all wrong sessions of a turn, and not for a known one", async () => {
    await withDatabase(async (database) => {
      let reads = 0;
      const counting: typeof database = {
        ...database,
        queryJson(sql, args) {
          reads++;
          return database.queryJson(sql, args);
        },
      };
      const store = createAdminSessionStore(counting, "secret", () => 0);
      const { session } = await store.open(BY_ADMIN_TOKEN);
      const guesses = Array.from({ length: 500 }, (_, nth) => `cms_${nth}`);
      const found = await Promise.all([session, ...guesses].map(store.authenticate));
      expect(found.filter((each) => each !== undefined)).toMatchObject([{ actor: "ADMIN_TOKEN" }]);
      expect(reads).toBe(1);
      for (let nth = 0; nth < 50; nth++) await store.authenticate(session);
      expect(reads).toBe(1);
    });
  });

  test("authenticate() takes no stored hash, no beginning, and no other text than the session", async () => {
    await withDatabase(async (database) => {
      const store = createAdminSessionStore(database, "secret", () => 0);
      const { session, beginsWith } = await store.open(BY_ADMIN_TOKEN);
      const hashes = await database.queryRows("SELECT hash FROM admin_sessions");
      const hash = String(hashes[0]?.["hash"]);
      // Not even who knows an earlier ADMIN_TOKEN can send a text with the stored hash.
      expect(hash).not.toBe(hashSecret(session));
      for (const text of [
        hash,
        beginsWith,
        `${session} `,
        `${session} secret`,
        session.slice(0, -1),
      ])
        expect(await store.authenticate(text)).toBeUndefined();
      expect(await store.authenticate(session)).toMatchObject({
        beginsWith,
        expiresAt: SESSION_MS,
      });
    });
  });

  test("endAll() ends the sessions of one token, and says how many were valid", async () => {
    await withDatabase(async (database) => {
      let now = 0;
      const store = createAdminSessionStore(database, undefined, () => now);
      const insert = "INSERT INTO admin_tokens (id, name, hash, begins_with, created_at) VALUES";
      await database.write([
        { sql: `${insert} (7, 'ann', 'a', 'a', 0), (8, 'bob', 'b', 'b', 0)`, args: [] },
      ]);
      const ofAnn = await store.open({ actor: "ann", token: 7 });
      const ofBob = await store.open({ actor: "bob", token: 8 });
      now = 1;
      await store.open({ actor: "ann", token: 7 });
      expect(await store.endAll({ token: 7 })).toBe(2);
      expect(await store.endAll({ token: 7 })).toBe(0);
      expect(await store.authenticate(ofAnn.session)).toBeUndefined();
      expect(await store.authenticate(ofBob.session)).toMatchObject({ actor: "bob" });
      now = SESSION_MS;
      expect(await store.endAll({ token: 8 })).toBe(0);
    });
  });
});
