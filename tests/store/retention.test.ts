import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KIND_NAMES } from "../../core/kinds.ts";
import { DAY_MS } from "../../core/time.ts";
import { pack } from "../../server/store/chunks.ts";
import type { Statement } from "../../server/store/connection.ts";
import type { Database } from "../../server/store/database.ts";
import { applyRetention } from "../../server/store/retention.ts";
import {
  STEP_MAX_CHUNKS,
  STEP_MAX_ENTITIES,
  STEP_MAX_ROWS,
} from "../../server/store/retention-steps.ts";
import { NOW } from "../support/arbitraries.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { allPointsOf, chunksOf } from "../support/history.ts";
import { apply, historiesOf, keptOf, observe, policyOf, valueOf } from "../support/retention.ts";

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;
const EVERYTHING = policyOf("channel=40d/day,short=40d/day/42d,user=40d/day,tweet=40d");

const offsets = fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1);
const instants = fc.oneof(
  fc.tuple(fc.integer({ min: 38, max: 44 }), offsets),
  fc.tuple(fc.constantFrom(0, 10, 100, 30_000), offsets),
);
const seen = fc.array(
  fc.tuple(fc.constantFrom(...KIND_NAMES), fc.constantFrom("a", "b"), instants),
  { minLength: 1, maxLength: 60 },
);

/** A database that does something else besides, in each write, before its last statement. */
const sabotaged = (database: Database, besides: Statement): Database => ({
  ...database,
  async write(statements, options) {
    const all = [...statements.slice(0, -1), besides, ...statements.slice(-1)];
    const results = await database.write(all, options);
    return results.toSpliced(-2, 1);
  },
});

