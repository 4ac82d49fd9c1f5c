import { describe, expect, test } from "bun:test";
import { toUnavailableError, isRolledBack } from "../../../server/store/database/errors.ts";

/** What the driver throws, without a code. */
const CANNOT_CONNECT =
  'ConnectionFailed("Unable to open connection to local database metrics.db: 14")';

const makeError = (code: string, cause?: unknown) =>
  Object.assign(new Error("It failed", { cause }), { code });

describe("isRolledBack()", () => {
  test.each([
    ["SQLITE_FULL", true],
    ["SQLITE_CONSTRAINT_CHECK", true],
    ["SQLITE_IOERR_WRITE", false],
    ["SQLITE_IOERR_FSYNC", false],
    ["HRANA_WEBSOCKET_ERROR", false],
    ["EIO", false],
  ])("what failed by %s left nothing: %p", (code, isNothing) => {
    expect(isRolledBack(makeError(code))).toBe(isNothing);
    expect(isRolledBack(makeError("", makeError(code)))).toBe(isNothing);
  });
});

describe("toUnavailableError()", () => {
  test.each([
    ["a lock that another holds", makeError("SQLITE_BUSY")],
    ["a full disk", makeError("SQLITE_FULL")],
    ["a file that may only be read", makeError("SQLITE_READONLY")],
    ["a file that cannot be opened right now", makeError("SQLITE_CANTOPEN")],
    ["a connection to a file that cannot be opened", new Error(CANNOT_CONNECT)],
    ["a process without file descriptors", makeError("EMFILE")],
    ["a system without file descriptors", makeError("ENFILE")],
    ["a server that is away", makeError("ECONNREFUSED")],
    ["a connection that broke", makeError("HRANA_WEBSOCKET_ERROR")],
    ["a server that is asked too much", new Error("Server returned HTTP status 429")],
    ["what stands in front of a server", new Error("Server returned HTTP status 502")],
    ["an answer that was cut", new Error("JSON Parse error: Unterminated string")],
  ])("%s can pass", (_, error) => {
    expect(toUnavailableError(error)).toMatchObject({ code: "Service Unavailable", cause: error });
  });

  test.each([
    ["a table that is not there", makeError("SQLITE_ERROR")],
    ["a disk that fails", makeError("SQLITE_IOERR_WRITE")],
    ["a token that is refused", new Error("Server returned HTTP status 401")],
    ["what is no error", "SQLITE_BUSY"],
  ])("%s does not", (_, error) => {
    expect(toUnavailableError(error)).toBeUndefined();
  });
});
