import { describe, expect, test } from "bun:test";
import { createChannelNotFoundError, createUserNotFoundError } from "../../../core/errors.ts";
import { createCreatorResult } from "../../../core/resources/creator-resources.ts";
import {
  createNamedResults,
  createServiceError,
  createVideoError,
} from "../../../core/resources/error-resources.ts";

describe("createVideoError()", () => {
  test("is a sentence for what is not found, else the name, with the message of a 400", () => {
    expect(createVideoError(createChannelNotFoundError("a"))).toEqual({
      error: "Channel a not found",
    });
    expect(createVideoError({ code: "Invalid Request", message: "limit is 0" })).toEqual({
      error: "Invalid Request: limit is 0",
    });
    expect(createVideoError({ code: "Conflict", message: "no" })).toEqual({ error: "Conflict" });
  });
});

describe("createServiceError()", () => {
  test("has the name and the message", () => {
    expect(createServiceError({ code: "Conflict", message: "no" })).toEqual({
      error: "Conflict",
      message: "no",
    });
  });
});

describe("createNamedResults()", () => {
  test("has what was found of each name, or the error", () => {
    const results = [5, createUserNotFoundError("b"), 0];
    const create = (value: number) => ({ value });
    expect(createNamedResults(["a", "b", "c"], results, create, createServiceError)).toEqual([
      { name: "a", found: true, value: 5 },
      {
        name: "b",
        found: false,
        error: { error: "User Not Found", message: "User b not found" },
      },
      { name: "c", found: true, value: 0 },
    ]);
  });
});

describe("createCreatorResult()", () => {
  test.each([
    ["added", "Creator NASA added to the monitoring list"],
    ["removed", "Creator NASA removed from the monitoring list"],
  ] as const)("says that a creator was %s", (change, message) => {
    const creator = { creator: "NASA", platform: "microblog" } as const;
    expect(createCreatorResult(creator, 3, change)).toEqual({
      ...creator,
      message,
      total_creators: 3,
    });
  });
});
