import { describe, expect, test } from "bun:test";
import { ClosedError, ResponseError, WebSocketError } from "@libsql/hrana-client";
import { toUnavailableError } from "../../../server/store/database/errors.ts";

/** The driver throws this without a code. */
const CANNOT_CONNECT =
  'ConnectionFailed("Unable to open connection to local database metrics.db: 14")';

const BUSY = { message: "", code: "SQLITE_BUSY" };

const createError = (code: string) => Object.assign(new Error("It failed"), { code });

describe("toUnavailableError()", () => {
  test.each([
    ["a lock that another process holds", createError("SQLITE_BUSY")],
    ["a full disk", createError("SQLITE_FULL")],
    ["a read-only file", createError("SQLITE_READONLY")],
    ["a file that cannot be opened right now", createError("SQLITE_CANTOPEN")],
    ["a connection to a file that cannot be opened", new Error(CANNOT_CONNECT)],
    ["a process without file descriptors", createError("EMFILE")],
    ["a system without file descriptors", createError("ENFILE")],
    ["a server that is away, or a connection that broke", new WebSocketError("Expected 101")],
    ["a connection that is closed", new ClosedError("Client is closed", undefined)],
    ["a lock that another process of a server holds", new ResponseError("", BUSY)],
    ["a transaction that took too long for a server", createError("TRANSACTION_TIMEOUT")],
  ])("maps %s to Service Unavailable", (_, error) => {
    expect(toUnavailableError(error)).toMatchObject({ code: "Service Unavailable", cause: error });
  });

  test.each([
    ["a missing table", createError("SQLITE_ERROR")],
    ["a disk that fails", createError("SQLITE_IOERR_WRITE")],
    ["a refused token", new ResponseError("Expired", { message: "", code: "AUTH_JWT_EXPIRED" })],
    ["a value that is no error", "SQLITE_BUSY"],
  ])("returns undefined for %s", (_, error) => {
    expect(toUnavailableError(error)).toBeUndefined();
  });
});
