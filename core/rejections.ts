/** Collects the lines that an import rejects: lists the first lines, and counts all by cause. */
import { REJECTED_LINES_LISTED_MAX } from "./limits.ts";
import type { RejectionReport } from "./stores.ts";

/**
 * Creates a collector of the lines that an import rejects. It lists the first 1,000, and counts all
 * by cause: the reason of the rejection, without the rejected value.
 *
 * @returns Functions that add a line, add the lines of another report (`toLine` converts its line
 * numbers), and return the report so far.
 *
 * @example
 * createRejectionCollector().report(); // { rejected: [], causes: [] }
 */
export function createRejectionCollector(): {
  add(line: RejectionReport["rejected"][number]): void;
  addReport(report: RejectionReport, toLine: (line: number) => number): void;
  report(): RejectionReport;
} {
  const rejected: RejectionReport["rejected"][number][] = [];
  const linesByCause = new Map<string, number>();
  const list = (line: RejectionReport["rejected"][number]) => {
    if (rejected.length < REJECTED_LINES_LISTED_MAX) rejected.push(line);
  };
  const count = (cause: string, lines: number) =>
    void linesByCause.set(cause, (linesByCause.get(cause) ?? 0) + lines);
  return {
    add(line) {
      list(line);
      count(findCause(line.reason), 1);
    },
    addReport(report, toLine) {
      for (const { line, reason } of report.rejected) list({ line: toLine(line), reason });
      for (const { cause, lines } of report.causes) count(cause, lines);
    },
    report: () => ({
      rejected,
      causes: Array.from(linesByCause, ([cause, lines]) => ({ cause, lines })),
    }),
  };
}

/** The number of all lines of a report. */
export function countRejected({ causes }: Pick<RejectionReport, "causes">): number {
  return causes.reduce((sum, { lines }) => sum + lines, 0);
}

/** Removes the rejected value, which is at the end of a message and can be any text. */
function findCause(reason: string): string {
  const end = reason.indexOf(", got ");
  return end === -1 ? reason : reason.slice(0, end);
}
