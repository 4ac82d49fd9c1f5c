import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { EntityKind } from "../../../core/kinds.ts";
import { computeRetentionBounds } from "../../../core/retention.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import { encodeChunks } from "../../../server/store/history/chunk-codec.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { openDatabase } from "../../../server/store/database/open-database.ts";
import { upsertChunks } from "../../../server/store/history/chunk-sql.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { NOW } from "../../support/arbitraries/values.ts";
import { queryRows, withDatabase } from "../../support/store/database.ts";
import { readChunksOf, readPointsOf } from "../../support/store/stored-history.ts";
import {
  applyPolicy,
  readHistories,
  retainHistories,
  checkAndStore,
  parsePolicy,
  makeObservation,
} from "../../support/store/retention.ts";

/** The time between two observations: any, or up to about the next midnight. */
const gaps = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 * HOUR_MS }) },
  { weight: 2, arbitrary: fc.constantFrom(1, HOUR_MS, DAY_MS, 3 * DAY_MS) },
  { weight: 1, arbitrary: fc.constantFrom("midnight", "before midnight") },
);

const points = fc.tuple(gaps, fc.nat(2 ** 40), fc.boolean());

/** Points of an entity, many or few. Some are written late. */
const histories = fc
  .record({
    kind: fc.constantFrom<EntityKind[]>("user", "tweet"),
    points: fc.oneof(
      { weight: 2, arbitrary: fc.array(points, { minLength: 200, maxLength: 400, size: "max" }) },
      { weight: 1, arbitrary: fc.array(points, { minLength: 1, maxLength: 30 }) },
    ),
    endedDaysAgo: fc.nat(50),
  })
  .map(({ kind, points: given, endedDaysAgo }) => {
    let last = 0;
    const seen = given.map(([gap, count, isLate]) => {
      const midnight = Math.floor(last / DAY_MS + 1) * DAY_MS;
      if (gap === "midnight") last = midnight;
      else if (gap === "before midnight") last = Math.max(last + 1, midnight - 1);
      else last += gap;
      return { at: last, count, isLate };
    });
    const moved = (Math.floor((NOW - last) / DAY_MS) - endedDaysAgo) * DAY_MS;
    return { kind, seen: seen.map(({ at, count, isLate }) => ({ at: at + moved, count, isLate })) };
  });

const policies = fc.constantFrom(
  parsePolicy("user=40d/day,tweet=40d/day"),
  parsePolicy("user=40d/day/50d,tweet=45d"),
);

/** Counts the chunks of each entity. */
async function countChunks(database: Database, kind: EntityKind): Promise<Map<string, number>> {
  const rows = await queryRows(
    database,
    `SELECT id, count(*) AS chunks FROM ${kind}_histories JOIN ${kind}s ON key = ${kind} GROUP BY id`,
  );
  return new Map(rows.map(({ id, chunks }) => [`${kind} ${String(id)}`, Number(chunks)]));
}

/** Observations of a user at equal distances, from `newest` back. */
const makeObservationsEvery = (gapMs: number, amount: number, newest: number, id = "u") =>
  Array.from({ length: amount }, (_, index) =>
    makeObservation("user", id, newest - index * gapMs, index),
  );

