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
  let groups = new Map<string, Counts>();
  /** The counts that the previous request was added to: most requests are of the same group. */
  let last: Counts | undefined;
  let timer: Timer | undefined;
  let writing = Promise.resolve();

  function find({ account, key, endpoint, hour }: Debit): Counts {
    if (
      last?.account === account &&
      last.key === key &&
      last.endpoint === endpoint &&
      last.hour === hour
    )
      return last;
    const name = `${account} ${key} ${hour} ${endpoint}`;
    const added = { account, key, endpoint, hour, ok: 0, notModified: 0, notFound: 0, failed: 0 };
    const counts = groups.get(name) ?? added;
    groups.set(name, counts);
    return counts;
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (groups.size === 0) return writing;
    const updates = [...groups.values()];
    groups = new Map();
    last = undefined;
    writing = writing.then(() => ledger.addStatuses(updates)).catch(onFailure);
    return writing;
  }

  return {
    /** @param status `undefined` if the request failed and is refunded. */
    count(debit: Debit, status: number | undefined): void {
      last = find(debit);
      if (status === 200) last.ok++;
      else if (status === 304) last.notModified++;
      else if (status === 404) last.notFound++;
      else last.failed++;
      timer ??= setTimeout(() => void flush(), INTERVAL_MS);
    },

    flush,
  };
}
