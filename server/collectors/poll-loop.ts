/** The loop of a source: takes its turns while a service runs. */
import type { PollCycle } from "./poll-cycle.ts";

/** It is looked for what is due this often at most, and, unless told, at least. */
const MIN_POLL_INTERVAL_MS = 2000;
const MAX_POLL_INTERVAL_MS = 30_000;

/**
 * Takes turns again and again, one after another.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @param onFailure Told of a turn that failed; the next one comes all the same.
 * @param maxPollIntervalMs The longest wait between two turns.
 * @returns What ends it, once the errand that is under way is done.
 */
export function startPollLoop(
  pollCycle: PollCycle,
  now: () => number,
  onFailure: (error: unknown) => void,
  maxPollIntervalMs = MAX_POLL_INTERVAL_MS,
): () => Promise<void> {
  let isStopped = false;
  let timer: Timer | undefined;

  async function pollOnce(): Promise<void> {
    let waitMs = maxPollIntervalMs;
    try {
      await pollCycle.collect();
      const wakeAt = await pollCycle.readNextDue();
      if (wakeAt !== undefined)
        waitMs = Math.min(waitMs, Math.max(MIN_POLL_INTERVAL_MS, wakeAt - now()));
    } catch (error) {
      onFailure(error);
    }
    if (isStopped) return;
    timer = setTimeout(pollAgain, waitMs);
  }

  let currentPoll = pollOnce();
  function pollAgain(): void {
    currentPoll = pollOnce();
  }

  return async () => {
    isStopped = true;
    clearTimeout(timer);
    pollCycle.stop();
    await currentPoll;
  };
}
