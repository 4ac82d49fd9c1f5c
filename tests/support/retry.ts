/** Repeats what fails, until a deadline. */

/** Time between two attempts. */
const INTERVAL_MS = 20;

/**
 * Repeats what fails until it works.
 *
 * @param withinMs Afterwards it throws what the last attempt threw.
 * @returns What the attempt that worked resolved to.
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
      await Bun.sleep(INTERVAL_MS);
    }
  }
}