describe("applyRetention() on histories of many chunks", () => {
  test("leaves what applyRetentionRule() keeps, day after day, in few chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(histories, { minLength: 1, maxLength: 5 }),
        policies,
        fc.array(fc.constantFrom(0, 1, 2, 15), { minLength: 1, maxLength: 4 }),
        async (given, policy, days) => {
          await withDatabase(async (database) => {
            for (const isLateNow of [false, true]) {
              const values = given.flatMap(({ kind, seen }, index) =>
                seen
                  .filter(({ isLate }) => isLate === isLateNow)
                  .map(({ at, count }) => makeObservation(kind, `e${index}`, at, count)),
              );
              await checkAndStore(database, values);
            }
            const before = await readHistories(database);
            let now = NOW;
            for (const later of days) {
              now += later * DAY_MS;
              const { faults } = await applyPolicy(database, policy, { now });
              expect(faults).toEqual([]);
              const kept = retainHistories(before, policy, now);
              expect(await readHistories(database)).toEqual(kept);
              for (const kind of ["user", "tweet"] as const) {
                for (const [entity, chunks] of await countChunks(database, kind)) {
                  const { pointLayout } = KIND_TABLES[kind];
                  const needed = encodeChunks(kept[entity] ?? [], pointLayout).length;
                  expect(chunks).toBeLessThanOrEqual(2 * needed + 1);
                }
              }
            }
          });
        },
      ),
      { numRuns: 30 },
    );
  }, 60_000);

  test("leaves chunks as if the points that are left had been encoded at once", async () => {
    await withDatabase(async (database) => {
      const old = NOW - 50 * DAY_MS;
      await checkAndStore(database, [
        ...makeObservationsEvery(HOUR_MS / 6, 9000, old),
        ...makeObservationsEvery(1, 10, old, "v"),
      ]);
      const { kinds, faults } = await applyPolicy(database, parsePolicy("user=40d/day"));
      expect(faults).toEqual([]);
      expect(kinds[2]).toMatchObject({ entities: 2, before: 9010, after: 64 });
      const left = await readPointsOf(database, "user", "u");
      expect(left.length).toBe(63);
      expect(await readChunksOf(database, "user", "u")).toEqual(
        encodeChunks(left, KIND_TABLES.user.pointLayout),
      );
    });
  });

  test("walks through many small chunks", async () => {
    await withDatabase(async (database) => {
      await checkAndStore(database, [makeObservation("user", "u", NOW)]);
      const old = NOW - 50 * DAY_MS;
      const chunks = Array.from({ length: 250 }, (_, index) => {
        const point = { at: old + index * HOUR_MS, counts: [index, null, null] };
        return encodeChunks([point], KIND_TABLES.user.pointLayout).map((chunk) =>
          Object.assign(chunk, { id: "u" }),
        );
      });
      await database.write([upsertChunks(KIND_TABLES.user, chunks.flat())]);
      const before = await readHistories(database);
      const policy = parsePolicy("user=40d/day");
      const { faults, kinds } = await applyPolicy(database, policy);
      expect([faults, kinds[2]?.before]).toEqual([[], 251]);
      expect(await readHistories(database)).toEqual(retainHistories(before, policy));
    });
  });

  test("rewrites only old chunks of entities that lose points", async () => {
    await withDatabase(async (database) => {
      const policy = parsePolicy("user=40d/day");
      const { rawFrom } = computeRetentionBounds({ rawDays: 40, dailyDays: Infinity }, NOW);
      const raw = makeObservationsEvery(HOUR_MS, 500, NOW);
      const daily = makeObservationsEvery(DAY_MS, 300, rawFrom - 1, "v");
      await checkAndStore(database, [
        ...raw,
        ...makeObservationsEvery(HOUR_MS, 90, rawFrom - 1),
        ...daily,
      ]);
      const logged = ["INSERT", "UPDATE", "DELETE"].map((verb) => {
        const row = verb === "DELETE" ? "OLD" : "NEW";
        return (
          `CREATE TRIGGER log_${verb} AFTER ${verb} ON user_histories BEGIN ` +
          `INSERT INTO log VALUES (${row}.user, ${row}.start); END`
        );
      });
      await database.write(
        ["CREATE TABLE log (user, start)", ...logged].map((sql) => ({ sql, args: [] })),
      );
      const { kinds, faults } = await applyPolicy(database, policy);
      expect([faults, kinds[2]?.removed]).toEqual([[], 86]);
      const found = await queryRows(
        database,
        "SELECT users.id, max(start) AS last FROM log JOIN users ON key = user GROUP BY users.id",
      );
      expect(found).toEqual([{ id: "u", last: expect.any(Number) }]);
      expect(Number(found[0]?.["last"])).toBeLessThan(rawFrom);
      await database.write([{ sql: "DELETE FROM log", args: [] }]);
      await applyPolicy(database, policy);
      expect(await queryRows(database, "SELECT * FROM log")).toEqual([]);
    });
  });
});

describe("applyRetention() while others write", () => {
  test.each([
    ["of pruned and of other entities", ["u", "v"]],
    ["of other entities only", ["v"]],
  ])("loses nothing that another process writes %s, and reports no fault", async (_, ids) => {
    await withDatabase(async (database, file) => {
      const policy = parsePolicy("user=40d/day");
      const other = await openDatabase({ url: `file:${file}`, durability: "process" });
      const all = [
        ...makeObservationsEvery(HOUR_MS, 2000, NOW - 35 * DAY_MS),
        ...makeObservationsEvery(HOUR_MS, 50, NOW, "v"),
      ];
      await checkAndStore(database, all);
      let attempts = 0;
      const crossed: Database = {
        ...database,
        async write(statements, options) {
          const isFirst = attempts++ % 2 === 0;
          // A newest point, one that stays as the newest of its day, and one that does not.
          const times = isFirst ? [30 * DAY_MS, 45 * DAY_MS, 60 * DAY_MS + HOUR_MS / 2] : [];
          const more = times.flatMap((ago) =>
            ids.map((id) => makeObservation("user", id, NOW - ago + attempts, attempts)),
          );
          await checkAndStore(other, more);
          all.push(...more);
          return database.write(statements, options);
        },
      };
      const report = await applyPolicy(crossed, policy);
      expect(attempts).toBeGreaterThanOrEqual(4);
      const settled = await applyPolicy(database, policy);
      expect([report.faults, settled.faults]).toEqual([[], []]);
      const left = await readHistories(database);
      await other.close();
      await withDatabase(async (fresh) => {
        await checkAndStore(fresh, all);
        expect(left).toEqual(retainHistories(await readHistories(fresh), policy));
      });
    });
  });

  test("reports what it did when the response to a step was lost", async () => {
    await withDatabase(async (database) => {
      await checkAndStore(database, [
        ...makeObservationsEvery(HOUR_MS, 100, NOW - 50 * DAY_MS),
        makeObservation("user", "u", NOW),
      ]);
      const losing: Database = {
        ...database,
        async write(statements, options) {
          await database.write(statements, options);
          return database.write(statements, options);
        },
      };
      const { kinds, faults } = await applyPolicy(losing, parsePolicy("user=40d"));
      expect(faults).toEqual([]);
      expect(kinds[2]).toMatchObject({ before: 101, removed: 100, after: 1 });
    });
  });
});
