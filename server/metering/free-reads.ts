/** Admits reads that no account pays for: those in sessions of administrators. */
import type { DebitQueue } from "./debit-queue.ts";
import { waitForEndOfTurn, type Receipt } from "./group-commit.ts";

/** Creates the admission of free reads, and counts them. */
export function createFreeReads({ readChanges }: Pick<DebitQueue, "readChanges">) {
  let count = 0;
  let nextChanges: Promise<number> | undefined;
  return {
    /**
     * Admits a read without a debit. It learns the changes until now, as a debit would, so that no
     * response is older than its request. Reads of one turn of the event loop share this.
     */
    async admit(): Promise<Receipt> {
      nextChanges ??= waitForEndOfTurn().then(() => {
        nextChanges = undefined;
        return readChanges();
      });
      const changeSequence = await nextChanges;
      count++;
      return { cost: 0, changeSequence, debit: undefined };
    },

    /** The number of admitted reads. */
    count: () => count,
  };
}
