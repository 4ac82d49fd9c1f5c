import { describe, expect, test } from "bun:test";
import { DomainError } from "../../core/errors.ts";
import { createFailureLog } from "../../server/process/logger.ts";

/** A log, and its lines with the values in them. */
function createTestLog() {
  const lines: string[] = [];
  const log = createFailureLog((level, sentence, values) => {
    lines.push(`${level} ${sentence.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name]))}`);
  });
  return { ...log, take: () => lines.splice(0) };
}

const createDiskFullError = () =>
  new DomainError("Service Unavailable", "The database is not available right now", {
    cause: new Error("database or disk is full"),
  });

const hasStack = (line: string) => /\n +at /.test(line);

describe("createFailureLog()", () => {
  test("add() logs the stack of a cause once, then lines; summarize() logs a count", () => {
    const { add, summarize, take } = createTestLog();
    for (let nth = 1; nth <= 5000; nth++)
      add("Request {id} failed: {error}", { id: nth }, createDiskFullError());
    const lines = take();
    expect(lines.length).toBe(10);
    expect(lines.map(hasStack)).toEqual([true, ...Array.from({ length: 9 }, () => false)]);
    expect(lines[9]).toBe(
      "error Request 10 failed: The database is not available right now: database or disk is full",
    );
    summarize();
    expect(take()).toEqual([
      "error Still failing, 4990 more failures in the last minute: Error: database or disk is full",
    ]);
  });

  test("summarize() logs that a cause is gone, and add() logs its stack when it returns", () => {
    const { add, summarize, take } = createTestLog();
    add("It failed: {error}", {}, createDiskFullError());
    summarize();
    take();
    summarize();
    expect(take()).toEqual([
      "warning No longer failing, after 1 failures: Error: database or disk is full",
    ]);
    summarize();
    expect(take()).toEqual([]);
    add("It failed: {error}", {}, createDiskFullError());
    expect(take().map(hasStack)).toEqual([true]);
  });

  test("add() groups failures by their root cause, whatever wraps it", () => {
    const { add, take } = createTestLog();
    add("It failed: {error}", {}, new Error("Refund 17 failed", { cause: new Error("Gone 8 s") }));
    add("It failed: {error}", {}, new Error("Refund 18 failed", { cause: new Error("Gone 9 s") }));
    add("It failed: {error}", {}, new Error("Something else"));
    add("It failed: {error}", {}, "a text");
    expect(take().map(hasStack)).toEqual([true, false, true, false]);
  });

  test("flush() logs the counts that are not logged yet", () => {
    const { add, flush: end, take } = createTestLog();
    for (let nth = 0; nth < 12; nth++) add("It failed: {error}", {}, createDiskFullError());
    take();
    end();
    expect(take()).toEqual([
      "error Still failing, 2 more failures in the last minute: Error: database or disk is full",
    ]);
    end();
    expect(take()).toEqual([]);
  });

  test("add() counts the causes beyond a limit together", () => {
    const { add, summarize, take } = createTestLog();
    const words = Array.from({ length: 5000 }, (_, nth) =>
      nth.toString().replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? ""),
    );
    for (const word of words) add("It failed: {error}", {}, new Error(word));
    expect(take().length).toBe(100 + 10);
    summarize();
    expect(take()).toEqual([
      "error Still failing, 4890 more failures in the last minute: another cause",
    ]);
  });
});
