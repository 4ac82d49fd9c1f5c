import { describe, expect, test } from "bun:test";
import { EMPTY_ENTITY } from "../../../core/entities.ts";
import { createFieldReader, listHistoryPoints } from "../../../core/resources/entity-fields.ts";

const entity = {
  attributes: {
    text: { value: "", at: 1 },
    instant: { value: 0, at: 1 },
    boolean: { value: false, at: 1 },
  },
  points: new Map([
    [9, { followers_count: 0, tweet_count: null }],
    [5, { followers_count: 7, following_count: 3, tweet_count: 8 }],
  ]),
};

describe("createFieldReader()", () => {
  test("reads attributes by their type, also empty, zero and false", () => {
    const { readText, readInstant, readBoolean } = createFieldReader(entity);
    const names = ["text", "instant", "boolean", "none"];
    expect(names.map(readText)).toEqual(["", null, null, null]);
    expect(names.map(readInstant)).toEqual([null, 0, null, null]);
    expect(names.map(readBoolean)).toEqual([null, null, false, null]);
  });

  test("reads the counts of the newest observation only", () => {
    const { observedAt, readCount } = createFieldReader(entity);
    expect(observedAt).toBe(9);
    const names = ["followers_count", "following_count", "tweet_count"];
    expect(names.map(readCount)).toEqual([0, null, null]);
  });

  test("knows nothing without observations", () => {
    const { observedAt, readText, readCount } = createFieldReader(EMPTY_ENTITY);
    expect([observedAt, readText("text"), readCount("views")]).toEqual([null, null, null]);
  });
});

describe("listHistoryPoints()", () => {
  test("lists the oldest first, with null for each count that is not known", () => {
    expect(listHistoryPoints("user", entity)).toEqual([
      { at: 5, counts: [7, 3, 8] },
      { at: 9, counts: [0, null, null] },
    ]);
  });
});
