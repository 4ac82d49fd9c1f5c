/** Remembers whether the ledger can commit debits. */

/**
 * Creates the memory of whether the last commit failed.
 *
 * @param probe Writes to the ledger without changing a balance.
 */
export function createLedgerHealth(probe: () => Promise<void>) {
  let isFailing = false;
  let runningProbe: Promise<void> | undefined;
  return {
    /** Records whether a commit succeeds. */
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

    /** Throws while commits fail. After a failure it probes, once for all callers. */
    async check(): Promise<void> {
      if (!isFailing) return;
      runningProbe ??= probe().finally(() => (runningProbe = undefined));
      await runningProbe;
      isFailing = false;
    },
  };
}
