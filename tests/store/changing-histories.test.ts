/** Chunks are packed anew all the time; who reads in several steps must not miss what is there. */
import { describe, expect, test } from "bun:test";
import { HOUR_MS, MINUTE_MS } from "../../core/time.ts";
import { exportObservations } from "../../server/store/export.ts";
import { microblogStore } from "../../server/store/microblog.ts";
import type { Database } from "../../server/store/database.ts";
import { writeDecided } from "../../server/store/decided.ts";
import { tellWritten } from "../../server/store/changes.ts";
import { NOW } from "../support/arbitraries.ts";
import { rowsOf, sent, withDatabase } from "../support/database.ts";
import { apply, observe, policyOf, valueOf } from "../support/retention.ts";

async function instantsOf(lines: AsyncIterable<Record<string, unknown>>): Promise<string[]> {
  return (await Array.fromAsync(lines)).map(({ observedAt }) => String(observedAt));
}

describe("an export", () => {
  test("has what retention leaves, also of a history that is thinned behind and before it", async () => {
    await withDatabase(async (database) => {
      const hours = Array.from({ length: 20_000 }, (_, index) => NOW - index * HOUR_MS);
      await observe(
        database,
        hours.map((at, index) => valueOf("user", "u", at, (index * 7919) % 1_000_000)),
      );
      const lines = exportObservations(database, { kind: "user" });
      const exported: string[] = [];
      for (let count = 0; count < 9000; count++) {
        exported.push(String((await lines.next()).value?.["observedAt"]));
      }
      await apply(database, policyOf("user=40d/day"), "apply");
      exported.push(...(await instantsOf(lines)));
      const left = await instantsOf(exportObservations(database, { kind: "user" }));
      expect(left.length).toBeLessThan(3000);
      expect(new Set(left).difference(new Set(exported))).toEqual(new Set());
      expect(exported).toEqual([...new Set(exported)].toSorted());
    });
  });

  test("has what was there all the time while late observations come in where it is", async () => {
    await withDatabase(async (database) => {
      const values = Array.from({ length: 15_000 }, (_, index) =>
        valueOf("user", "u", NOW - index * MINUTE_MS, (index * 7919) % 1_000_000),
      );
      await observe(database, values);
      const late = (at: number) => valueOf("user", "u", at, 7);
      const startOf = async (chunk: number) => {
        const starts = await rowsOf(database, "SELECT start FROM user_histories ORDER BY start");
        return Number(starts[chunk]?.["start"]);
      };
      // Halved, the chunk has room for more.
      await observe(database, [late((await startOf(99)) + MINUTE_MS / 2)]);
      const before = await instantsOf(exportObservations(database, {}));
      const next = await startOf(100);
      const exported: string[] = [];
      for await (const { observedAt } of exportObservations(database, {})) {
        exported.push(String(observedAt));
        if (Date.parse(String(observedAt)) !== next - MINUTE_MS) continue;
        const minutes = Array.from({ length: 20 }, (_, index) => index);
        await observe(
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

describe("a page of followers", () => {
  test("compares its oldest count with an earlier one, although chunks are packed meanwhile", async () => {
    await withDatabase(async (database) => {
      const hours = Array.from({ length: 24 * 90 }, (_, index) => index);
      // Of 50 days nothing is known; those before were counted every hour.
      const values = hours
        .filter((hour) => hour / 24 >= 62 || hour % 24 === 0)
        .map((hour) => {
          const isKnown = hour / 24 >= 64 || hour / 24 <= 13;
          const value = valueOf("user", "u", NOW - hour * HOUR_MS);
          const following_count = (hour * 7919) % 100_000;
          const followers_count = isKnown ? 1_000_000 - hour : null;
          return Object.assign(value, { followers_count, following_count });
        });
      await observe(database, values);
      const request = { days: 14, page: 0, limit: 100 };
      const oldestOf = async (of: Database) => {
        const { body } = await microblogStore(of).followers("u", request, NOW);
        return sent(body).followers.USER.metrics.at(-1);
      };
      let isDone = false;
      const raced: Database = {
        ...database,
        async document<Value>(sql: string, args: readonly (string | number)[]) {
          const found = await database.document<Value>(sql, args);
          if (!isDone && sql.includes("user_histories")) {
            isDone = true;
            await apply(database, policyOf("user=40d/day"), "apply");
          }
          return found;
        },
      };
      const calm = await oldestOf(database);
      const between = await oldestOf(raced);
      expect([calm, await oldestOf(database)]).toContainEqual(between);
    });
  });
});

describe("a write of observations", () => {
  const unrelated = (minute: number) => valueOf("user", "other", NOW - minute * MINUTE_MS, minute);

  test("is not decided again because somebody wrote of others meanwhile", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      await writeDecided(database, async () => {
        decisions++;
        for (let minute = 0; minute < 50; minute++) await observe(other, [unrelated(minute)]);
        return { tell: tellWritten([{ kind: "user", id: "u", description }]), statements: [NOTED] };
      });
      expect(decisions).toBe(1);
      expect(
        await rowsOf(database, "SELECT subjects FROM changes WHERE subjects = '[\"noted\"]'"),
      ).toHaveLength(1);
    });
  });

  test("is decided again where nobody knows any more what others wrote", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      await observe(other, [unrelated(5000)]);
      await writeDecided(database, async () => {
        const statements = decisions++ > 0 ? [] : Array.from({ length: 1001 }, () => FORGETTABLE);
        if (statements.length > 0) await database.write([...statements, FORGET_OLD]);
        return { tell: tellWritten([{ kind: "user", id: "u", description }]), statements: [NOTED] };
      });
      expect(decisions).toBe(2);
    });
  });

  test("is decided again where somebody wrote of so many that none of them is named", async () => {
    await withDatabase(async (database) => {
      const other = { ...database };
      let decisions = 0;
      const description = { username: { value: "u", at: NOW } };
      const many = Array.from({ length: 300 }, (_, index) =>
        valueOf("user", `user ${index}`, NOW, index),
      );
      await writeDecided(database, async () => {
        if (decisions++ === 0) await observe(other, many);
        return { tell: tellWritten([{ kind: "user", id: "u", description }]), statements: [NOTED] };
      });
      expect(decisions).toBe(2);
    });
  });

  test("writes only the chunks that it changes, wherever in a history they are", async () => {
    await withDatabase(async (database) => {
      const instants = Array.from({ length: 5000 }, (_, index) => NOW - (index + 1) * HOUR_MS);
      await observe(
        database,
        instants.map((at, index) => valueOf("user", "u", at, (index * 7919) % 1_000_000)),
      );
      const kept = "SELECT start, points FROM user_histories";
      const before = await rowsOf(database, kept);
      const written = await observe(
        database,
        [instants[4990], instants[2500], instants[10]].flatMap((at = 0) => [
          valueOf("user", "u", at, 0),
          valueOf("user", "u", at + MINUTE_MS, 5),
        ]),
      );
      expect(written).toEqual({ new: 3, changed: 0, unchanged: 3 });
      const after = new Set((await rowsOf(database, kept)).map((row) => JSON.stringify(row)));
      const changed = before.filter((row) => !after.has(JSON.stringify(row)));
      expect(before.length).toBeGreaterThan(40);
      expect(changed.length).toBe(3);
      expect(await instantsOf(exportObservations(database, {}))).toHaveLength(5003);
    });
  });
});

const NOTED = { sql: "INSERT INTO changes (uid, subjects) VALUES ('n', '[\"noted\"]')", args: [] };
const FORGETTABLE = { sql: "INSERT INTO changes (uid, subjects) VALUES ('f', '[]')", args: [] };
const FORGET_OLD = {
  sql: "DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - 1000",
  args: [],
};
