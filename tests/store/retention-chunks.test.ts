import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { KINDS, type Kind } from "../../core/kinds.ts";
import { retentionBounds } from "../../core/retention.ts";
import { DAY_MS, HOUR_MS } from "../../core/time.ts";
import { pack } from "../../server/store/chunks.ts";
import { openDatabase, type Database } from "../../server/store/database.ts";
import { LAYOUTS, putChunks } from "../../server/store/layout.ts";
import { NOW } from "../support/arbitraries.ts";
import { rowsOf, withDatabase } from "../support/database.ts";
import { chunksOf, pointsOf } from "../support/history.ts";
import { apply, historiesOf, keptOf, observe, policyOf, valueOf } from "../support/retention.ts";

/** How long after one observation the next one is: as it comes, or about the next midnight. */
const gaps = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 * HOUR_MS }) },
  { weight: 2, arbitrary: fc.constantFrom(1, HOUR_MS, DAY_MS, 3 * DAY_MS) },
  { weight: 1, arbitrary: fc.constantFrom("midnight", "before midnight") },
);

const points = fc.tuple(gaps, fc.nat(2 ** 40), fc.boolean());

/** Points of an entity: in several chunks, or few. Some come in late, among those before them. */
const histories = fc
  .record({
    kind: fc.constantFrom<Kind[]>("user", "tweet"),
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
  policyOf("user=40d/day,tweet=40d/day"),
  policyOf("user=40d/day/50d,tweet=45d"),
);

/** How many chunks a table has, by entity. */
async function chunkCounts(database: Database, kind: Kind): Promise<Map<string, number>> {
  const rows = await rowsOf(
    database,
    `SELECT id, count(*) AS chunks FROM ${kind}_histories JOIN ${kind}s ON key = ${kind} GROUP BY id`,
  );
  return new Map(rows.map(({ id, chunks }) => [`${kind} ${String(id)}`, Number(chunks)]));
}

/** Observations of a user, every so often back from an instant. */
const every = (gapMs: number, amount: number, newest: number, id = "u") =>
  Array.from({ length: amount }, (_, index) => valueOf("user", id, newest - index * gapMs, index));

describe("applyRetention() on histories of many chunks", () => {
  test("leaves what core's retain() keeps, day after day, and not in needless chunks", async () => {
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
                  .map(({ at, count }) => valueOf(kind, `e${index}`, at, count)),
              );
              await observe(database, values);
            }
            const before = await historiesOf(database);
            let now = NOW;
            for (const later of days) {
              now += later * DAY_MS;
              const { faults, isWholeCompared } = await apply(
                database,
                policy,
                "prove",
                undefined,
                now,
              );
              expect([faults, isWholeCompared]).toEqual([[], true]);
              const kept = keptOf(before, policy, now);
              expect(await historiesOf(database)).toEqual(kept);
              for (const kind of ["user", "tweet"] as const) {
                for (const [entity, chunks] of await chunkCounts(database, kind)) {
                  const needed = pack(kept[entity] ?? [], KINDS[kind].counts.length).length;
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

  test("what is left of many steps lies as if it had been packed at once", async () => {
    await withDatabase(async (database) => {
      const old = NOW - 50 * DAY_MS;
      await observe(database, [...every(HOUR_MS / 6, 9000, old), ...every(1, 10, old, "v")]);
      const { kinds, faults } = await apply(database, policyOf("user=40d/day"));
      expect(faults).toEqual([]);
      expect(kinds[2]).toMatchObject({ entities: 2, before: 9010, after: 64 });
      const left = await pointsOf(database, "user", "u");
      expect(left.length).toBe(63);
      expect(await chunksOf(database, "user", "u")).toEqual(pack(left, 3));
    });
  });

  test("goes through chunks that are small, whoever made them so", async () => {
    await withDatabase(async (database) => {
      await observe(database, [valueOf("user", "u", NOW)]);
      const old = NOW - 50 * DAY_MS;
      const chunks = Array.from({ length: 250 }, (_, index) => {
        const point = { at: old + index * HOUR_MS, counts: [index, null, null] };
        return ["u", ...pack([point], 3).flat()];
      });
      await database.write([{ sql: putChunks(LAYOUTS.user), args: [JSON.stringify(chunks)] }]);
      const before = await historiesOf(database);
      const policy = policyOf("user=40d/day");
      const { faults, kinds } = await apply(database, policy);
      expect([faults, kinds[2]?.before]).toEqual([[], 251]);
      expect(await historiesOf(database)).toEqual(keptOf(before, policy));
    });
  });

  test("writes only chunks that are not raw as a whole, of who loses something", async () => {
    await withDatabase(async (database) => {
      const policy = policyOf("user=40d/day");
      const { rawFrom } = retentionBounds({ rawDays: 40, dailyDays: Infinity }, NOW);
      const raw = every(HOUR_MS, 500, NOW);
      const daily = every(DAY_MS, 300, rawFrom - 1, "v");
      await observe(database, [...raw, ...every(HOUR_MS, 90, rawFrom - 1), ...daily]);
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
      const { kinds, faults } = await apply(database, policy);
      expect([faults, kinds[2]?.removed]).toEqual([[], 86]);
      const found = await rowsOf(
        database,
        "SELECT users.id, max(start) AS last FROM log JOIN users ON key = user GROUP BY users.id",
      );
      expect(found).toEqual([{ id: "u", last: expect.any(Number) }]);
      expect(Number(found[0]?.["last"])).toBeLessThan(rawFrom);
      await database.write([{ sql: "DELETE FROM log", args: [] }]);
      await apply(database, policy);
      expect(await rowsOf(database, "SELECT * FROM log")).toEqual([]);
    });
  });
});

describe("applyRetention() while others write", () => {
  test.each([
    ["of those that are thinned and of others", ["u", "v"]],
    ["only of those beside them that lose nothing", ["v"]],
  ])("loses nothing of what another process observes %s, and finds no fault", async (_, ids) => {
    await withDatabase(async (database, file) => {
      const policy = policyOf("user=40d/day");
      const other = await openDatabase({ url: `file:${file}`, durability: "process" });
      const all = [...every(HOUR_MS, 2000, NOW - 35 * DAY_MS), ...every(HOUR_MS, 50, NOW, "v")];
      await observe(database, all);
      let attempts = 0;
      const crossed: Database = {
        ...database,
        async write(statements, options) {
          const isFirst = attempts++ % 2 === 0;
          // What is newest, what stays of its day, and what does not.
          const times = isFirst ? [30 * DAY_MS, 45 * DAY_MS, 60 * DAY_MS + HOUR_MS / 2] : [];
          const more = times.flatMap((ago) =>
            ids.map((id) => valueOf("user", id, NOW - ago + attempts, attempts)),
          );
          await observe(other, more);
          all.push(...more);
          return database.write(statements, options);
        },
      };
      const report = await apply(crossed, policy);
      expect(attempts).toBeGreaterThanOrEqual(4);
      const settled = await apply(database, policy);
      expect([report.faults, settled.faults]).toEqual([[], []]);
      const left = await historiesOf(database);
      await other.close();
      await withDatabase(async (fresh) => {
        await observe(fresh, all);
        expect(left).toEqual(keptOf(await historiesOf(fresh), policy));
      });
    });
  });

  test("tells what it did where a server's answer to a step was lost", async () => {
    await withDatabase(async (database) => {
      await observe(database, [
        ...every(HOUR_MS, 100, NOW - 50 * DAY_MS),
        valueOf("user", "u", NOW),
      ]);
      const losing: Database = {
        ...database,
        async write(statements, options) {
          await database.write(statements, options);
          return database.write(statements, options);
        },
      };
      const { kinds, faults, isWholeCompared } = await apply(losing, policyOf("user=40d"));
      expect([faults, isWholeCompared]).toEqual([[], true]);
      expect(kinds[2]).toMatchObject({ before: 101, removed: 100, after: 1 });
    });
  });
});
