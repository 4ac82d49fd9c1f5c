import { describe, expect, test } from "bun:test";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import type { Database } from "../../../server/store/database/database.ts";
import {
  LIST_TAGS,
  recordHistoryRewrites,
  writeOptimistically,
} from "../../../server/store/history/change-log.ts";
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
});
