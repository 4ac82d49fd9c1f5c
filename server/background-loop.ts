/** Runs background work in a loop: waits between runs, reports failures, stops on request. */

/** Starts a loop. @returns A function that stops it, and resolves once the current run is done. */
export function startLoop({
  run,
  intervalMs,
  initialDelayMs,
  onFailure,
}: {
  /** A run; may return the milliseconds until the next run, in place of `intervalMs`. */
  readonly run: (signal: AbortSignal) => Promise<number | void>;
  readonly intervalMs: number;
  /** The delay of the first run, which begins at once by default. */
  readonly initialDelayMs?: number | undefined;
  readonly onFailure: (error: unknown) => void;
}): () => Promise<void> {
  const abortController = new AbortController();
  const { signal } = abortController;
  let timer: Timer | undefined;
  let currentRun = Promise.resolve();

  async function runOnce(): Promise<void> {
    let delayMs: number | void = undefined;
    try {
      delayMs = await run(signal);
    } catch (error) {
      onFailure(error);
    }
    if (!signal.aborted) schedule(delayMs ?? intervalMs);
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(() => (currentRun = runOnce()), delayMs);
  }

  if (initialDelayMs === undefined) currentRun = runOnce();
  else schedule(initialDelayMs);
  return async () => {
    abortController.abort();
    clearTimeout(timer);
    await currentRun;
  };
}
