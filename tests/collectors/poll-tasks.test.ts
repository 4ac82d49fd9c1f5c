import { describe, expect, test } from "bun:test";
import {
  type CollectionTarget,
  SourceError,
  type PollResult,
} from "../../server/collectors/collector.ts";
import { pollOneByOne } from "../../server/collectors/poll-tasks.ts";

const TARGETS = ["a", "b", "c", "d", "e"].map((id) => ({ id, sourceState: {}, owner: null }));

/** Polls the targets: which were requested, which have a result, and what ended the task. */
async function pollTargets(failureOf: (target: CollectionTarget) => Error | undefined) {
  const requested: string[] = [];
  const results: string[] = [];
  const poll = async function* (target: CollectionTarget): AsyncGenerator<PollResult> {
    requested.push(target.id);
    const failure = failureOf(target);
    if (failure !== undefined) throw failure;
    yield { targetId: target.id };
  };
  let error: string | undefined;
  try {
    for await (const { targetId, failure = "" } of pollOneByOne(TARGETS, poll)) {
      results.push(targetId + failure);
    }
  } catch (thrown) {
    error = String(thrown);
  }
  return { requested: requested.join(""), results, error };
}

const createError = (kind: SourceError["kind"]) => new SourceError(kind, ": no");
const SOURCE_ERROR = "SourceError: : no";

describe("pollOneByOne()", () => {
  test.each(["rate-limited", "stop"] as const)("sends no more requests after %s", async (kind) => {
    const outcome = await pollTargets(({ id }) => (id === "b" ? createError(kind) : undefined));
    expect(outcome).toEqual({ requested: "ab", results: ["a"], error: SOURCE_ERROR });
  });

  test("throws if the first three targets fail", async () => {
    expect(await pollTargets(() => createError("failed"))).toEqual({
      requested: "abc",
      results: [],
      error: SOURCE_ERROR,
    });
  });

  test.each([
    ["is observed", undefined],
    ["does not exist", createError("not-found")],
    ["is rejected", createError("rejected")],
  ])("goes on if one of the first three targets %s", async (_, secondError) => {
    const { requested, results, error } = await pollTargets(({ id }) =>
      id === "b" ? secondError : createError("failed"),
    );
    expect([requested, error]).toEqual(["abcde", undefined]);
    expect(results.map((result) => result.slice(0, 1)).toSorted()).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
    ]);
  });
});
