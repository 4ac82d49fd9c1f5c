import { describe, expect, test } from "bun:test";
import { createCreatorList, createCreatorResult } from "../../../core/responses/creators.ts";

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

describe("createCreatorList()", () => {
  test("sorts creators by username regardless of case, and counts them", () => {
    const creators = ["b", "C", "a"].map((creator) => ({
      creator,
      platform: "microblog" as const,
      added_at: "2026-11-20T08:15:30.123Z",
      last_success: null,
      last_failure: null,
      failure: null,
      next_due: null,
    }));
    const list = createCreatorList(creators);
    expect(list.creators.map(({ creator }) => creator)).toEqual(["a", "b", "C"]);
    expect(list.total_creators).toBe(3);
  });
});
