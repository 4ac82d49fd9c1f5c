/** Applies the refunds that other processes, ended or running, saved in files. */
import { applyInGroups } from "./refund-queue.ts";
import { listCharges, type Refund, type RefundSpool } from "./refund-spool.ts";

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

const countRequests = (refunds: Iterable<Refund>) =>
  Array.from(refunds).flatMap(listCharges).length;

/** Applies the refunds of other processes, and removes the files that are done. */
export async function recoverRefunds(
  spool: RefundSpool,
  apply: Parameters<typeof applyInGroups>[1],
): Promise<RecoveredFile[]> {
  const recovered: RecoveredFile[] = [];
  for (const spoolFile of await spool.readOthers()) {
    const { file, refunds, otherDatabases, damagedLines } = spoolFile;
    const { applied, failures } = await applyInGroups(refunds, apply);
    const problems: string[] = [];
    const settled = countRequests(applied);
    let left = countRequests(refunds) - settled;
    for (const [database, requests] of Object.entries(otherDatabases)) {
      problems.push(`${requests} of another database, ${database}`);
      left += requests;
    }
    if (damagedLines.length > 0) problems.push(`damaged lines: ${damagedLines.join(", ")}`);
    const error = failures.at(-1)?.error;
    if (failures.length === 0) await spool.discard(spoolFile);
    else problems.push(error instanceof Error ? error.message : String(error));
    recovered.push({ file, settled, left, problems });
  }
  return recovered;
}
