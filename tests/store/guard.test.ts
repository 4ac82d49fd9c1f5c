import { describe, expect, test } from "bun:test";
import { asUnavailable, isRolledBack } from "../../server/store/guard.ts";

/** What the driver throws, without a code. */
const CANNOT_CONNECT =
  'ConnectionFailed("Unable to open connection to local database metrics.db: 14")';

const failed = (code: string, cause?: unknown) =>
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
    expect(isRolledBack(failed(code))).toBe(isNothing);
    expect(isRolledBack(failed("", failed(code)))).toBe(isNothing);
  });
});

describe("asUnavailable()", () => {
  test.each([
    ["a lock that another holds", failed("SQLITE_BUSY")],
    ["a full disk", failed("SQLITE_FULL")],
    ["a file that may only be read", failed("SQLITE_READONLY")],
    ["a file that cannot be opened right now", failed("SQLITE_CANTOPEN")],
    ["a connection to a file that cannot be opened", new Error(CANNOT_CONNECT)],
    ["a process without file descriptors", failed("EMFILE")],
    ["a system without file descriptors", failed("ENFILE")],
    ["a server that is away", failed("ECONNREFUSED")],
    ["a connection that broke", failed("HRANA_WEBSOCKET_ERROR")],
    ["a server that is asked too much", new Error("Server returned HTTP status 429")],
    ["what stands in front of a server", new Error("Server returned HTTP status 502")],
    ["an answer that was cut", new Error("JSON Parse error: Unterminated string")],
  ])("%s can pass", (_, error) => {
    expect(asUnavailable(error)).toMatchObject({ code: "Service Unavailable", cause: error });
  });

  test.each([
    ["a table that is not there", failed("SQLITE_ERROR")],
    ["a disk that fails", failed("SQLITE_IOERR_WRITE")],
    ["a token that is refused", new Error("Server returned HTTP status 401")],
    ["what is no error", "SQLITE_BUSY"],
  ])("%s does not", (_, error) => {
    expect(asUnavailable(error)).toBeUndefined();
  });
});