describe("applyRetention()", () => {
  test("leaves what the core's retain() keeps, and every newest state", async () => {
    await fc.assert(
      fc.asyncProperty(seen, async (all) => {
        await withDatabase(async (database) => {
          await observe(
            database,
            all.map(([kind, id, [day, ms]]) =>
              valueOf(kind, id, Math.min(NOW, TODAY - day * DAY_MS + ms)),
            ),
          );
          const before = await historiesOf(database);
          const counted = await apply(database, EVERYTHING, "count");
          expect(await historiesOf(database)).toEqual(before);
          const report = await apply(database, EVERYTHING);
          expect(await historiesOf(database)).toEqual(keptOf(before, EVERYTHING));
          expect([report.faults, report.isWholeCompared]).toEqual([[], true]);
          expect(report.kinds).toMatchObject(
            counted.kinds.map(({ kind, rule, entities, before: rows, removed, after }) => ({
              kind,
              rule,
              entities,
              before: rows,
              removed,
              after,
            })),
          );
          for (const { stateBefore, stateAfter } of report.kinds)
            expect(stateAfter).toBe(stateBefore);
          const again = await apply(database, EVERYTHING);
          expect(again.kinds.map(({ removed }) => removed)).toEqual([0, 0, 0, 0]);
        });
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("keeps everything of a kind without a rule", async () => {
    await withDatabase(async (database) => {
      const old = [50, 50.1, 51].map((days) => NOW - days * DAY_MS);
      await observe(
        database,
        old.flatMap((at) => [valueOf("user", "u", at), valueOf("channel", "c", at)]),
      );
      const { kinds } = await apply(database, policyOf("channel=40d"));
      expect(kinds).toMatchObject([
        { kind: "channel", rule: "40d", entities: 1, before: 3, removed: 2, after: 1 },
        { kind: "short", rule: "all", entities: 0, before: 0, removed: 0, after: 0 },
        { kind: "user", rule: "all", entities: 1, before: 3, removed: 0, after: 3 },
        { kind: "tweet", rule: "all", entities: 0, before: 0, removed: 0, after: 0 },
      ]);
      const daily = await apply(database, policyOf("channel=40d"), "apply");
      expect(daily.kinds.map(({ kind }) => kind)).toEqual(["channel"]);
    });
  });

  test("what comes in meanwhile is all there, and every step is proved by itself", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      const users = Array.from({ length: 300 }, (_, index) => `u${index}`);
      const old = Array.from({ length: 12 }, (_, hour) => at(50) - hour * 3_600_000);
      await observe(
        database,
        users.flatMap((id) => old.map((instant) => valueOf("user", id, instant))),
      );
      let step = 0;
      const report = await apply(database, policyOf("user=40d"), "prove", async () => {
        step++;
        // What is newest, what is between, and what would not be kept.
        await observe(
          database,
          users.flatMap((id, index) =>
            index % 7 === step % 7
              ? [valueOf("user", id, at(1) + step), valueOf("user", id, at(45) + step)]
              : [valueOf("user", `late${step}`, at(46))],
          ),
        );
      });
      expect([report.faults, report.isWholeCompared]).toEqual([[], false]);
      const user = report.kinds.find(({ kind }) => kind === "user");
      expect(user?.before).toBe((user?.removed ?? 0) + (user?.after ?? 0));
      const settledReport = await apply(database, policyOf("user=40d"));
      expect([settledReport.faults, settledReport.isWholeCompared]).toEqual([[], true]);
      const points = await allPointsOf(database, "user");
      const newest = new Map(points.map((point) => [point.entity, point]));
      const present = await rowsOf(database, "SELECT id, observed_at, followers_count FROM users");
      expect(present).toEqual(
        present.map(({ id }) => ({
          id,
          observed_at: newest.get(String(id))?.at,
          followers_count: newest.get(String(id))?.counts[0],
        })),
      );
      const fresh = points.filter((point) => point.at >= at(2)).map(({ entity }) => entity);
      expect(new Set(fresh).size).toBe(300);
    });
  });

  test("is done in small steps, and writes only where there is something to remove", async () => {
    await withDatabase(async (database) => {
      const minutes = Array.from(
        { length: 5000 },
        (_, minute) => NOW - 50 * DAY_MS - minute * 60_000,
      );
      await observe(
        database,
        minutes.map((at) => valueOf("channel", "busy", at)),
      );
      await observe(
        database,
        Array.from({ length: 500 }, (_, index) => valueOf("channel", `quiet${index}`, NOW - index)),
      );
      const written: number[] = [];
      const watched: Database = {
        ...database,
        async write(statements, options) {
          const results = await database.write(statements, options);
          written.push(Math.max(...results.map(({ rowsAffected }) => rowsAffected)));
          return results;
        },
      };
      const largest = Math.max(
        ...(await chunksOf(database, "channel", "busy")).map(([, size]) => size),
      );
      const busySteps = Math.ceil(5000 / (STEP_MAX_ROWS - largest));
      const sizes: number[] = [];
      const steps = applyRetention(watched, {
        policy: policyOf("channel=40d/day"),
        now: NOW,
        mode: "apply",
        restRatio: 0,
      });
      for await (const size of steps) sizes.push(size);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(5500);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(STEP_MAX_ROWS);
      expect(Math.max(...written)).toBeLessThanOrEqual(STEP_MAX_CHUNKS);
      expect(written.length).toBeGreaterThanOrEqual(5000 / STEP_MAX_ROWS);
      expect(written.length).toBeLessThanOrEqual(busySteps);
      expect(sizes.length).toBeGreaterThanOrEqual(written.length + 475 / STEP_MAX_ENTITIES);
      expect(sizes.length).toBeLessThanOrEqual(busySteps + 500 / STEP_MAX_ENTITIES);
      written.length = 0;
      await apply(watched, policyOf("channel=40d/day"));
      expect(written).toEqual([]);
    });
  });

  test("goes on where it was left", async () => {
    await withDatabase(async (database) => {
      const old = Array.from({ length: 3000 }, (_, minute) => NOW - 50 * DAY_MS - minute * 60_000);
      await observe(
        database,
        old.map((at) => valueOf("user", "u", at)),
      );
      const options = {
        policy: policyOf("user=40d"),
        now: NOW,
        mode: "apply",
        restRatio: 0,
      } as const;
      const { value: first } = await applyRetention(database, options).next();
      const left = 3000 - Number(first);
      expect(left).toBeLessThan(3000);
      const { kinds } = await apply(database, options.policy);
      expect(kinds[2]).toMatchObject({ before: left, removed: left - 1, after: 1 });
    });
  });

  test("tells what does not hold", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      await observe(
        database,
        ["a", "b"].flatMap((id) => [45, 44, 1].map((days) => valueOf("user", id, at(days)))),
      );
      const broken = sabotaged(database, {
        sql: "DELETE FROM user_histories WHERE user = 1 AND start > ?",
        args: [at(2)],
      });
      const { faults } = await apply(broken, policyOf("user=40d/day"));
      expect(faults).toEqual([]);
      const inStep = await apply(broken, policyOf("user=40d"));
      expect(inStep.faults.map(({ problem }) => problem)).toEqual([
        "its steps found 6 observations, removed 4 and left 1",
        "a step changed a newest state",
        "there were 6 observations, 4 removed, there are 1",
        expect.stringMatching(/^the newest state of 2 entities was [0-9a-f]{64}, of 1 it is /),
      ]);
      let isDone = false;
      const outOfStep = await apply(database, policyOf("channel=40d"), "prove", async () => {
        if (!isDone) await database.write([{ sql: "DELETE FROM user_histories", args: [] }]);
        isDone = true;
      });
      expect(outOfStep.faults).toMatchObject([
        { kind: "user", problem: "there were 1 observations, 0 removed, there are 0" },
        { kind: "user" },
      ]);
    });
  });

  test("tells where a newest observation is another than it was", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      await observe(
        database,
        [45, 44, 1].map((days) => valueOf("user", "a", at(days), days)),
      );
      const [[, , points] = []] = pack([{ at: at(1), counts: [2, null, null] }], 3);
      const broken = sabotaged(database, {
        sql: "UPDATE user_histories SET points = ? WHERE user = 1 AND start = ?",
        args: [points ?? null, at(1)],
      });
      const { faults } = await apply(broken, policyOf("user=40d"));
      expect(faults.map(({ problem }) => problem)).toEqual([
        "a step changed a newest state",
        expect.stringMatching(/^the newest state of 1 entities was [0-9a-f]{64}, of 1 it is /),
      ]);
    });
  });
});
