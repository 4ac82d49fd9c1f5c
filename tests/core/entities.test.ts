import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { parseObservation, type Counts, type Observation } from "../../core/observations.ts";
import { formatInstant } from "../../core/time.ts";
import { NOW, observationArbitrary } from "../support/arbitraries/values.ts";
import { toByteText } from "../support/utf8.ts";
import {
  applyObservation,
  applyObservations as mergeAll,
  findNewestCounts,
  EMPTY_ENTITY,
  type Attributes,
  type Entity,
} from "../../core/entities.ts";

function makeObservation(at: string, fields: Record<string, unknown> = {}): Observation {
  return parseObservation({ kind: "user", observedAt: at, username: "nasa", ...fields }, NOW);
}

function applyObservations(observations: readonly Observation[], start = EMPTY_ENTITY): Entity {
  return observations.reduce((entity, next) => applyObservation(entity, next).entity, start);
}

/** Valid observations of one entity of any kind. */
const observationSets = fc
  .constantFrom(...ENTITY_KINDS)
  .chain((kind) => fc.array(observationArbitrary(kind), { maxLength: 12 }))
  .map((values) => values.map((value) => parseObservation(value, NOW)));

/** A set of observations, and the same set reordered, with repetitions, and where to cut it. */
const rearrangedSets = observationSets.chain((set) =>
  fc.record({
    set: fc.constant(set),
    rearranged: fc
      .tuple(
        fc.shuffledSubarray(set, { minLength: set.length }),
        fc.shuffledSubarray(set),
        fc.nat(set.length),
      )
      .map(([all, some, at]) => all.toSpliced(at, 0, ...some)),
    cut: fc.nat(2 * set.length),
  }),
);

/** Observations that restore a state, like those of an export. */
function toObservations(kind: Observation["kind"], entity: Entity): Observation[] {
  const points = [...entity.points].map(([observedAt, counts]) => {
    return { kind, entityId: "x", observedAt, attributes: {}, counts };
  });
  const fields = Object.entries(entity.attributes).map(([name, { value, at }]) => {
    return { kind, entityId: "x", observedAt: at, attributes: { [name]: value }, counts: {} };
  });
  return [...points, ...fields];
}

/** The expected state, computed by sorting all values instead of merging. */
function computeExpectedState(observations: readonly Observation[]): Entity {
  const newest: Record<string, Attributes[string]> = {};
  const points = new Map<number, Record<string, number | null>>();
  const newestFirst = observations.toSorted((a, b) => b.observedAt - a.observedAt);
  for (const { observedAt: at, attributes, counts } of newestFirst) {
    for (const [name, value] of Object.entries(attributes)) {
      const existing = newest[name];
      const isFirst = existing === undefined;
      if (isFirst || (existing.at === at && toSortKey(value) > toSortKey(existing.value))) {
        newest[name] = { value, at };
      }
    }
    const point = points.get(at) ?? {};
    points.set(at, point);
    for (const [name, count] of Object.entries(counts)) {
      point[name] = Math.max(point[name] ?? -1, count ?? -1);
      if (point[name] === -1) point[name] = null;
    }
  }
  return { attributes: newest, points };
}

/** Maps a text to one that JavaScript compares like the UTF-8 bytes of the text. */
function toSortKey(value: string | number | boolean): string | number {
  return typeof value === "string" ? toByteText(value) : Number(value);
}

describe("applyObservation()", () => {
  test("distinguishes new, changed and unchanged", () => {
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
    expect(same.entity).toEqual(first.entity);
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

  test("ignores smaller counts for a known instant", () => {
    const { entity } = applyObservation(
      EMPTY_ENTITY,
      makeObservation("2026-11-19", { followers_count: 5 }),
    );
    expect(
      applyObservation(entity, makeObservation("2026-11-19", { followers_count: 4 })).outcome,
    ).toBe("unchanged");
    expect(applyObservation(entity, makeObservation("2026-11-19")).outcome).toBe("unchanged");
  });

  test("keeps a count that falls between two instants", () => {
    const entity = applyObservations([
      makeObservation("2026-11-19", { followers_count: 9 }),
      makeObservation("2026-11-20", { followers_count: 3 }),
    ]);
    expect([...entity.points.values()].map((counts) => counts["followers_count"])).toEqual([9, 3]);
  });

  test("does not change its argument", () => {
    const before = applyObservations([
      makeObservation("2026-11-19", { description: "a", tweet_count: 1 }),
    ]);
    const copy = structuredClone(before);
    applyObservations(
      [
        makeObservation("2026-11-19", { description: "b", tweet_count: 2 }),
        makeObservation("2026-11-20"),
      ],
      before,
    );
    expect(before).toEqual(copy);
    expect(EMPTY_ENTITY).toEqual({ attributes: {}, points: new Map() });
  });

  test("gives one state for any order, repetition and grouping", () => {
    fc.assert(
      fc.property(rearrangedSets, ({ set, rearranged, cut }) => {
        const state = applyObservations(set);
        expect(applyObservations(rearranged)).toEqual(state);
        const kind = set[0]?.kind ?? "user";
        const parts = [
          applyObservations(rearranged.slice(0, cut)),
          applyObservations(rearranged.slice(cut)),
        ];
        expect(applyObservations(parts.flatMap((part) => toObservations(kind, part)))).toEqual(
          state,
        );
      }),
      { numRuns: 200 },
    );
  });

  test("keeps the newest attribute and the greatest count of an instant", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        expect(applyObservations(set)).toEqual(computeExpectedState(set));
      }),
      { numRuns: 200 },
    );
  });

  test("returns unchanged exactly if the state is equal", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        let entity = EMPTY_ENTITY;
        for (const observation of set) {
          const isKnown = entity.points.has(observation.observedAt);
          const next = applyObservation(entity, observation);
          const isSame = fc.stringify(next.entity) === fc.stringify(entity);
          const expected = isSame ? "unchanged" : isKnown ? "changed" : "new";
          expect(next.outcome).toBe(expected);
          entity = next.entity;
        }
      }),
    );
  });
});

