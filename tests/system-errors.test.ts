import { describe, expect, test } from "bun:test";
import {
  addAdvice,
  describeError,
  isOutOfDescriptors,
  readAdvice,
  readSystemErrorCode,
} from "../server/system-errors.ts";

describe("describeError()", () => {
  const disk = new Error("The disk is full");
  const cases: [what: string, error: Error, expected: string][] = [
    ["the message of an error without cause", disk, "The disk is full"],
    ["the cause", new Error("It failed", { cause: disk }), "It failed: The disk is full"],
    [
      "the same message of error and cause once",
      new Error(disk.message, { cause: disk }),
      "The disk is full",
    ],
    [
      "the root cause, not those in between",
      new Error("It failed", { cause: new Error("SQLITE_FULL", { cause: disk }) }),
      "It failed: The disk is full",
    ],
    ["a cause that is no error", new Error("It failed", { cause: 13 }), "It failed: 13"],
    [
      "a root cause that is no error",
      new Error("It failed", { cause: new Error("SQLITE_FULL", { cause: "no room" }) }),
      "It failed: no room",
    ],
  ];
  test.each(cases)("has %s", (_what, error, expected) => {
    expect(describeError(error)).toBe(expected);
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

describe("readSystemErrorCode()", () => {
  test("returns the code of an error", () => {
    expect(readSystemErrorCode(Object.assign(new Error("Not there"), { code: "ENOENT" }))).toBe(
      "ENOENT",
    );
  });

  test.each([
    ["an error without one", new Error("Not there")],
    ["an error with a number", Object.assign(new Error("Not there"), { code: 2 })],
    ["what is no error", { code: "ENOENT" }],
    ["nothing", undefined],
  ])("returns an empty text for %s", (_, error) => {
    expect(readSystemErrorCode(error)).toBe("");
  });
});

describe("readAdvice()", () => {
  const withCode = (code: string) => Object.assign(new Error("It failed"), { code });
  const advised = addAdvice(withCode("ENOSPC"), "name another folder");
  const cases: [what: string, error: unknown, expected: string | undefined][] = [
    ["the advice that an error carries, not that for its code", advised, "name another folder"],
    ["the advice of a cause", new Error("It failed", { cause: advised }), "name another folder"],
    ["nothing for an error that carries none on purpose", addNoAdvice("ENOSPC"), undefined],
    ["nothing for another code", withCode("ENOENT"), undefined],
    ["nothing for what is no error", "ENOSPC", undefined],
  ];
  test.each(cases)("returns %s", (_what, error, expected) => {
    expect(readAdvice(error)).toBe(expected);
  });

  test.each([
    ["SQLITE_FULL", "free some space on the disk, then run the command again"],
    ["SQLITE_CORRUPT", "restore a backup, or save what an export can read"],
    ["CHUNK_CORRUPT", "restore a backup, or save what an export can read"],
    ["ENOTDIR", "a part of the path is a file: name a folder"],
    ["EROFS", "run it as a user who may do this, or name another file"],
    ["AUTH_JWT_INVALID", "set DATABASE_AUTH_TOKEN to a token of the libSQL server"],
  ])("returns the advice for %s", (code, advice) => {
    expect(readAdvice(new Error("The operation failed", { cause: withCode(code) }))).toBe(advice);
  });

  function addNoAdvice(code: string): Error {
    return Object.assign(withCode(code), { advice: undefined });
  }
});
