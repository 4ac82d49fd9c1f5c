import { describe, expect, test } from "bun:test";
import { EMPTY_ENTITY } from "../../../core/entities.ts";
import {
  listHistoryPoints,
  nameCounts,
  readFields,
} from "../../../core/responses/entity-fields.ts";

const entity = {
  attributes: {
    displayName: { value: "", at: 1 },
    created_at: { value: 0, at: 1 },
    verified: { value: false, at: 1 },
  },
  points: new Map([
    [9, { followers_count: 0, tweet_count: null }],
    [5, { followers_count: 7, following_count: 3, tweet_count: 8 }],
  ]),
};

const UNKNOWN = {
  displayName: null,
  profile_image_url: null,
  description: null,
  created_at: null,
  verified: null,
  followers_count: null,
  following_count: null,
  tweet_count: null,
};

describe("readFields()", () => {
  test("reads attributes, also empty, zero and false, and the counts of the newest observation only", () => {
    expect(readFields("user", "nasa", entity)).toEqual({
      ...UNKNOWN,
      username: "nasa",
      displayName: "",
      created_at: 0,
      verified: false,
      followers_count: 0,
    });
  });

  test("reads no attribute of another type", () => {
    const attributes = {
      displayName: { value: 0, at: 1 },
      created_at: { value: "", at: 1 },
      verified: { value: 1, at: 1 },
    };
    const fields = readFields("user", "nasa", { attributes, points: new Map() });
    expect(fields).toEqual({ ...UNKNOWN, username: "nasa" });
  });

  test("knows nothing without observations", () => {
    expect(readFields("user", "nasa", EMPTY_ENTITY)).toEqual({ ...UNKNOWN, username: "nasa" });
  });

  test("reads the channel of a short, and its identifier", () => {
    const attributes = { channel: { value: "UC1", at: 1 } };
    const { channel, id } = readFields("short", "s1", { attributes, points: new Map() });
    expect([channel, id]).toEqual(["UC1", "s1"]);
  });
});

describe("nameCounts()", () => {
  test("has null for a count that is left out", () => {
    expect(nameCounts("user", [7, 0])).toEqual({
      followers_count: 7,
      following_count: 0,
      tweet_count: null,
    });
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
