/** Histories of many chunks: writing, exporting, and looking back in them. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { filterDays } from "../../../core/pagination.ts";
import { computeFollowerChanges } from "../../../core/growth.ts";
import {
  ENTITY_KINDS,
  ENTITY_FIELDS,
  type EntityKind,
  type EntityFields,
} from "../../../core/kinds.ts";
import { parseObservation, type Counts, type Observation } from "../../../core/observations.ts";
import { DAY_MS, formatInstant, LAST_INSTANT } from "../../../core/time.ts";
import type { Database } from "../../../server/store/database/database.ts";
import {
  exportObservations,
  type ExportOptions,
} from "../../../server/store/observations/export.ts";
import { createMicroblogReads } from "../../../server/store/reads/microblog.ts";
import { nameCounts } from "../../../core/responses/entity-fields.ts";
import { writeObservations } from "../../support/store/observations.ts";
import { createVideoReads } from "../../../server/store/reads/video.ts";
import { modelGains } from "../../model/gains.ts";
import { jsonRoundTrip, resultOrError, withDatabase } from "../../support/store/database.ts";
import { readChunksOf, readPointsOf } from "../../support/store/stored-history.ts";
import { growingPoints } from "../../support/arbitraries/history-points.ts";
import { applyObservation, EMPTY_ENTITY } from "../../../core/entities.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

/**
 * Hundreds of observations of one entity: seldom one describes it, and some tell more about an
 * instant that is there.
 */
function manyObservations(kind: EntityKind): fc.Arbitrary<Observation[]> {
  const { idField, attributes, counts }: EntityFields = ENTITY_FIELDS[kind];
  const namesOf = (type: string) =>
    Object.keys(attributes).filter((name) => attributes[name] === type);
  const named = {
    ...Object.fromEntries(namesOf("identifier").map((name) => [name, "n"])),
    [idField]: "e",
  };
  const telling = fc.record({
    place: fc.nat(),
    name: fc.constantFrom(...namesOf("text")),
    value: fc.constantFrom("a", "b"),
  });
  const repetition = fc.record({ place: fc.nat(), growth: fc.integer({ min: -4, max: 4 }) });
  return fc
    .record({
      once: growingPoints(counts.length, 100),
      repetitions: fc.array(repetition, { maxLength: 60 }),
      tellings: fc.array(telling, { maxLength: 9 }),
    })
    .map(({ once, repetitions, tellings }) => {
      const points = [...once];
      for (const { place, growth } of repetitions) {
        const { at, counts: before } = once[place % once.length] ?? { at: NOW, counts: [] };
        const grown = before.map((count) => Math.max(0, (count ?? 0) + growth));
        points.push({ at, counts: grown.map((count) => (count === 0 ? null : count)) });
      }
      const lines = points.map(({ at, counts: values }) => {
        const counted = counts.map((name, place) => [name, values[place]] as const);
        return Object.assign(
          { kind, observedAt: formatInstant(at) },
          named,
          Object.fromEntries(counted),
        );
      });
      for (const { place, name, value } of tellings) {
        Object.assign(lines[place % lines.length] ?? {}, { [name]: value });
      }
      return lines.map((line) => parseObservation(line, LAST_INSTANT));
    });
}

/** Oldest first, newest first, or in any order. */
const inAnyOrder = (all: readonly Observation[]) => {
  const rising = all.toSorted((a, b) => a.observedAt - b.observedAt);
  return fc.oneof(
    fc.constant(rising),
    fc.constant(rising.toReversed()),
    fc.shuffledSubarray([...all], { minLength: all.length }),
  );
};

/** A kind, and the observations of one entity in batches. */
const batchedObservations = fc.constantFrom(...ENTITY_KINDS).chain((kind) =>
  fc
    .tuple(
      manyObservations(kind).chain(inAnyOrder),
      fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 9 }),
    )
    .map(([all, sizes]) => {
      const batches: Observation[][] = [];
      for (let from = 0; from < all.length;) {
        const size = sizes[batches.length % sizes.length] ?? 1;
        batches.push(all.slice(from, from + size));
        from += size;
      }
      return { kind, batches };
    }),
);

/** Applies applyObservation() of core: the entity, and the number of each outcome. */
function mergeAll(all: readonly Observation[]) {
  let entity = EMPTY_ENTITY;
  const outcomes = { new: 0, changed: 0, unchanged: 0 };
  for (const next of all) {
    const applied = applyObservation(entity, next);
    entity = applied.entity;
    outcomes[applied.outcome]++;
  }
  return { entity, outcomes };
}

async function exportAll(database: Database, options: ExportOptions = {}): Promise<Observation[]> {
  const exported: Observation[] = [];
  for await (const line of exportObservations(database, options)) {
    exported.push(parseObservation(jsonRoundTrip(line), LAST_INSTANT));
  }
  return exported;
}

