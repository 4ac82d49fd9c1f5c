import { describe, expect, test } from "bun:test";
import type { Target } from "../../core/collection.ts";
import { oneByOne } from "../../server/collectors/findings.ts";
import { NotThere, SourceFailure, type Finding } from "../../server/collectors/port.ts";

const TARGETS = ["a", "b", "c", "d", "e"].map((id) => ({ id, memo: {}, owner: null }));

/** Goes through the targets: who was asked about, what was told, and what ended it. */
async function go(failureOf: (target: Target) => Error | undefined) {
  const asked: string[] = [];
  const told: string[] = [];
  const tell = async function* (target: Target): AsyncGenerator<Finding> {
    asked.push(target.id);
    const failure = failureOf(target);
    if (failure !== undefined) throw failure;
    yield { target: target.id };
  };
  try {
    for await (const { target, failure = "" } of oneByOne(TARGETS, tell)) {
      told.push(target + failure);
    }
  } catch (error) {
    return { asked: asked.join(""), told, ended: String(error) };
  }
  return { asked: asked.join(""), told, ended: undefined };
}

const failed = (kind: SourceFailure["kind"]) => new SourceFailure(kind, ": no");
const ENDED = "SourceFailure: : no";

describe("oneByOne()", () => {
  test.each(["wait", "stop"] as const)("asks nothing more once it is to %s", async (kind) => {
    const outcome = await go(({ id }) => (id === "b" ? failed(kind) : undefined));
    expect(outcome).toEqual({ asked: "ab", told: ["a"], ended: ENDED });
  });

  test("ends where the first three fail: the source does", async () => {
    expect(await go(() => failed("failed"))).toEqual({ asked: "abc", told: [], ended: ENDED });
  });

  test.each([
    ["told", undefined],
    ["not there", new NotThere(": none")],
    ["refused", failed("refused")],
  ])("goes on where one of them is %s: the source answers", async (_, other) => {
    const { asked, told, ended } = await go(({ id }) => (id === "b" ? other : failed("failed")));
    expect([asked, ended]).toEqual(["abcde", undefined]);
    expect(told.map((one) => one.slice(0, 1)).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  });
});
