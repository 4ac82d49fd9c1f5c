import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { DAY_MS } from "../../../core/time.ts";
import { encodeChunks } from "../../../server/store/history/chunk-codec.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import type { Database, Statement } from "../../../server/store/database/database.ts";
import { applyRetention } from "../../../server/store/history/retention.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { readAllPoints, readChunksOf } from "../../support/store/stored-history.ts";
import {
  applyPolicy,
  readHistories,
  retainHistories,
  checkAndStore,
  parsePolicy,
  makeObservation,
} from "../../support/store/retention.ts";

// The limits of a step.
const STEP_MAX_OBSERVATIONS = 1000;
const STEP_MAX_CHUNKS = 25;

const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;
const POLICY_OF_ALL_KINDS = parsePolicy("channel=40d/day,short=40d/day/42d,user=40d/day,tweet=40d");

const offsets = fc.constantFrom(0, 1, DAY_MS / 2, DAY_MS - 1);
const instants = fc.oneof(
  fc.tuple(fc.integer({ min: 38, max: 44 }), offsets),
  fc.tuple(fc.constantFrom(0, 10, 100, 30_000), offsets),
);
const observedInstants = fc.array(
  fc.tuple(fc.constantFrom(...ENTITY_KINDS), fc.constantFrom("a", "b"), instants),
  { minLength: 1, maxLength: 60 },
);

/** Runs an extra statement in each write, before the last one. */
const withExtraStatement = (database: Database, extra: Statement): Database => ({
  ...database,
  async write(statements, options) {
    const all = [...statements.slice(0, -1), extra, ...statements.slice(-1)];
    const results = await database.write(all, options);
    return results.toSpliced(-2, 1);
  },
});

