/** Gives back what earlier processes could not give back before they ended. */
import { DomainError } from "../../core/errors.ts";
import type { RecoveredFile } from "../ports/ledger.ts";
import { countRefundRequests, type Refund, type RefundSpool } from "./refund-spool.ts";

/**
 * Applies the refunds that other processes kept, and removes the files that are done.
 *
 * @param apply Gives a refund back; does nothing more when it is done again.
 */
export async function recoverRefunds(
  spool: RefundSpool,
  apply: (refund: Refund) => Promise<void>,
): Promise<RecoveredFile[]> {
  const recovered: RecoveredFile[] = [];
  for (const spoolFile of await spool.readOthers()) {
    const { refunds, otherDatabases, damagedLines } = spoolFile;
    const { settled, failure } = await applyAll(refunds, apply);
    const totalRequests = refunds.reduce((sum, refund) => sum + countRefundRequests(refund), 0);
    const problems = Object.entries(otherDatabases).map(
      ([database, requests]) => `${requests} of another database, ${database}`,
    );
    if (damagedLines.length > 0) problems.push(`damaged lines: ${damagedLines.join(", ")}`);
    if (failure === undefined) await spool.discard(spoolFile);
    else problems.push(failure);
    const left = Object.values(otherDatabases).reduce((sum, requests) => sum + requests, 0);
    recovered.push({
      file: spoolFile.file,
      settled,
      left: left + totalRequests - settled,
      problems,
    });
  }
  return recovered;
}

/** Applies refunds; the rest is not tried while the database is not available. */
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
