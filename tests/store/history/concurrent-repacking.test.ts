/** Chunks are rewritten all the time: a reader that takes several steps must not miss points. */
import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { recordEntityWrites } from "../../../server/store/history/change-log.ts";
import { writeOptimistically } from "../../../server/store/history/optimistic-writes.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, jsonRoundTrip, withDatabase } from "../../support/store/database.ts";
import {
  applyPolicy,
  checkAndStore,
  parsePolicy,
  makeObservation,
} from "../../support/store/retention.ts";

async function collectInstants(lines: AsyncIterable<Record<string, unknown>>): Promise<string[]> {
  return (await Array.fromAsync(lines)).map(({ observedAt }) => String(observedAt));
}

describe("exportObservations() while chunks are rewritten", () => {
  test("exports all that retention leaves before and after its position", async () => {
    await withDatabase(async (database) => {
      const hours = Array.from({ length: 20_000 }, (_, index) => NOW - index * HOUR_MS);
      await checkAndStore(
        database,
        hours.map((at, index) => makeObservation("user", "u", at, (index * 7919) % 1_000_000)),
      );
      const lines = exportObservations(database, { kind: "user" });
      const exported: string[] = [];
      for (let count = 0; count < 9000; count++) {
        exported.push(String((await lines.next()).value?.["observedAt"]));
      }
      await applyPolicy(database, parsePolicy("user=40d/day"));
      exported.push(...(await collectInstants(lines)));
      const left = await collectInstants(exportObservations(database, { kind: "user" }));
      expect(left.length).toBeLessThan(3000);
      expect(new Set(left).difference(new Set(exported))).toEqual(new Set());
      expect(exported).toEqual([...new Set(exported)].toSorted());
    });
  });

  test("exports all older points while late observations are written at its position", async () => {
    await withDatabase(async (database) => {
      const values = Array.from({ length: 15_000 }, (_, index) =>
        makeObservation("user", "u", NOW - index * MINUTE_MS, (index * 7919) % 1_000_000),
      );
      await checkAndStore(database, values);
      const late = (at: number) => makeObservation("user", "u", at, 7);
      const startOf = async (chunk: number) => {
        const starts = await queryRows(database, "SELECT start FROM user_histories ORDER BY start");
        return Number(starts[chunk]?.["start"]);
      };
      // Halved, the chunk has room for more.
      await checkAndStore(database, [late((await startOf(99)) + MINUTE_MS / 2)]);
      const before = await collectInstants(exportObservations(database, {}));
      const next = await startOf(100);
      const exported: string[] = [];
      for await (const { observedAt } of exportObservations(database, {})) {
        exported.push(String(observedAt));
        if (Date.parse(String(observedAt)) !== next - MINUTE_MS) continue;
        const minutes = Array.from({ length: 20 }, (_, index) => index);
        await checkAndStore(
          database,
          [-0.5, ...minutes.map((minute) => minute + 0.3)].map((minute) =>
            late(next + minute * MINUTE_MS),
          ),
        );
      }
      expect(exported.length).toBeGreaterThanOrEqual(before.length);
      expect(new Set(before).difference(new Set(exported))).toEqual(new Set());
    });
  });
});

describe("readFollowers() while chunks are rewritten", () => {
  test("compares its oldest count with the one before it", async () => {
    await withDatabase(async (database) => {
      const hours = Array.from({ length: 24 * 90 }, (_, index) => index);
      // 50 days without known counts, and before them a count every hour.
      const values = hours
        .filter((hour) => hour / 24 >= 62 || hour % 24 === 0)
        .map((hour) => {
          const isKnown = hour / 24 >= 64 || hour / 24 <= 13;
          const value = makeObservation("user", "u", NOW - hour * HOUR_MS);
          const following_count = (hour * 7919) % 100_000;
          const followers_count = isKnown ? 1_000_000 - hour : null;
          return Object.assign(value, { followers_count, following_count });
        });
      await checkAndStore(database, values);
      const request = { days: 14, page: 0, limit: 100 };
      const readOldest = async (source: Database) => {
        const { body } = await createMicroblogReads(source).followers("u", request, NOW);
        return jsonRoundTrip(body).followers.USER.metrics.at(-1);
      };
      let isDone = false;
      const raced: Database = {
        ...database,
        async queryJson<Value>(sql: string, args: readonly (string | number)[]) {
          const value = await database.queryJson<Value>(sql, args);
          if (!isDone && sql.includes("user_histories")) {
            isDone = true;
            await applyPolicy(database, parsePolicy("user=40d/day"));
          }
          return value;
        },
      };
      const calm = await readOldest(database);
      const between = await readOldest(raced);
      expect([calm, await readOldest(database)]).toContainEqual(between);
    });
  });
});

