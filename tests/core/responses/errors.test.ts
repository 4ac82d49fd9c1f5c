import { describe, expect, test } from "bun:test";
import { createNamedResults } from "../../../core/batch.ts";
import { createNotFoundError, createServiceError, createVideoError } from "../../../core/errors.ts";

describe("createVideoError()", () => {
  test("is a sentence for what is not found, else the name, with the message of a 400", () => {
    expect(createVideoError(createNotFoundError("channel", "a"))).toEqual({
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
    const results = [5, createNotFoundError("user", "b"), 0];
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
