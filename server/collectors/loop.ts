/** The loop of a source: takes its turns while a service runs. */
import type { Turns } from "./turns.ts";

/** It is looked for what is due this often at most, and, unless told, at least. */
const SHORTEST_MS = 2000;
const LONGEST_MS = 30_000;

/**
 * Takes turns again and again, one after another.
 *
 * @param now The clock, in milliseconds since 1970 UTC.
 * @param onFailure Told of a turn that failed; the next one comes all the same.
 * @param lookEveryMs The longest wait between two turns.
 * @returns What ends it, once the errand that is under way is done.
 */
export function runLoop(
  turns: Turns,
  now: () => number,
  onFailure: (error: unknown) => void,
  lookEveryMs = LONGEST_MS,
): () => Promise<void> {
  let isEnded = false;
  let timer: Timer | undefined;

  async function turn(): Promise<void> {
    let waitMs = lookEveryMs;
    try {
      await turns.collect();
      const wakeAt = await turns.wakeAt();
      if (wakeAt !== undefined) waitMs = Math.min(waitMs, Math.max(SHORTEST_MS, wakeAt - now()));
    } catch (error) {
      onFailure(error);
    }
    if (isEnded) return;
    timer = setTimeout(begin, waitMs);
  }

  let current = turn();
  function begin(): void {
    current = turn();
  }

  return async () => {
    isEnded = true;
    clearTimeout(timer);
    turns.end();
    await current;
  };
}
