/** Applies the refunds that other processes, ended or running, saved in files. */
import { DomainError } from "../../core/errors.ts";
import type { RecoveredFile } from "../ports/ledger.ts";
import { countRefundRequests, type Refund, type RefundSpool } from "./refund-spool.ts";

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/**
 * Applies the refunds of other processes, and removes the files that are done.
 *
 * @param apply Applies a refund. Applying it again changes nothing.
 */
export async function recoverRefunds(
  spool: RefundSpool,
  apply: (refund: Refund) => Promise<void>,
): Promise<RecoveredFile[]> {
  const recovered: RecoveredFile[] = [];
  for (const spoolFile of await spool.readOthers()) {
    const { file, refunds, otherDatabases, damagedLines } = spoolFile;
    const { settled, failure } = await applyAll(refunds, apply);
    const problems = Object.entries(otherDatabases).map(
      ([database, requests]) => `${requests} of another database, ${database}`,
    );
    if (damagedLines.length > 0) problems.push(`damaged lines: ${damagedLines.join(", ")}`);
    if (failure === undefined) await spool.discard(spoolFile);
    else problems.push(failure);
    const requests = sum([...refunds.map(countRefundRequests), ...Object.values(otherDatabases)]);
    recovered.push({ file, settled, left: requests - settled, problems });
  }
  return recovered;
}

/** Applies refunds. It stops at the first one for which the database is not available. */
async function applyAll(
  refunds: readonly Refund[],
  apply: (refund: Refund) => Promise<void>,
): Promise<{ settled: number; failure: string | undefined }> {
  let settled = 0;
  let failure: string | undefined;
  for (const refund of refunds) {
    try {
      await apply(refund);
      settled += countRefundRequests(refund);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      if (error instanceof DomainError && error.code === "Service Unavailable") break;
    }
  }
  return { settled, failure };
}
