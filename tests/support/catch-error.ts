/** Catches the error of asynchronous work. */

/**
 * Runs work that must fail.
 *
 * @returns What it rejects with or throws.
 * @throws If it succeeds.
 */
export async function catchError(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}
