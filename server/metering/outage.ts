/** Outages of the ledger: whether debits can be committed, as far as that was seen. */

/**
 * Makes what remembers whether the last commit failed.
 *
 * @param attempt Writes to the ledger what changes no balance.
 */
export function createOutage(attempt: () => Promise<void>) {
  let isThere = false;
  let attempting: Promise<void> | undefined;
  return {
    /** Sees what becomes of a commit. */
    async watch<Result>(commit: Promise<Result>): Promise<Result> {
      try {
        const result = await commit;
        isThere = false;
        return result;
      } catch (error) {
        isThere = true;
        throw error;
      }
    },

    /** Throws while there is one: an attempt tells, and one is made at a time. */
    async check(): Promise<void> {
      if (!isThere) return;
      attempting ??= attempt().finally(() => (attempting = undefined));
      await attempting;
      isThere = false;
    },
  };
}
