import { describe, expect, test } from "bun:test";
import type { Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { withDatabase } from "../../support/store/database.ts";
import { checkAndStore, makeObservation } from "../../support/store/retention.ts";

/** Entities with one chunk each. */
const ENTITIES = 200;

describe("exportObservations()", () => {
  test.each([
    ["all is asked for", undefined, ENTITIES],
    ["nothing is new enough", NOW + 1, 0],
  ])("lets the event loop run other tasks when %s", async (_, since, length) => {
    await withDatabase(async (database) => {
      const values = Array.from({ length: ENTITIES }, (__, nth) =>
        makeObservation("channel", `c${nth}`, NOW, nth),
      );
      await checkAndStore(database, values);
      let turns = 0;
      const count = () => {
        turns++;
        turn = setImmediate(count);
      };
      let turn = setImmediate(count);
      const lines = await Array.fromAsync(exportObservations(database, { since }));
      clearImmediate(turn);
      expect(lines.length).toBe(length);
      expect(turns).toBeGreaterThanOrEqual(5);
    });
  });

  test("includes observations at `since`, and none before", async () => {
    await withDatabase(async (database) => {
      await checkAndStore(
        database,
        [NOW - 1, NOW, NOW + 1].map((at) => makeObservation("channel", "c", at, at)),
      );
      const lines = await Array.fromAsync(exportObservations(database, { since: NOW }));
      const instants = lines.map((line) => Date.parse(String(line["observedAt"])));
      expect(instants).toEqual([NOW, NOW + 1]);
    });
  });

  test("exports every attribute while new observations are written", async () => {
    await withDatabase(async (database) => {
      const ids = Array.from({ length: 50 }, (_, nth) => `t${nth}`);
      let now = NOW;
      const come = () => {
        now++;
        return checkAndStore(
          database,
          ids.map((id) => makeObservation("tweet", id, now)),
        );
      };
      await come();
      const busy: Database = {
        ...database,
        async queryRows(statement) {
          const rows = await database.queryRows(statement);
          await come();
          return rows;
        },
        async queryJson<Value>(sql: string, args: readonly (string | number)[]) {
          const found = await database.queryJson<Value>(sql, args);
          await come();
          return found;
        },
      };
      const lines = await Array.fromAsync(exportObservations(busy, {}));
      const described = lines.filter((line) => line["created_at"] !== undefined);
      expect(new Set(described.map((line) => line["id"]))).toEqual(new Set(ids));
    });
  });
});
