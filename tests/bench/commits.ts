/** Measures the CPU time of a commit of debits, against one INSERT of a row of its size. */
import { join } from "node:path";
import type { BenchContext } from "./bench-context.ts";
import { createRatioRow, type ReportRow } from "./report.ts";

const PART = "commit";

/** The debits of a commit. */
export const COMMIT_GROUP_SIZE = 64;

/** The CPU time of a commit in a round, in microseconds. */
export interface CommitTimes {
  readonly oneAccount: number;
  readonly manyAccounts: number;
  readonly plainRow: number;
}

/** Measures commits of one account and of many, in a process of its own. */
export async function measureCommits({
  workspace,
  logProgress,
}: BenchContext): Promise<ReportRow[]> {
  logProgress("commit: groups of debits");
  const program = join(import.meta.dir, "programs", "commit-debits.ts");
  const printed = await workspace.run([process.execPath, program, workspace.folder]);
  const rounds: readonly CommitTimes[] = JSON.parse(printed);
  const oneAccount = rounds.map((times) => times.oneAccount);
  const group = `${COMMIT_GROUP_SIZE} debits`;
  const unit = "µs of CPU";
  return [
    createRatioRow({
      part: PART,
      what: `${group} of one account / one INSERT of the row`,
      unit,
      ours: oneAccount,
      theirs: rounds.map(({ plainRow }) => plainRow),
    }),
    createRatioRow({
      part: PART,
      what: `${group} of ${COMMIT_GROUP_SIZE} accounts / of one account`,
      unit,
      ours: rounds.map(({ manyAccounts }) => manyAccounts),
      theirs: oneAccount,
    }),
  ];
}
