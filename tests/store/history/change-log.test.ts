import { describe, expect, test } from "bun:test";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { createKeyStore } from "../../../server/store/accounts/api-keys.ts";
import { createLedgerStore } from "../../../server/store/accounts/ledger.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { LIST_TAGS, recordHistoryRewrites } from "../../../server/store/history/change-log.ts";
import { writeOptimistically } from "../../../server/store/history/optimistic-writes.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { checkAndStore, makeObservation } from "../../support/store/retention.ts";

async function readLastTags(database: Database): Promise<string[]> {
  const [row] = await queryRows(
    database,
    "SELECT tags FROM changes ORDER BY sequence DESC LIMIT 1",
  );
  const tags: string[] = JSON.parse(String(row?.["tags"]));
  return tags.toSorted();
}

describe("recordHistoryRewrites()", () => {
  test.each(ENTITY_KINDS.map((kind) => [kind]))(
    "records the tags of a %s that recordEntityWrites() records",
    async (kind) => {
      await withDatabase(async (database) => {
        await checkAndStore(database, [
          makeObservation(kind, "first", NOW, 1),
          makeObservation(kind, "second", NOW, 2),
        ]);
        const writtenTags = await readLastTags(database);
        const { entityTable } = KIND_TABLES[kind];
        await writeOptimistically(database, async () => ({
          recordChange: recordHistoryRewrites(kind, ["first", "second"]),
          statements: [{ sql: `UPDATE ${entityTable} SET observed_at = observed_at`, args: [] }],
        }));
        // Which users are listed does not depend on the histories of tweets.
        const expected = writtenTags.filter((tag) => kind !== "tweet" || tag !== LIST_TAGS.user);
        expect(await readLastTags(database)).toEqual(expected);
        expect(writtenTags.length).toBeGreaterThan(0);
      });
    },
  );

  test("conflicts with a write of observations meanwhile, but not with a change of a key", async () => {
    await withDatabase(async (database) => {
      await createLedgerStore(database).createAccount("a", NOW);
      const keys = createKeyStore(database);
      const { id } = await keys.create("a", {}, NOW);
      /** Writes once a change was made in between. @returns How often it was planned. */
      const countPlans = async (change: () => Promise<unknown>) => {
        let count = 0;
        await writeOptimistically(database, async () => {
          if (++count === 1) await change();
          const statements = [{ sql: "UPDATE users SET observed_at = observed_at", args: [] }];
          return { recordChange: recordHistoryRewrites("user", ["a"]), statements };
        });
        return count;
      };
      expect(await countPlans(() => keys.revoke(id, NOW))).toBe(1);
      const large = "INSERT INTO changes (uid, tags) VALUES ('large', NULL)";
      expect(await countPlans(() => database.write([{ sql: large, args: [] }]))).toBe(2);
      const small = `INSERT INTO changes (uid, tags) VALUES ('small', '["user b"]')`;
      const writeSmall = async () => {
        await database.write([{ sql: small, args: [] }]);
        await keys.revoke(id, NOW);
      };
      expect(await countPlans(writeSmall)).toBe(2);
    });
  });
});
