/**
 * Counts charged requests by how they ended, and adds the counts to the usage every few seconds:
 * debits are committed before the end of a request is known. If the process is killed, the ends of
 * the last requests stay unknown: a count is never added twice.
 */
import type { Debit } from "../store/accounts/refunds.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";

/** How long counts wait to be added. */
const INTERVAL_MS = 5000;

type Counts = Parameters<LedgerStore["addStatuses"]>[0][number];

/**
 * Creates a counter. @param onFailure Receives why counts could not be added; they are dropped
 * then.
 */
export function createStatusCounter(
  ledger: Pick<LedgerStore, "addStatuses">,
  onFailure: (error: unknown) => void,
) {
  /** By API key, which is of one account. */
  let groups = new Map<number, Counts[]>();
  let timer: Timer | undefined;
  let writing = Promise.resolve();

  function find({ account, key, endpoint, hour }: Debit): Counts {
    let ofKey = groups.get(key);
    if (ofKey === undefined) groups.set(key, (ofKey = []));
    for (const counts of ofKey) {
      if (counts.endpoint === endpoint && counts.hour === hour) return counts;
    }
    const added = { account, key, endpoint, hour, ok: 0, notModified: 0, notFound: 0, failed: 0 };
    ofKey.push(added);
    return added;
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (groups.size === 0) return writing;
    const updates = [...groups.values()].flat();
    groups = new Map();
    writing = writing.then(() => ledger.addStatuses(updates)).catch(onFailure);
    return writing;
  }

  return {
    /** @param status `undefined` if the request failed and is refunded. */
    count(debit: Debit, status: number | undefined): void {
      const counts = find(debit);
      if (status === 200) counts.ok++;
      else if (status === 304) counts.notModified++;
      else if (status === 404) counts.notFound++;
      else counts.failed++;
      timer ??= setTimeout(() => void flush(), INTERVAL_MS);
    },

    flush,
  };
}
