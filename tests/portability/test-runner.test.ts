import { expect, test } from "bun:test";
import * as runner from "./test-runner.ts";

/** Calls a matcher of `bun:test`, which the types of chai do not know. */
function check(received: unknown, matcher: string, expected: unknown): void {
  const assertion = runner.expect(received);
  Reflect.apply(Reflect.get(assertion, matcher), assertion, [expected]);
}

test("runTests() runs hooks and every test once, and reports exactly those that fail", async () => {
  const log: string[] = [];
  runner.describe("outer", () => {
    runner.beforeAll(() => log.push("before"));
    runner.afterAll(() => log.push("after"));
    runner.test.each([
      [1, 1],
      [1, 2],
    ])("%d is %d", (left, right) => {
      log.push(`${left} ${right}`);
      check(left, "toBe", right);
    });
    runner.test("rejects", () => Promise.reject(new RangeError("late")));
    runner.test.skipIf(true)("skipped", () => log.push("never"));
    runner.test.skipIf(false)("text", () => {
      check("one two", "toEndWith", "two");
    });
  });
  runner.describe.each(["a", "b"])("starts with %s", (start) => {
    runner.test("matches", () => check(start, "toStartWith", "a"));
  });
  const { passed, skipped, failures } = await runner.runTests();
  expect(log).toEqual(["before", "1 1", "1 2", "after"]);
  expect({ passed, skipped }).toEqual({ passed: 3, skipped: 1 });
  expect(failures.map((failure) => failure.split("\n")[0])).toEqual([
    "outer > %d is %d 1, 2",
    "outer > rejects",
    "starts with %s b > matches",
  ]);
});