describe("applyRetention()", () => {
  test("leaves what applyRetentionRule() keeps, and reports the same as a dry run", async () => {
    await fc.assert(
      fc.asyncProperty(observedInstants, async (all) => {
        await withDatabase(async (database) => {
          await checkAndStore(
            database,
            all.map(([kind, id, [day, ms]]) =>
              makeObservation(kind, id, Math.min(NOW, TODAY - day * DAY_MS + ms)),
            ),
          );
          const before = await readHistories(database);
          const counted = await applyPolicy(database, POLICY_OF_ALL_KINDS, { isDryRun: true });
          expect(await readHistories(database)).toEqual(before);
          const report = await applyPolicy(database, POLICY_OF_ALL_KINDS);
          expect(await readHistories(database)).toEqual(
            retainHistories(before, POLICY_OF_ALL_KINDS),
          );
          expect(report.faults).toEqual([]);
          expect(report.kinds).toEqual(counted.kinds);
          const again = await applyPolicy(database, POLICY_OF_ALL_KINDS);
          expect(again.kinds.map(({ removed }) => removed)).toEqual([0, 0, 0, 0]);
        });
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("keeps everything of a kind without a rule, and walks through the given kinds only", async () => {
    await withDatabase(async (database) => {
      const old = [50, 50.1, 51].map((days) => NOW - days * DAY_MS);
      await checkAndStore(
        database,
        old.flatMap((at) => [
          makeObservation("user", "u", at),
          makeObservation("channel", "c", at),
        ]),
      );
      const { kinds } = await applyPolicy(database, parsePolicy("channel=40d"));
      expect(kinds).toMatchObject([
        { kind: "channel", rule: "40d", entities: 1, before: 3, removed: 2, after: 1 },
        { kind: "short", rule: "all", entities: 0, before: 0, removed: 0, after: 0 },
        { kind: "user", rule: "all", entities: 1, before: 3, removed: 0, after: 3 },
        { kind: "tweet", rule: "all", entities: 0, before: 0, removed: 0, after: 0 },
      ]);
      const some = await applyPolicy(database, parsePolicy("channel=40d"), { kinds: ["channel"] });
      expect(some.kinds.map(({ kind }) => kind)).toEqual(["channel"]);
    });
  });

  test("loses nothing that is observed between its steps, and still proves each step", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      const users = Array.from({ length: 300 }, (_, index) => `u${index}`);
      const old = Array.from({ length: 12 }, (_, hour) => at(50) - hour * 3_600_000);
      await checkAndStore(
        database,
        users.flatMap((id) => old.map((instant) => makeObservation("user", id, instant))),
      );
      let step = 0;
      const afterStep = () => {
        step++;
        // New newest points, points in between, and points that the rule does not keep.
        return checkAndStore(
          database,
          users.flatMap((id, index) =>
            index % 7 === step % 7
              ? [
                  makeObservation("user", id, at(1) + step),
                  makeObservation("user", id, at(45) + step),
                ]
              : [makeObservation("user", `late${step}`, at(46))],
          ),
        );
      };
      const report = await applyPolicy(database, parsePolicy("user=40d"), { afterStep });
      expect(report.faults).toEqual([]);
      const user = report.kinds.find(({ kind }) => kind === "user");
      expect(user?.before).toBe((user?.removed ?? 0) + (user?.after ?? 0));
      const settledReport = await applyPolicy(database, parsePolicy("user=40d"));
      expect(settledReport.faults).toEqual([]);
      const points = await readAllPoints(database, "user");
      const newest = new Map(points.map((point) => [point.entity, point]));
      const present = await queryRows(
        database,
        "SELECT id, observed_at, followers_count FROM users",
      );
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

  test("takes small steps, and writes only if there is something to remove", async () => {
    await withDatabase(async (database) => {
      const minutes = Array.from(
        { length: 5000 },
        (_, minute) => NOW - 50 * DAY_MS - minute * 60_000,
      );
      await checkAndStore(
        database,
        minutes.map((at) => makeObservation("channel", "busy", at)),
      );
      await checkAndStore(
        database,
        Array.from({ length: 500 }, (_, index) =>
          makeObservation("channel", `quiet${index}`, NOW - index),
        ),
      );
      const written: number[] = [];
      const recording: Database = {
        ...database,
        async write(statements, options) {
          const results = await database.write(statements, options);
          written.push(Math.max(...results.map(({ rowsAffected }) => rowsAffected)));
          return results;
        },
      };
      const largest = Math.max(
        ...(await readChunksOf(database, "channel", "busy")).map(({ size }) => size),
      );
      const busySteps = Math.ceil(5000 / (STEP_MAX_OBSERVATIONS - largest));
      const sizes: number[] = [];
      const steps = applyRetention(recording, {
        policy: parsePolicy("channel=40d/day"),
        now: NOW,
        isDryRun: false,
        pauseRatio: 0,
      });
      for await (const size of steps) sizes.push(size);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(5500);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(STEP_MAX_OBSERVATIONS);
      expect(Math.max(...written)).toBeLessThanOrEqual(STEP_MAX_CHUNKS);
      expect(written.length).toBeGreaterThanOrEqual(5000 / STEP_MAX_OBSERVATIONS);
      expect(written.length).toBeLessThanOrEqual(busySteps);
      expect(sizes.length).toBeGreaterThanOrEqual(written.length + 475 / STEP_MAX_CHUNKS);
      expect(sizes.length).toBeLessThanOrEqual(busySteps + 500 / STEP_MAX_CHUNKS);
      written.length = 0;
      await applyPolicy(recording, parsePolicy("channel=40d/day"));
      expect(written).toEqual([]);
    });
  });

  test("continues what a stopped walk left", async () => {
    await withDatabase(async (database) => {
      const old = Array.from({ length: 3000 }, (_, minute) => NOW - 50 * DAY_MS - minute * 60_000);
      await checkAndStore(
        database,
        old.map((at) => makeObservation("user", "u", at)),
      );
      const options = {
        policy: parsePolicy("user=40d"),
        now: NOW,
        isDryRun: false,
        pauseRatio: 0,
      } as const;
      const { value: first } = await applyRetention(database, options).next();
      const left = 3000 - Number(first);
      expect(left).toBeLessThan(3000);
      const { kinds } = await applyPolicy(database, options.policy);
      expect(kinds[2]).toMatchObject({ before: left, removed: left - 1, after: 1 });
    });
  });

  test("reports a step that loses observations or changes a newest state", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      await checkAndStore(
        database,
        ["a", "b"].flatMap((id) =>
          [45, 44, 1].map((days) => makeObservation("user", id, at(days))),
        ),
      );
      const broken = withExtraStatement(database, {
        sql: "DELETE FROM user_histories WHERE user = 1 AND start > ?",
        args: [at(2)],
      });
      const { faults } = await applyPolicy(broken, parsePolicy("user=40d/day"));
      expect(faults).toEqual([]);
      const report = await applyPolicy(broken, parsePolicy("user=40d"));
      expect(report.faults).toEqual([
        { kind: "user", problem: "its steps found 6 observations, removed 4 and left 1" },
        { kind: "user", problem: "a step changed a newest state" },
      ]);
    });
  });

  test("reports a newest observation that differs after a step", async () => {
    await withDatabase(async (database) => {
      const at = (days: number) => NOW - days * DAY_MS;
      await checkAndStore(
        database,
        [45, 44, 1].map((days) => makeObservation("user", "a", at(days), days)),
      );
      const points = [{ at: at(1), counts: [2, null, null] }];
      const [chunk] = encodeChunks(points, KIND_TABLES.user.pointLayout);
      const broken = withExtraStatement(database, {
        sql: "UPDATE user_histories SET points = ? WHERE user = 1 AND start = ?",
        args: [chunk?.points ?? null, at(1)],
      });
      const { faults } = await applyPolicy(broken, parsePolicy("user=40d"));
      expect(faults).toEqual([{ kind: "user", problem: "a step changed a newest state" }]);
    });
  });
});
