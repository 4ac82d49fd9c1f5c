/**
 * Counts how charged requests ended, and adds the counts to the usage every few seconds. Their debits
 * are committed before that is known. If the process is killed, how the last requests ended stays
 * unknown: a count is never added twice.
 */
import type { Debit } from "../store/accounts/refund-sql.ts";
import type { StatusCounts, StatusUpdate } from "../store/accounts/usage.ts";
import type { LedgerStore } from "../store/accounts/ledger.ts";

/** How long counts wait to be added. */
const INTERVAL_MS = 5000;

/** The counts of a group while requests are counted. */
type Counts = { -readonly [Name in keyof StatusUpdate]: StatusUpdate[Name] };

/** The counts by status; requests without one failed. */
const COUNT_NAMES: Readonly<Record<number, keyof StatusCounts>> = {
  200: "ok",
  304: "notModified",
  404: "notFound",
};

/**
 * Creates a counter.
 *
 * @param onFailure Receives why counts could not be added; they are dropped then.
 */
export function createStatusCounter(
  ledger: Pick<LedgerStore, "addStatuses">,
  onFailure: (error: unknown) => void,
) {
  let groups = new Map<string, Counts>();
  /** The counts of the previous request: most requests are of the same group. */
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
    const counts = groups.get(name) ?? {
      account,
      key,
      endpoint,
      hour,
      ok: 0,
      notModified: 0,
      notFound: 0,
      failed: 0,
    };
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
      last[COUNT_NAMES[status ?? 0] ?? "failed"]++;
      timer ??= setTimeout(() => void flush(), INTERVAL_MS);
    },

    /** Adds all counts to the usage. */
    flush,
  };
}