test("applyObservations() counts the outcomes", () => {
  const first = makeObservation("2026-11-19", { followers_count: 5 });
  const more = makeObservation("2026-11-19", { followers_count: 6 });
  const { entity, outcomes } = mergeAll(EMPTY_ENTITY, [first, more, first, more]);
  expect(outcomes).toEqual({ new: 1, changed: 1, unchanged: 2 });
  expect(entity).toEqual(applyObservations([first, more]));
});

describe("applyObservation() merges the counts of an instant, and", () => {
  const mergeCounts = (existing: Counts, counts: Counts) => {
    const known = { attributes: {}, points: new Map([[5, existing]]) };
    const { entity } = applyObservation(known, { observedAt: 5, attributes: {}, counts });
    return entity.points.get(5) ?? {};
  };

  test("keeps a known count if the other is unknown", () => {
    expect(mergeCounts({ a: 1, b: null }, { a: null, b: 2 })).toEqual({ a: 1, b: 2 });
    expect(mergeCounts({ a: 0 }, { a: null })).toEqual({ a: 0 });
    expect(mergeCounts({ a: null }, { a: 0 })).toEqual({ a: 0 });
  });

  test("is commutative, associative and idempotent", () => {
    const count = fc.constantFrom(null, 0, 1, 2);
    const counts: fc.Arbitrary<Counts> = fc.record({ a: count, b: count, c: count });
    fc.assert(
      fc.property(counts, counts, counts, (a, b, c) => {
        expect(mergeCounts(a, b)).toEqual(mergeCounts(b, a));
        expect(mergeCounts(mergeCounts(a, b), c)).toEqual(mergeCounts(a, mergeCounts(b, c)));
        expect(mergeCounts(mergeCounts(a, b), b)).toEqual(mergeCounts(a, b));
      }),
    );
  });
});

describe("applyObservation() merges attributes, and", () => {
  type Attributed = Pick<Observation, "attributes" | "observedAt">;
  const mergeAttributes = (attributes: Attributes, observation: Attributed) =>
    applyObservation({ attributes, points: new Map() }, { ...observation, counts: {} }).entity
      .attributes;
  const mergeName = (observedAt: number, attributes: Observation["attributes"]) =>
    mergeAttributes({ name: { value: "m", at: 5 } }, { observedAt, attributes })["name"];

  test("takes a newer value and ignores an older one", () => {
    expect(mergeName(6, { name: "a" })).toEqual({ value: "a", at: 6 });
    expect(mergeName(4, { name: "z" })).toEqual({ value: "m", at: 5 });
  });

  test("takes the greater of two values of one instant, by UTF-8 bytes", () => {
    expect(mergeName(5, { name: "n" })).toEqual({ value: "n", at: 5 });
    expect(mergeName(5, { name: "l" })).toEqual({ value: "m", at: 5 });
    const emoji = { name: { value: "！", at: 5 } };
    expect(mergeAttributes(emoji, { observedAt: 5, attributes: { name: "😀" } })).toEqual({
      name: { value: "😀", at: 5 },
    });
  });

  test("orders false before true and instants by time", () => {
    const existing = { verified: { value: true, at: 5 }, joinedAt: { value: -1, at: 5 } };
    const attributes = { verified: false, joinedAt: 0 };
    expect(mergeAttributes(existing, { observedAt: 5, attributes })).toEqual({
      verified: { value: true, at: 5 },
      joinedAt: { value: 0, at: 5 },
    });
  });

  test("keeps attributes that an observation does not have", () => {
    expect(mergeName(6, {})).toEqual({ value: "m", at: 5 });
  });

  test("gives one result for any order, repetition and grouping", () => {
    const joined = (set: readonly Attributed[]) => set.reduce(mergeAttributes, {});
    fc.assert(
      fc.property(rearrangedSets, ({ set, rearranged, cut }) => {
        const parts = [rearranged.slice(0, cut), rearranged.slice(cut)].map((part) => joined(part));
        const fields = parts.flatMap((part) =>
          Object.entries(part).map(([name, { value, at }]) => {
            return { observedAt: at, attributes: { [name]: value } };
          }),
        );
        expect(joined(fields)).toEqual(joined(set));
        expect(joined(rearranged)).toEqual(joined(set));
      }),
    );
  });
});

describe("findNewestCounts()", () => {
  test("returns the newest instant, even if it has fewer counts", () => {
    const entity = applyObservations([
      makeObservation("2026-11-20"),
      makeObservation("2026-11-19", { followers_count: 9 }),
    ]);
    const newest = findNewestCounts(entity);
    expect(formatInstant(newest?.at ?? NaN)).toBe("2026-11-20T00:00:00.000Z");
    expect(newest?.counts["followers_count"]).toBeNull();
  });

  test("returns undefined without observations", () => {
    expect(findNewestCounts(EMPTY_ENTITY)).toBeUndefined();
  });

  test("returns the newest instant in any order of observations", () => {
    fc.assert(
      fc.property(observationSets, (set) => {
        fc.pre(set.length > 0);
        const latest = Math.max(...set.map(({ observedAt }) => observedAt));
        const entity = applyObservations(set);
        expect(findNewestCounts(entity)?.at).toBe(latest);
        expect(findNewestCounts(entity)?.counts).toBe(entity.points.get(latest));
      }),
    );
  });
});
