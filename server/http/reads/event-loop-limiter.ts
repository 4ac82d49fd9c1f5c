/** Limits the reads in one iteration of the event loop, so that responses leave between them. */

/** Callers get slots in the order they came. `undefined` means that a slot is free now. */
export function createEventLoopLimiter(maxPerIteration: number) {
  const waiting: (() => void)[] = [];
  let freeSlots = maxPerIteration;
  let isScheduled = false;

  function startIteration(): void {
    const released = waiting.splice(0, maxPerIteration);
    freeSlots = maxPerIteration - released.length;
    isScheduled = released.length > 0;
    if (isScheduled) setImmediate(startIteration);
    for (const resume of released) resume();
  }

  function waitForSlot(): Promise<void> | undefined {
    if (!isScheduled) setImmediate(startIteration);
    isScheduled = true;
    if (freeSlots === 0) return new Promise((resolve) => waiting.push(resolve));
    freeSlots--;
    return undefined;
  }

  return Object.assign(waitForSlot, { countWaiting: (): number => waiting.length });
}
