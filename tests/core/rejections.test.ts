import { describe, expect, test } from "bun:test";
import { REJECTED_LINES_LISTED_MAX } from "../../core/limits.ts";
import { countRejected, createRejectionCollector } from "../../core/rejections.ts";

describe("createRejectionCollector()", () => {
  test("lists the first lines, and counts all by the reason without the value", () => {
    const rejections = createRejectionCollector();
    const count = REJECTED_LINES_LISTED_MAX + 7;
    for (let line = 1; line <= count; line++) {
      rejections.add({ line, reason: `views must be a whole number, got ${-line}, got it` });
    }
    rejections.add({ line: count + 1, reason: "id must not be empty" });
    const report = rejections.report();
    expect(report.rejected).toHaveLength(REJECTED_LINES_LISTED_MAX);
    expect(report.rejected.at(-1)?.line).toBe(REJECTED_LINES_LISTED_MAX);
    expect(report.causes).toEqual([
      { cause: "views must be a whole number", lines: count },
      { cause: "id must not be empty", lines: 1 },
    ]);
    expect(countRejected(report)).toBe(count + 1);
  });

  test("adds reports, with the numbers of their lines in the whole", () => {
    const part = createRejectionCollector();
    part.add({ line: 2, reason: "id must not be empty" });
    const whole = createRejectionCollector();
    for (const before of [0, 10]) whole.addReport(part.report(), (line) => before + line);
    expect(whole.report()).toEqual({
      rejected: [2, 12].map((line) => ({ line, reason: "id must not be empty" })),
      causes: [{ cause: "id must not be empty", lines: 2 }],
    });
  });
});
