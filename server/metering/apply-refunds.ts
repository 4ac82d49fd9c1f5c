/** Applies refunds in groups, each as one transaction: those that failed before, or of other processes. */
import { DomainError } from "../../core/errors.ts";
import { listCharges, type Refund, type RefundSpool } from "./refund-spool.ts";

/** Applies refunds. Applying them again changes nothing. */
export type ApplyRefunds = (refunds: readonly Refund[]) => Promise<void>;

/**
 * The most debits of a transaction, and the most refunds: these take 4 ms of the thread that serves
 * requests.
 */
export const GROUP_MAX_SIZE = 256;

/** Refunds that are not applied, and why. */
export interface GroupFailure {
  readonly refunds: readonly Refund[];
  readonly error: unknown;
}

/**
 * Applies refunds in groups. The refunds of a group that fails are applied one by one, so that none
 * holds up the others. It stops at the first group for which the database is not available.
 */
export async function applyInGroups(
  refunds: readonly Refund[],
  apply: ApplyRefunds,
): Promise<{ readonly applied: ReadonlySet<Refund>; readonly failures: readonly GroupFailure[] }> {
  const applied = new Set<Refund>();
  const failures: GroupFailure[] = [];
  const groups: (readonly Refund[])[] = [];
  for (let start = 0; start < refunds.length; start += GROUP_MAX_SIZE) {
    groups.push(refunds.slice(start, start + GROUP_MAX_SIZE));
  }
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
    try {
      await apply(group);
      for (const refund of group) applied.add(refund);
    } catch (error) {
      if (error instanceof DomainError && error.code === "Service Unavailable") {
        failures.push({ refunds: [group, ...groups].flat(), error });
        break;
      }
      if (group.length > 1) groups.unshift(...group.map((refund) => [refund]));
      else failures.push({ refunds: group, error });
    }
  }
  return { applied, failures };
}

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

/** Applies the refunds of other processes, ended or running, and removes the files that are done. */
export async function recoverRefunds(
  spool: RefundSpool,
  apply: ApplyRefunds,
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
