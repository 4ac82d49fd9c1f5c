import { describe, expect, test } from "bun:test";
import { compareText } from "../../../core/text.ts";
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

  test("lists by kind, identifier and instant, whatever order the observations came in", async () => {
    const ids = ["b", "\u{1f372}", "a", "\uff01", "10", "9"];
    const values = Array.from({ length: 600 }, (_, nth) => {
      const kind = (["tweet", "channel"] as const)[nth % 2] ?? "tweet";
      return makeObservation(kind, ids[nth % ids.length] ?? "", NOW - (nth % 150), nth % 7);
    });
    const exportAll = (order: readonly (typeof values)[number][]) =>
      withDatabase(async (database) => {
        for (let from = 0; from < order.length; from += 90) {
          await checkAndStore(database, order.slice(from, from + 90));
        }
        const options = [{}, { kind: "tweet" }, { since: NOW - 40 }, { ids }] as const;
        return Promise.all(
          options.map(async (option) =>
            (await Array.fromAsync(exportObservations(database, option))).map((line) =>
              JSON.stringify(line),
            ),
          ),
        );
      });
    const [all = [], tweets, since, named] = await exportAll(values);
    expect(await exportAll(values.toReversed())).toEqual([all, tweets, since, named] as string[][]);
    expect(named).toEqual(all);
    const positions = all.map((line) => JSON.parse(line));
    expect(positions).toEqual(
      positions.toSorted(
        (a, b) =>
          compareText(a.kind, b.kind) ||
          compareText(a.id, b.id) ||
          Date.parse(a.observedAt) - Date.parse(b.observedAt),
      ),
    );
    expect(new Set(positions.map(({ id }) => id)).size).toBe(ids.length);
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
