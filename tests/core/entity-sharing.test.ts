/** Entities share nothing with others that can be changed. */
import { describe, expect, test } from "bun:test";
import { EMPTY_ENTITY, applyObservations } from "../../core/entities.ts";

const createObservation = (day: number, counts: object, attributes: object = {}) => ({
  observedAt: Date.UTC(2026, 10, day),
  attributes: { ...attributes },
  counts: { ...counts },
});

/** Changes all objects, maps and texts in a value. */
function changeEverything(value: unknown): void {
  if (value instanceof Map) {
    for (const inner of value.values()) changeEverything(inner);
    value.clear();
  } else if (typeof value === "object" && value !== null) {
    for (const name of Object.keys(value)) {
      changeEverything(Reflect.get(value, name));
      Reflect.set(value, name, "changed");
    }
  }
}

test("EMPTY_ENTITY cannot be changed", () => {
  const { attributes, points } = EMPTY_ENTITY;
  expect(() => Object.assign(EMPTY_ENTITY, { points: new Map() })).toThrow(TypeError);
  expect(() => Object.assign(attributes, { name: { value: "a", at: 0 } })).toThrow(TypeError);
  if (points instanceof Map) points.set(0, {});
  expect(EMPTY_ENTITY).toEqual({ attributes: {}, points: new Map() });
  expect(structuredClone(EMPTY_ENTITY).points).toEqual(new Map());
});

describe("applyObservations()", () => {
  test.each([
    ["something new", [createObservation(20, { tweet_count: 2 }, { description: "b" })]],
    ["nothing new", []],
  ])("of %s shares nothing with its arguments that can be changed", (_, added) => {
    const given = [
      createObservation(18, { tweet_count: 1 }, { description: "a" }),
      createObservation(19, { tweet_count: 1 }),
    ];
    const { entity: before } = applyObservations(EMPTY_ENTITY, given);
    const { entity } = applyObservations(before, added);
    const copy = structuredClone(entity);
    for (const argument of [before, ...given, ...added]) changeEverything(argument);
    expect(entity).toEqual(copy);
  });
});
