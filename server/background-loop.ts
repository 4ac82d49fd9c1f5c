/** Runs background work again and again. */

/** The options of {@link startLoop}. */
interface LoopOptions {
  /**
   * Does the work.
   *
   * @param signal Aborts when the loop is stopped.
   * @returns Milliseconds until the next run, if not the interval.
   */
  run(signal: AbortSignal): Promise<number | void>;
  /** Milliseconds from the end of a run to the next one. */
  readonly intervalMs: number;
  /** Milliseconds until the first run, which begins at once by default. */
  readonly initialDelayMs?: number | undefined;
  /** Receives the error of a run; the loop goes on. */
  onFailure(error: unknown): void;
}

/** Starts a loop. @returns Stops it; resolves once the current run is done. */
export function startLoop(options: LoopOptions): () => Promise<void> {
  const { run, intervalMs, initialDelayMs, onFailure } = options;
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
    timer = setTimeout(() => {
      currentRun = runOnce();
    }, delayMs);
  }

  if (initialDelayMs === undefined) currentRun = runOnce();
  else schedule(initialDelayMs);
  return async () => {
    abortController.abort();
    clearTimeout(timer);
    await currentRun;
  };
}
