/**
 * Turns of the event loop: what takes long is done a little at a time, so that answers leave and
 * requests come in between, however many wait.
 */

/**
 * Makes a gate that lets only so many through in one turn, in the order they came.
 *
 * @returns Waits for its turn; nothing where it is now.
 */
export function createTurns(most: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let left = most;
  let isSet = false;

  function begin(): void {
    const now = waiting.splice(0, most);
    left = most - now.length;
    isSet = now.length > 0;
    if (isSet) setImmediate(begin);
    for (const go of now) go();
  }

  return () => {
    if (!isSet) setImmediate(begin);
    isSet = true;
    if (left === 0) return new Promise((resolve) => waiting.push(resolve));
    left--;
    return undefined;
  };
}