describe("writeObservations() while others write", () => {
  const unrelated = (minute: number) =>
    makeObservation("user", "other", NOW - minute * MINUTE_MS, minute);

  test("is not repeated when others wrote other entities", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      await writeOptimistically(database, async () => {
        decisions++;
        for (let minute = 0; minute < 50; minute++) await checkAndStore(other, [unrelated(minute)]);
        return {
          recordChange: recordEntityWrites([{ kind: "user", id: "u", attributes: description }]),
          statements: [INSERT_MARKED_CHANGE],
        };
      });
      expect(decisions).toBe(1);
      expect(
        await queryRows(database, "SELECT tags FROM changes WHERE tags = '[\"noted\"]'"),
      ).toHaveLength(1);
    });
  });

  test("is repeated when the changes of others are deleted already", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      await checkAndStore(other, [unrelated(5000)]);
      await writeOptimistically(database, async () => {
        const statements =
          decisions++ > 0 ? [] : Array.from({ length: 1001 }, () => INSERT_EMPTY_CHANGE);
        if (statements.length > 0) await database.write([...statements, DELETE_OLD_CHANGES]);
        return {
          recordChange: recordEntityWrites([{ kind: "user", id: "u", attributes: description }]),
          statements: [INSERT_MARKED_CHANGE],
        };
      });
      expect(decisions).toBe(2);
    });
  });

  test("is repeated when others wrote too many entities to list", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      const many = Array.from({ length: 300 }, (_, index) =>
        makeObservation("user", `user ${index}`, NOW, index),
      );
      await writeOptimistically(database, async () => {
        if (decisions++ === 0) await checkAndStore(other, many);
        return {
          recordChange: recordEntityWrites([{ kind: "user", id: "u", attributes: description }]),
          statements: [INSERT_MARKED_CHANGE],
        };
      });
      expect(decisions).toBe(2);
    });
  });

  test("writes only the chunks that it changes, anywhere in a history", async () => {
    await withDatabase(async (database) => {
      const instants = Array.from({ length: 5000 }, (_, index) => NOW - (index + 1) * HOUR_MS);
      await checkAndStore(
        database,
        instants.map((at, index) => makeObservation("user", "u", at, (index * 7919) % 1_000_000)),
      );
      const kept = "SELECT start, points FROM user_histories";
      const before = await queryRows(database, kept);
      const written = await checkAndStore(
        database,
        [instants[4990], instants[2500], instants[10]].flatMap((at = 0) => [
          makeObservation("user", "u", at, 0),
          makeObservation("user", "u", at + MINUTE_MS, 5),
        ]),
      );
      expect(written).toEqual({ new: 3, changed: 0, unchanged: 3 });
      const after = new Set((await queryRows(database, kept)).map((row) => JSON.stringify(row)));
      const changed = before.filter((row) => !after.has(JSON.stringify(row)));
      expect(before.length).toBeGreaterThan(40);
      expect(changed.length).toBe(3);
      expect(await collectInstants(exportObservations(database, {}))).toHaveLength(5003);
    });
  });
});

const INSERT_MARKED_CHANGE = {
  sql: "INSERT INTO changes (uid, tags) VALUES ('n', '[\"noted\"]')",
  args: [],
};
const INSERT_EMPTY_CHANGE = {
  sql: "INSERT INTO changes (uid, tags) VALUES ('f', '[]')",
  args: [],
};
const DELETE_OLD_CHANGES = {
  sql: "DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - 1000",
  args: [],
};
