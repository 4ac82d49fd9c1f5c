/** Outages of the ledger: whether debits can be committed, as far as that was seen. */

/**
 * Makes what remembers whether the last commit failed.
 *
 * @param probe Writes to the ledger what changes no balance.
 */
export function createLedgerHealth(probe: () => Promise<void>) {
  let isFailing = false;
  let runningProbe: Promise<void> | undefined;
  return {
    /** Sees what becomes of a commit. */
    async track<Result>(commit: Promise<Result>): Promise<Result> {
      try {
        const result = await commit;
        isFailing = false;
        return result;
      } catch (error) {
        isFailing = true;
        throw error;
      }
    },

    /** Throws while there is one: an attempt tells, and one is made at a time. */
    async check(): Promise<void> {
      if (!isFailing) return;
      runningProbe ??= probe().finally(() => (runningProbe = undefined));
      await runningProbe;
      isFailing = false;
    },
  };
}
