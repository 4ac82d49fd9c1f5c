import { describe, expect, test } from "bun:test";
import { describeError, isOutOfDescriptors, readSystemErrorCode } from "../server/system-errors.ts";

describe("describeError", () => {
  const disk = new Error("The disk is full");
  const cases: [what: string, error: Error, said: string][] = [
    ["what it says, where nothing caused it", disk, "The disk is full"],
    ["its cause", new Error("It failed", { cause: disk }), "It failed: The disk is full"],
    ["what its cause says too, once", new Error(disk.message, { cause: disk }), "The disk is full"],
    [
      "what it all began with, not what came between",
      new Error("It failed", { cause: new Error("SQLITE_FULL", { cause: disk }) }),
      "It failed: The disk is full",
    ],
    ["a cause that is no error", new Error("It failed", { cause: 13 }), "It failed: 13"],
    [
      "a cause that is no error, of its cause",
      new Error("It failed", { cause: new Error("SQLITE_FULL", { cause: "no room" }) }),
      "It failed: no room",
    ],
  ];
  test.each(cases)("describeError() tells %s", (_what, error, said) => {
    expect(describeError(error)).toBe(said);
  });
});

test.each([
  ["EMFILE", true],
  ["ENFILE", true],
  ["ENOENT", false],
  ["", false],
])("isOutOfDescriptors() of an error with the code %j is %p", (code, expected) => {
  expect(isOutOfDescriptors(Object.assign(new Error("It failed"), { code }))).toBe(expected);
});

describe("readSystemErrorCode", () => {
  test("readSystemErrorCode() is the code that an error came with", () => {
    expect(readSystemErrorCode(Object.assign(new Error("Not there"), { code: "ENOENT" }))).toBe(
      "ENOENT",
    );
  });

  test.each([
    ["an error without one", new Error("Not there")],
    ["an error with a number", Object.assign(new Error("Not there"), { code: 2 })],
    ["what is no error", { code: "ENOENT" }],
    ["nothing", undefined],
  ])("readSystemErrorCode() is empty for %s", (_, error) => {
    expect(readSystemErrorCode(error)).toBe("");
  });
});
