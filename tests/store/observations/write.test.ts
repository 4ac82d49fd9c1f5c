import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../../core/kinds.ts";
import { parseObservation, type Counts, type Observation } from "../../../core/observations.ts";
import { formatInstant } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import { exportObservations } from "../../../server/store/observations/export.ts";
import { KIND_TABLES } from "../../../server/store/tables/entity-sql.ts";
import { toColumnName } from "../../../server/store/tables/entity-tables.ts";
import { nameCounts } from "../../../core/responses/entity-fields.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { jsonRoundTrip, withDatabase } from "../../support/store/database.ts";
import { readPointsOf } from "../../support/store/stored-history.ts";
import {
  applyObservation,
  findNewestCounts,
  EMPTY_ENTITY,
  type Entity,
} from "../../../core/entities.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const count = fc.constantFrom(null, 0, 1, 2);
const text = fc.constantFrom(null, "a", "b", "！", "😀");
const instant = fc.constantFrom(null, "2026-01-01", "2026-01-02");
const observedAt = fc.constantFrom(1, 2, 3).map((day) => formatInstant(NOW - day));

/** Few entities, instants and values, so that observations clash, move and repeat. */
const lines = {
  channel: fc.record({
    kind: fc.constant("channel"),
    observedAt,
    id: fc.constantFrom("c1", "c2"),
    username: fc.constantFrom(null, "Name", "nAME"),
    description: text,
    joinedAt: instant,
    subscribers: count,
  }),
  short: fc.record({
    kind: fc.constant("short"),
    observedAt,
    id: fc.constantFrom("s1", "s2"),
    channel: fc.constantFrom("c1", "c2", "c3"),
    title: text,
    publishedAt: instant,
    views: count,
    likes: count,
  }),
  user: fc.record({
    kind: fc.constant("user"),
    observedAt,
    username: fc.constantFrom("u1", "U1"),
    verified: fc.constantFrom(null, true, false),
    followers_count: count,
  }),
  tweet: fc.record({
    kind: fc.constant("tweet"),
    observedAt,
    id: fc.constantFrom("t1", "t2"),
    username: fc.constantFrom("u1", "U1", "u2", "U2"),
    text,
    created_at: instant,
    likes: count,
  }),
};

const observation = fc
  .oneof(lines.channel, lines.short, lines.user, lines.tweet)
  .map((line) => parseObservation(line, NOW));
const observations = fc.array(observation, { minLength: 1, maxLength: 14 });

/** Everything stored, as one text. */
async function readState(database: Database): Promise<string> {
  const exported: string[] = [];
  for await (const line of exportObservations(database, {})) exported.push(JSON.stringify(line));
  const names = await database.queryRows(
    "SELECT id, username FROM users WHERE username IS NOT NULL ORDER BY id",
  );
  const shorts = await database.queryRows(
    "SELECT s.id, c.id AS channel, c.observed_at FROM shorts s JOIN channels c ON c.key = s.channel_key " +
      "ORDER BY s.id",
  );
  return [
    ...exported.toSorted(),
    ...names.map((row) => `${row["id"]} is ${row["username"]}`),
    ...shorts.map((row) => `${row["id"]} of ${row["channel"]} ${row["observed_at"]}`),
  ].join("\n");
}

/** Applies applyObservation() of core: every entity, and the outcome of each observation. */
function mergeAll(all: readonly Observation[]) {
  const entities = new Map<string, Entity>();
  const outcomes = { new: 0, changed: 0, unchanged: 0 };
  for (const next of all) {
    const key = `${next.kind} ${next.entityId}`;
    const { entity, outcome } = applyObservation(entities.get(key) ?? EMPTY_ENTITY, next);
    entities.set(key, entity);
    outcomes[outcome]++;
  }
  return { entities, outcomes };
}

describe("writeObservations()", () => {
  test("makes one state for any order, split and repetition of the observations", async () => {
    const rearranged = observations.chain((set) =>
      fc.record({
        set: fc.constant(set),
        again: fc
          .shuffledSubarray([...set, ...set], { minLength: 2 * set.length })
          .map((all) => all),
        cut: fc.nat(2 * set.length),
      }),
    );
    await fc.assert(
      fc.asyncProperty(rearranged, async ({ set, again, cut }) => {
        const once = await withDatabase(async (database) => {
          await writeObservations(database, set);
          return readState(database);
        });
        const twice = await withDatabase(async (database) => {
          await writeObservations(database, again.slice(0, cut));
          await writeObservations(database, again.slice(cut));
          return readState(database);
        });
        const oneByOne = await withDatabase(async (database) => {
          for (const single of again) await writeObservations(database, [single]);
          return readState(database);
        });
        expect(twice).toBe(once);
        expect(oneByOne).toBe(once);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("stores and counts the same as applyObservation() of core", async () => {
    await fc.assert(
      fc.asyncProperty(observations, fc.nat(14), async (all, cut) => {
        await withDatabase(async (database) => {
          const { entities, outcomes } = mergeAll(all);
          const first = await writeObservations(database, all.slice(0, cut));
          const second = await writeObservations(database, all.slice(cut));
          // A part is grouped by kind; the order within an entity stays.
          expect({
            new: first.new + second.new,
            changed: first.changed + second.changed,
            unchanged: first.unchanged + second.unchanged,
          }).toEqual(outcomes);
          for (const kind of ENTITY_KINDS) {
            const layout = KIND_TABLES[kind];
            const rows = await database.queryRows(
              `SELECT * FROM ${layout.entityTable} WHERE observed_at IS NOT NULL`,
            );
            const stored = new Map(rows.map((row) => [`${kind} ${row["id"]}`, row]));
            const folded = [...entities].filter(([key]) => key.startsWith(`${kind} `));
            expect([...stored.keys()].toSorted()).toEqual(folded.map(([key]) => key).toSorted());
            for (const [key, entity] of folded) {
              const row = stored.get(key);
              if (row === undefined) throw new Error(`${key} is not stored`);
              const present = findNewestCounts(entity);
              expect(row["observed_at"]).toBe(present?.at ?? null);
              const counts = layout.counts.map((name) => [name, row[toColumnName(name)]]);
              expect(Object.fromEntries(counts)).toEqual(present?.counts ?? {});
              const points = await readPointsOf(database, kind, String(row["id"]));
              expect(
                points.map(({ at, counts: packed }): [number, Counts] => [
                  at,
                  nameCounts(kind, packed),
                ]),
              ).toEqual([...entity.points].toSorted(([a], [b]) => a - b));
            }
          }
        });
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("makes the same state from an export", async () => {
    await fc.assert(
      fc.asyncProperty(observations, async (all) => {
        const [state, exported] = await withDatabase(async (database) => {
          await writeObservations(database, all);
          const out: Observation[] = [];
          for await (const line of exportObservations(database, {})) {
            out.push(parseObservation(jsonRoundTrip(line), NOW));
          }
          return [await readState(database), out] as const;
        });
        await withDatabase(async (database) => {
          await writeObservations(database, exported);
          expect(await readState(database)).toBe(state);
        });
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
