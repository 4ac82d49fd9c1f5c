import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../core/entity-kinds.ts";
import {
  applyObservation,
  parseObservation,
  mergeCounts,
  mergeAttributes,
  findNewestCounts,
  EMPTY_ENTITY,
  type Counts,
  type Attributes,
  type Entity,
  type Observation,
} from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import { NOW, observationArbitrary } from "../support/arbitraries/values.ts";

function makeObservation(at: string, fields: Record<string, unknown> = {}): Observation {
  return parseObservation({ kind: "user", observedAt: at, username: "nasa", ...fields }, NOW);
}

function mergeObservations(observations: readonly Observation[], start = EMPTY_ENTITY): Entity {
  return observations.reduce((entity, next) => applyObservation(entity, next).entity, start);
}

/** Observations of one entity of any kind, checked as if they had come in. */
const observationSets = fc
  .constantFrom(...ENTITY_KINDS)
  .chain((kind) => fc.array(observationArbitrary(kind), { maxLength: 12 }))
  .map((values) => values.map((value) => parseObservation(value, NOW)));

/** A set, and the same set in another order, with repetitions, and cut in parts. */
const rearrangedSets = observationSets.chain((set) =>
  fc.record({
    set: fc.constant(set),
    again: fc
      .tuple(
        fc.shuffledSubarray(set, { minLength: set.length }),
        fc.shuffledSubarray(set),
        fc.nat(set.length),
      )
      .map(([all, some, at]) => all.toSpliced(at, 0, ...some)),
    cut: fc.nat(2 * set.length),
  }),
);

/** What an export would write of a state: enough observations to make it again. */
function toObservations(kind: Observation["kind"], entity: Entity): Observation[] {
  const points = [...entity.points].map(([observedAt, counts]) => {
    return { kind, entityId: "x", observedAt, attributes: {}, counts };
  });
  const fields = Object.entries(entity.attributes).map(([name, { value, at }]) => {
    return { kind, entityId: "x", observedAt: at, attributes: { [name]: value }, counts: {} };
  });
  return [...points, ...fields];
}

/** The state by the words of the decisions, without joins: the greatest of all that was given. */
function computeExpectedState(observations: readonly Observation[]): Entity {
  const description: Record<string, Attributes[string]> = {};
  const points = new Map<number, Record<string, number | null>>();
  const newestFirst = observations.toSorted((a, b) => b.observedAt - a.observedAt);
  for (const { observedAt: at, attributes: described, counts } of newestFirst) {
    for (const [name, value] of Object.entries(described)) {
      const existing = description[name];
      const isFirst = existing === undefined;
      if (isFirst || (existing.at === at && toSortKey(value) > toSortKey(existing.value))) {
        description[name] = { value, at };
      }
    }
    const point = points.get(at) ?? {};
    points.set(at, point);
    for (const [name, count] of Object.entries(counts)) {
      point[name] = Math.max(point[name] ?? -1, count ?? -1);
      if (point[name] === -1) point[name] = null;
    }
  }
  return { attributes: description, points };
}

/** Texts rank by their bytes, written so that JavaScript compares them as bytes. */
function toSortKey(value: string | number | boolean): string | number {
  return typeof value === "string" ? Buffer.from(value).toString("latin1") : Number(value);
}

describe("applyObservation", () => {
  test("applyObservation() tells new, changed and unchanged apart", () => {
    const first = applyObservation(
      EMPTY_ENTITY,
      makeObservation("2026-11-19", { followers_count: 5 }),
    );
    expect(first.outcome).toBe("new");
    const same = applyObservation(
      first.entity,
      makeObservation("2026-11-19", { followers_count: 5 }),
    );
    expect(same.outcome).toBe("unchanged");
    expect(same.entity).toBe(first.entity);
    const more = applyObservation(first.entity, makeObservation("2026-11-19", { tweet_count: 1 }));
    expect(more.outcome).toBe("changed");
    const text = applyObservation(
      first.entity,
      makeObservation("2026-11-19", { description: "x" }),
    );
    expect(text.outcome).toBe("changed");
    const later = applyObservation(first.entity, makeObservation("2026-11-20"));
    expect(later.outcome).toBe("new");
  });

  test("applyObservation() takes less at a known instant for nothing new", () => {
    const { entity } = applyObservation(
      EMPTY_ENTITY,
      makeObservation("2026-11-19", { followers_count: 5 }),
    );
    expect(
      applyObservation(entity, makeObservation("2026-11-19", { followers_count: 4 })).outcome,
    ).toBe("unchanged");
    expect(applyObservation(entity, makeObservation("2026-11-19")).outcome).toBe("unchanged");
  });

  test("applyObservation() keeps a count that falls from one instant to the next", () => {
    const entity = mergeObservations([
      makeObservation("2026-11-19", { followers_count: 9 }),
      makeObservation("2026-11-20", { followers_count: 3 }),
    ]);
    expect([...entity.points.values()].map((counts) => counts["followers_count"])).toEqual([9, 3]);
  });

  test("applyObservation() leaves the entity that it was given as it was", () => {
    const before = mergeObservations([
      makeObservation("2026-11-19", { description: "a", tweet_count: 1 }),
    ]);
    const copy = structuredClone(before);
    mergeObservations(
      [
        makeObservation("2026-11-19", { description: "b", tweet_count: 2 }),
        makeObservation("2026-11-20"),
      ],
      before,
    );
    expect(before).toEqual(copy);
    expect(EMPTY_ENTITY).toEqual({ attributes: {}, points: new Map() });
  });

  test("applyObservation() gives one state for any order, repetition and split of a set", () => {
    fc.assert(
      fc.property(rearrangedSets, ({ set, again, cut }) => {
        const state = mergeObservations(set);
        expect(mergeObservations(again)).toEqual(state);
        const kind = set[0]?.kind ?? "user";
        const parts = [mergeObservations(again.slice(0, cut)), mergeObservations(again.slice(cut))];
        expect(mergeObservations(parts.flatMap((part) => toObservations(kind, part)))).toEqual(
          state,
        );
      }),
      { numRuns: 200 },
    );
  });

  test("applyObservation() gives the newest value of a field and the greatest count of an instant", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        expect(mergeObservations(set)).toEqual(computeExpectedState(set));
      }),
      { numRuns: 200 },
    );
  });

  test("applyObservation() says unchanged just where the state is as before", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        let entity = EMPTY_ENTITY;
        for (const observation of set) {
          const known = entity.points.has(observation.observedAt);
          const next = applyObservation(entity, observation);
          const isSame = Bun.deepEquals(next.entity, entity, true);
          const expected = isSame ? "unchanged" : known ? "changed" : "new";
          expect(next.outcome).toBe(expected);
          entity = next.entity;
        }
      }),
    );
  });
});