describe("writeObservations() of one entity in batches of any size and order", () => {
  test("stores, counts and exports the same as applyObservation() of core", async () => {
    let chunks = 0;
    await fc.assert(
      fc.asyncProperty(batchedObservations, async ({ kind, batches }) => {
        await withDatabase(async (database) => {
          const { entity, outcomes } = mergeAll(batches.flat());
          const counted = { new: 0, changed: 0, unchanged: 0 };
          for (const batch of batches) {
            const stored = await writeObservations(database, batch);
            counted.new += stored.new;
            counted.changed += stored.changed;
            counted.unchanged += stored.unchanged;
          }
          expect(counted).toEqual(outcomes);
          const points = await readPointsOf(database, kind, "e");
          expect(
            points.map(({ at, counts }): [number, Counts] => [at, nameCounts(kind, counts)]),
          ).toEqual([...entity.points].toSorted(([a], [b]) => a - b));
          const exported = await exportAll(database, { kind });
          expect(exported.map(({ observedAt }) => observedAt)).toEqual(points.map(({ at }) => at));
          expect(mergeAll(exported).entity).toEqual(entity);
          chunks = Math.max(chunks, (await readChunksOf(database, kind, "e")).length);
        });
      }),
      { numRuns: 60, interruptAfterTimeLimit: 40_000 },
    );
    expect(chunks).toBeGreaterThan(5);
  }, 60_000);
});

test("exportObservations() of hundreds of chunks exports every observation since an instant", async () => {
  await withDatabase(async (database) => {
    const hours = 9000;
    const all = ["a", "b", "c"].flatMap((username) =>
      Array.from({ length: hours }, (_, hour) => {
        const observedAt = formatInstant(NOW - 3_600_000 * (hours - hour));
        return parseObservation({ kind: "user", observedAt, username, followers_count: hour }, NOW);
      }),
    );
    await writeObservations(database, all);
    expect((await readChunksOf(database, "user", "b")).length).toBeGreaterThan(50);
    expect(await exportAll(database)).toEqual(all);
    const since = NOW - 3_600_000 * 4321;
    expect(await exportAll(database, { since })).toEqual(
      all.filter(({ observedAt }) => observedAt >= since),
    );
  });
}, 30_000);

/** Counts over days, known or unknown for so long that whole chunks have none. */
const countRuns = fc.array(
  fc.record({
    length: fc.integer({ min: 1, max: 250 }),
    gapMs: fc.constantFrom(60_000, 900_000, 3_600_000, 2 * DAY_MS),
    isKnown: fc.boolean(),
  }),
  { minLength: 1, maxLength: 7 },
);

const countSeries = fc.tuple(countRuns, fc.nat(3 * DAY_MS)).map(([all, sinceMs]) => {
  let at = NOW - sinceMs;
  // Newest first; the gap of a run is before each of its points.
  const points = all.flatMap(({ length, gapMs, isKnown }) =>
    Array.from({ length }, () => {
      at -= gapMs;
      return { at: at + gapMs, count: isKnown ? Math.abs(at % 5003) : null };
    }),
  );
  return points.toReversed();
});

describe("reads of a long history", () => {
  test("readFollowers() returns the pages that core computes from all points", async () => {
    const request = fc.record({
      days: fc.integer({ min: 1, max: 14 }),
      limit: fc.integer({ min: 1, max: 100 }),
      pages: fc.uniqueArray(fc.nat(12), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(countSeries, request, async (points, { days, limit, pages }) => {
        const all = points.map(({ at, count }) =>
          parseObservation(
            { kind: "user", observedAt: formatInstant(at), username: "u", followers_count: count },
            NOW,
          ),
        );
        const known = points
          .flatMap(({ at, count }) => (count === null ? [] : [{ at, followers: count }]))
          .toReversed();
        const selected = filterDays(known, ({ at }) => at, days, NOW);
        const changes = computeFollowerChanges(known, selected.length);
        await withDatabase(async (database) => {
          await writeObservations(database, all);
          const followers = async (page: number) => {
            const asked = { days, page, limit };
            const reading = await createMicroblogReads(database).followers("u", asked, NOW);
            return { ...reading, body: jsonRoundTrip(reading.body) };
          };
          for (const page of [0, ...pages]) {
            const answer = await resultOrError(followers(page));
            if (page > 0 && page * limit >= selected.length) {
              expect(answer).toEqual(["Page Out of Range", expect.anything()]);
              continue;
            }
            const metrics = changes
              .slice(page * limit, (page + 1) * limit)
              .map(({ at, ...change }) => Object.assign(change, { timestamp: formatInstant(at) }));
            expect(answer).toMatchObject({
              body: {
                followers: { USER: { metrics } },
                pagination: { total: selected.length },
              },
              validDuring: { from: NOW, to: (selected.at(-1)?.at ?? Infinity) + days * DAY_MS },
            });
          }
        });
      }),
      { numRuns: 60, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);

  test("readChannel() returns the gains that core computes from all points", async () => {
    await fc.assert(
      fc.asyncProperty(countSeries, async (points) => {
        const all = points.map(({ at, count }) =>
          parseObservation(
            { kind: "channel", observedAt: formatInstant(at), id: "c", subscribers: count },
            NOW,
          ),
        );
        const gains = modelGains(points);
        await withDatabase(async (database) => {
          await writeObservations(database, all);
          const { body } = await createVideoReads(database).channel("c");
          expect(body.statistics).toEqual({
            dailySubscriberGain: gains.daily,
            weeklySubscriberGain: gains.weekly,
            monthlySubscriberGain: gains.monthly,
          });
        });
      }),
      { numRuns: 60, interruptAfterTimeLimit: 40_000 },
    );
  }, 60_000);
});
