/** Applies refunds in groups, each as one transaction. */
import { DomainError } from "../../core/errors.ts";
import type { Refund } from "./refund-spool.ts";

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
 *
 * @param apply Applies refunds. Applying them again changes nothing.
 */
export async function applyInGroups(
  refunds: readonly Refund[],
  apply: (group: readonly Refund[]) => Promise<void>,
): Promise<{ readonly applied: ReadonlySet<Refund>; readonly failures: readonly GroupFailure[] }> {
  const applied = new Set<Refund>();
  const failures: GroupFailure[] = [];
  const groups = splitIntoGroups(refunds);
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

function splitIntoGroups(refunds: readonly Refund[]): (readonly Refund[])[] {
  const count = Math.ceil(refunds.length / GROUP_MAX_SIZE);
  return Array.from({ length: count }, (_, index) =>
    refunds.slice(index * GROUP_MAX_SIZE, (index + 1) * GROUP_MAX_SIZE),
  );
}
