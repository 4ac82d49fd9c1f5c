/** Waits for a condition, always with a deadline. */

/** The default deadline: long enough for a machine that other programs use too. */
const WITHIN_MS = 10_000;

/** Time between two attempts of `retryWithin()`. */
const RETRY_INTERVAL_MS = 20;

/**
 * Waits until a condition holds.
 *
 * @param isDone Called again and again, about every millisecond at first, later every 50 ms.
 * @throws {Error} When the condition does not hold in time. The message contains its source text.
 */
export async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const start = performance.now();
  while (!(await isDone())) {
    const elapsedMs = performance.now() - start;
    if (elapsedMs > withinMs) throw new Error(`Not true within ${withinMs} ms: ${isDone}`);
    await Bun.sleep(Math.min(50, elapsedMs / 10));
  }
}

/**
 * Repeats an action until it succeeds.
 *
 * @returns The result of the first attempt that succeeds.
 * @throws What the last attempt threw, when none succeeds in time.
 */
export async function retryWithin<Result>(
  withinMs: number,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(RETRY_INTERVAL_MS);
    }
  }
}

/** Lets pending callbacks run, to show that something does not happen by itself. */
export async function letEventLoopRun(): Promise<void> {
  for (let iteration = 0; iteration < 20; iteration++) await Bun.sleep(0);
}
