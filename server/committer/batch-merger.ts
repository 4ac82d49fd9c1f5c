/** Merges batches of several processes, so that they are committed together. */
import { createCommitPacer, type CommitPacing } from "../commit-pacer.ts";
import type { RunBatch } from "../store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../store/accounts/run-batches.ts";

/** The most batches of a commit: the SQL differs by their number, and the server stores it. */
const MERGED_MAX = 16;

interface WaitingBatch extends PromiseWithResolvers<CommittedRuns> {
  readonly batch: RunBatch;
  readonly sender: unknown;
}

const countRequests = ({ runs }: RunBatch): number =>
  runs.reduce((sum, { count }) => sum + count, 0);

/** Of this many commits, the senders are expected to send their next batches soon. */
const RECENT_COMMITS = 3;

/**
 * Creates a function that commits a batch with all that wait when the next commit starts. The pause
 * between commits ends when as many batches wait as recent commits had senders.
 *
 * @param commitAll Commits batches; the promises are in their order.
 */
export function createBatchMerger(
  commitAll: (batches: readonly RunBatch[]) => readonly Promise<CommittedRuns>[],
  pacing: CommitPacing,
) {
  const waiting: WaitingBatch[] = [];
  const recentSenders: ReadonlySet<unknown>[] = [];
  const isComplete = () => waiting.length >= new Set(recentSenders.flatMap((set) => [...set])).size;
  const pacer = createCommitPacer({ ...pacing, isComplete }, startNext);

  function startNext(end: () => void): number {
    const merged = waiting.splice(0, MERGED_MAX);
    if (merged.length === 0) return 0;
    recentSenders.push(new Set(merged.map(({ sender }) => sender)));
    if (recentSenders.length > RECENT_COMMITS) recentSenders.shift();
    const commits = commitAll(merged.map(({ batch }) => batch));
    for (const [index, commit] of commits.entries()) {
      commit.then(merged[index]?.resolve, merged[index]?.reject);
    }
    void Promise.allSettled(commits).then(end);
    return merged.reduce((sum, { batch }) => sum + countRequests(batch), 0);
  }

  /** @param sender Whose batch it is; none for this process. */
  return (batch: RunBatch, sender?: object): Promise<CommittedRuns> => {
    const added = { batch, sender, ...Promise.withResolvers<CommittedRuns>() };
    waiting.push(added);
    pacer.wake();
    return added.promise;
  };
}
