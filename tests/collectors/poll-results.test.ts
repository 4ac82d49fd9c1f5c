import { describe, expect, test } from "bun:test";
import type { CollectionTarget } from "../../server/ports/targets.ts";
import { pollOneByOne } from "../../server/collectors/poll-results.ts";
import { NotFoundError, SourceError, type PollResult } from "../../server/collectors/collector.ts";

const TARGETS = ["a", "b", "c", "d", "e"].map((id) => ({ id, sourceState: {}, owner: null }));

/** Goes through the targets: who was asked about, what was told, and what ended it. */
async function pollTargets(failureOf: (target: CollectionTarget) => Error | undefined) {
  const polledIds: string[] = [];
  const results: string[] = [];
  const poll = async function* (target: CollectionTarget): AsyncGenerator<PollResult> {
    polledIds.push(target.id);
    const failure = failureOf(target);
    if (failure !== undefined) throw failure;
    yield { target: target.id };
  };
  try {
    for await (const { target, failure = "" } of pollOneByOne(TARGETS, poll)) {
      results.push(target + failure);
    }
  } catch (error) {
    return { asked: polledIds.join(""), told: results, ended: String(error) };
  }
  return { asked: polledIds.join(""), told: results, ended: undefined };
}

const createError = (kind: SourceError["kind"]) => new SourceError(kind, ": no");
const SOURCE_ERROR = "SourceError: : no";

describe("oneByOne()", () => {
  test.each(["wait", "stop"] as const)("asks nothing more once it is to %s", async (kind) => {
    const outcome = await pollTargets(({ id }) => (id === "b" ? createError(kind) : undefined));
    expect(outcome).toEqual({ asked: "ab", told: ["a"], ended: SOURCE_ERROR });
  });

  test("ends where the first three fail: the source does", async () => {
    expect(await pollTargets(() => createError("failed"))).toEqual({
      asked: "abc",
      told: [],
      ended: SOURCE_ERROR,
    });
  });

  test.each([
    ["told", undefined],
    ["not there", new NotFoundError(": none")],
    ["refused", createError("refused")],
  ])("goes on where one of them is %s: the source answers", async (_, other) => {
    const { asked, told, ended } = await pollTargets(({ id }) =>
      id === "b" ? other : createError("failed"),
    );
    expect([asked, ended]).toEqual(["abcde", undefined]);
    expect(told.map((one) => one.slice(0, 1)).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  });
});
