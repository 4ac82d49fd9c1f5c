/** Applies the refunds that other processes, ended or running, saved in files. */
import { applyInGroups, type GroupFailure } from "./refund-groups.ts";
import { countRefundRequests, type Refund, type RefundSpool } from "./refund-spool.ts";

/** The outcome of a file of refunds that an earlier process left; counts are of requests. */
export interface RecoveredFile {
  readonly file: string;
  /** Refunded, or never debited. */
  readonly settled: number;
  /** Still to be refunded. */
  readonly left: number;
  /** Why refunds are left: another database, damaged lines, a failed attempt. */
  readonly problems: readonly string[];
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

const describeProblem = ({ error }: GroupFailure) =>
  error instanceof Error ? error.message : String(error);

/**
 * Applies the refunds of other processes, and removes the files that are done.
 *
 * @param apply Applies refunds. Applying them again changes nothing.
 */
export async function recoverRefunds(
  spool: RefundSpool,
  apply: (refunds: readonly Refund[]) => Promise<void>,
): Promise<RecoveredFile[]> {
  const recovered: RecoveredFile[] = [];
  for (const spoolFile of await spool.readOthers()) {
    const { file, refunds, otherDatabases, damagedLines } = spoolFile;
    const { applied, failures } = await applyInGroups(refunds, apply);
    const problems = Object.entries(otherDatabases).map(
      ([database, requests]) => `${requests} of another database, ${database}`,
    );
    if (damagedLines.length > 0) problems.push(`damaged lines: ${damagedLines.join(", ")}`);
    const failure = failures.at(-1);
    if (failure === undefined) await spool.discard(spoolFile);
    else problems.push(describeProblem(failure));
    const requests = sum([...refunds.map(countRefundRequests), ...Object.values(otherDatabases)]);
    const settled = sum(Array.from(applied, countRefundRequests));
    recovered.push({ file, settled, left: requests - settled, problems });
  }
  return recovered;
}
