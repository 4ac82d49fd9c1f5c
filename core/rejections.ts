/** The lines that an import rejects: the first ones, and how many there are of each cause. */
import { REJECTED_LINES_LISTED_MAX } from "./limits.ts";
import type { RejectionReport } from "./stores.ts";

/**
 * Creates a collector of the lines that an import rejects. It lists the first 1,000, and counts all
 * by cause: the reason without the value that a line had.
 *
 * @returns Functions that add a line, add the lines of a report, where `toLine` has the number of
 * each line by that in the report, and return what was collected so far.
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

/** Messages end with the value that they are about, which can be anything. */
function findCause(reason: string): string {
  const end = reason.indexOf(", got ");
  return end === -1 ? reason : reason.slice(0, end);
}
