/** Work that is shared by all who ask for it at once. */

/**
 * Makes what runs `work` one run at a time. Whoever asks while it runs gets the result of the next
 * run, which all of them share: so no result is older than the request for it.
 */
export function coalesceRuns<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;

  function run(): Promise<Result> {
    next = undefined;
    const own = work().finally(() => {
      if (running === own) running = undefined;
    });
    running = own;
    return own;
  }

  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return run();
    next = running.then(run, run);
    return next;
  };
}
