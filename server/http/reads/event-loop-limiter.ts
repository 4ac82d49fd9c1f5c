/**
 * Turns of the event loop: what takes long is done a little at a time, so that answers leave and
 * requests come in between, however many wait.
 */

/**
 * Makes a gate that lets only so many through in one turn, in the order they came.
 *
 * @returns Waits for its turn; nothing where it is now.
 */
export function createEventLoopLimiter(maxPerIteration: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let remaining = maxPerIteration;
  let isScheduled = false;

  function startIteration(): void {
    const released = waiting.splice(0, maxPerIteration);
    remaining = maxPerIteration - released.length;
    isScheduled = released.length > 0;
    if (isScheduled) setImmediate(startIteration);
    for (const resume of released) resume();
  }

  return () => {
    if (!isScheduled) setImmediate(startIteration);
    isScheduled = true;
    if (remaining === 0) return new Promise((resolve) => waiting.push(resolve));
    remaining--;
    return undefined;
  };
}
