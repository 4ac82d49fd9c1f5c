import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KIND_NAMES } from "../../core/kinds.ts";
import { retain } from "../../core/retention.ts";
import { DAY_MS } from "../../core/time.ts";
import type { Database } from "../../server/store/database.ts";
import { LAYOUTS } from "../../server/store/layout.ts";
import { applyRetention } from "../../server/store/retention.ts";
import { STEP_MAX_ENTITIES, STEP_MAX_ROWS } from "../../server/store/retention-steps.ts";
import { NOW } from "../support/arbitraries.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { apply, observe, policyOf, valueOf } from "../support/retention.ts";

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;
const EVERYTHING = policyOf("channel=40d/day,short=40d/day/42d,user=40d/day,tweet=40d");

/** The instants that are there, by kind and entity, oldest first. */
async function instantsOf(database: Database): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {};
  for (const kind of KIND_NAMES) {
    const { observations, entities, owner } = LAYOUTS[kind];
    const rows = await rowsOf(
      database,
      `SELECT id, at FROM ${observations} JOIN ${entities} ON key = ${owner} ORDER BY id, at`,
    );
    for (const { id, at } of rows) (found[`${kind} ${String(id)}`] ??= []).push(Number(at));
  }
  return found;
}

const offsets = fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1);
const instants = fc.oneof(
  fc.tuple(fc.integer({ min: 38, max: 44 }), offsets),
  fc.tuple(fc.constantFrom(0, 10, 100, 30_000), offsets),
);
const seen = fc.array(
  fc.tuple(fc.constantFrom(...KIND_NAMES), fc.constantFrom("a", "b"), instants),
  { minLength: 1, maxLength: 60 },
);

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
          const before = await instantsOf(database);
          const counted = await apply(database, EVERYTHING, "count");
          expect(await instantsOf(database)).toEqual(before);
          const report = await apply(database, EVERYTHING);
          const kept = Object.entries(before).map(([entity, history]) => {
            const kind = KIND_NAMES.find((name) => entity.startsWith(`${name} `));
            const rule = kind === undefined ? undefined : EVERYTHING[kind];
            if (rule === undefined) throw new Error(`${entity} has no rule`);
            const points = retain(
              history.map((at) => ({ at })),
              rule,
              NOW,
            );
            return [entity, points.map(({ at }) => at)];
          });
          expect(await instantsOf(database)).toEqual(Object.fromEntries(kept));
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
      const present = await rowsOf(
        database,
        "SELECT count(*) AS wrong FROM users LEFT JOIN user_observations ON user = key AND at = " +
          "(SELECT max(at) FROM user_observations WHERE user = key) " +
          "WHERE at IS NOT observed_at " +
          "OR user_observations.followers_count IS NOT users.followers_count",
      );
      expect(present).toEqual([{ wrong: 0 }]);
      const fresh = await rowsOf(
        database,
        `SELECT count(DISTINCT user) AS users FROM user_observations WHERE at >= ${at(2)}`,
      );
      expect(fresh).toEqual([{ users: 300 }]);
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
      const removed: number[] = [];
      const watched: Database = {
        ...database,
        async write(statements, options) {
          const results = await database.write(statements, options);
          removed.push(Math.max(...results.map(({ rowsAffected }) => rowsAffected)));
          return results;
        },
      };
      const sizes: number[] = [];
      const steps = applyRetention(watched, {
        policy: policyOf("channel=40d/day"),
        now: NOW,
        mode: "apply",
        restRatio: 0,
      });
      for await (const size of steps) sizes.push(size);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(STEP_MAX_ROWS);
      expect(Math.max(...removed)).toBeLessThanOrEqual(STEP_MAX_ROWS);
      expect(removed.length).toBe(5);
      expect(sizes.length).toBe(5 + 500 / STEP_MAX_ENTITIES);
      removed.length = 0;
      await apply(watched, policyOf("channel=40d/day"));
      expect(removed).toEqual([]);
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
      await applyRetention(database, options).next();
      const { kinds } = await apply(database, options.policy);
      expect(kinds[2]).toMatchObject({ before: 2000, removed: 1999, after: 1 });
    });
  });

  test("tells what does not hold", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      await observe(
        database,
        ["a", "b"].flatMap((id) => [45, 44, 1].map((days) => valueOf("user", id, at(days)))),
      );
      const newest = {
        sql: "DELETE FROM user_observations WHERE user = 1 AND at > ?",
        args: [at(2)],
      };
      const broken: Database = {
        ...database,
        write: (statements, options) =>
          database
            .write([...statements.slice(0, -1), newest, ...statements.slice(-1)], options)
            .then((results) => [...results.slice(0, -2), ...results.slice(-1)]),
      };
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
        if (!isDone) await database.write([{ sql: "DELETE FROM user_observations", args: [] }]);
        isDone = true;
      });
      expect(outOfStep.faults).toMatchObject([
        { kind: "user", problem: "there were 1 observations, 0 removed, there are 0" },
        { kind: "user" },
      ]);
    });
  });
});
