/**
 * Counts time in ticks. They don't pass while the process is stopped or busy, so no call expires
 * whose response the process had no time to read.
 */

const TICK_MS = 250;

/** The number of ticks that are at least so long. */
export function toTicks(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}

/**
 * Creates a counter that stands still until `start()`.
 *
 * @param onTick Called after each tick.
 * @param isIdle Whether the counter may stand still again.
 */
export function createTicker(onTick: () => void, isIdle: () => boolean) {
  let tick = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    getTick: (): number => tick,

    /** Counts from now on. */
    start(): void {
      timer ??= setInterval(() => {
        tick++;
        if (isIdle()) stop();
        else onTick();
      }, TICK_MS).unref();
    },

    stop,
  };
}