describe("mergeCounts", () => {
  test("mergeCounts() keeps a known count where the other does not tell", () => {
    expect(mergeCounts({ a: 1, b: null }, { a: null, b: 2 })).toEqual({ a: 1, b: 2 });
    expect(mergeCounts({ a: 0 }, { a: null })).toEqual({ a: 0 });
    expect(mergeCounts({ a: null }, { a: 0 })).toEqual({ a: 0 });
  });

  test("mergeCounts() returns the very counts that were known where nothing changed", () => {
    const known = { a: 1, b: null };
    expect(mergeCounts(known, { a: 1, b: null })).toBe(known);
  });

  test("mergeCounts() commutes, associates and repeats without effect", () => {
    const tell = fc.constantFrom(null, 0, 1, 2);
    const counts: fc.Arbitrary<Counts> = fc.record({ a: tell, b: tell, c: tell });
    fc.assert(
      fc.property(counts, counts, counts, (a, b, c) => {
        expect(mergeCounts(a, b)).toEqual(mergeCounts(b, a));
        expect(mergeCounts(mergeCounts(a, b), c)).toEqual(mergeCounts(a, mergeCounts(b, c)));
        const joined = mergeCounts(a, b);
        expect(mergeCounts(joined, b)).toBe(joined);
      }),
    );
  });
});

describe("mergeDescription", () => {
  const given = (observedAt: number, described: Observation["attributes"]) =>
    mergeAttributes({ name: { value: "m", at: 5 } }, { observedAt, attributes: described })["name"];

  test("mergeAttributes() takes a newer value and leaves an older one", () => {
    expect(given(6, { name: "a" })).toEqual({ value: "a", at: 6 });
    expect(given(4, { name: "z" })).toEqual({ value: "m", at: 5 });
  });

  test("mergeAttributes() takes the greater of two values of one instant, by their bytes", () => {
    expect(given(5, { name: "n" })).toEqual({ value: "n", at: 5 });
    expect(given(5, { name: "l" })).toEqual({ value: "m", at: 5 });
    const emoji = { name: { value: "！", at: 5 } };
    expect(mergeAttributes(emoji, { observedAt: 5, attributes: { name: "😀" } })).toEqual({
      name: { value: "😀", at: 5 },
    });
  });

  test("mergeAttributes() takes true for greater than false, a later instant than an earlier", () => {
    const known = { verified: { value: true, at: 5 }, joinedAt: { value: -1, at: 5 } };
    const described = { verified: false, joinedAt: 0 };
    expect(mergeAttributes(known, { observedAt: 5, attributes: described })).toEqual({
      verified: { value: true, at: 5 },
      joinedAt: { value: 0, at: 5 },
    });
  });

  test("mergeAttributes() keeps what an observation does not give", () => {
    expect(given(6, {})).toEqual({ value: "m", at: 5 });
  });

  test("mergeAttributes() gives one description for any order, repetition and split", () => {
    const joined = (set: readonly Pick<Observation, "attributes" | "observedAt">[]) =>
      set.reduce(mergeAttributes, {});
    fc.assert(
      fc.property(rearrangedSets, ({ set, again, cut }) => {
        const parts = [again.slice(0, cut), again.slice(cut)].map((part) => joined(part));
        const fields = parts.flatMap((part) =>
          Object.entries(part).map(([name, { value, at }]) => {
            return { observedAt: at, attributes: { [name]: value } };
          }),
        );
        expect(joined(fields)).toEqual(joined(set));
        expect(joined(again)).toEqual(joined(set));
      }),
    );
  });
});

describe("presentCounts", () => {
  test("findNewestCounts() gives the newest instant, also when it told less than the one before", () => {
    const entity = mergeObservations([
      makeObservation("2026-11-20"),
      makeObservation("2026-11-19", { followers_count: 9 }),
    ]);
    const newest = findNewestCounts(entity);
    expect(formatInstant(newest?.at ?? NaN)).toBe("2026-11-20T00:00:00.000Z");
    expect(newest?.counts["followers_count"]).toBeNull();
  });

  test("findNewestCounts() gives nothing of an entity that was never observed", () => {
    expect(findNewestCounts(EMPTY_ENTITY)).toBeUndefined();
  });

  test("findNewestCounts() gives the latest instant, in whatever order they came in", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        fc.pre(set.length > 0);
        const latest = Math.max(...set.map(({ observedAt }) => observedAt));
        const entity = mergeObservations(set);
        expect(findNewestCounts(entity)?.at).toBe(latest);
        expect(findNewestCounts(entity)?.counts).toBe(entity.points.get(latest));
      }),
    );
  });
});
