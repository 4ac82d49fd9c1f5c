/** What has to be given back: tried until it works, or the service ends. */
import pRetry, { AbortError } from "p-retry";
import { inTime } from "./in-time.ts";

/** Idempotency keys wait for it, so it is tried soon after an outage. */
const RETRIES = { retries: Infinity, minTimeout: 1000, maxTimeout: 1000, unref: true };

/**
 * Makes what gives back.
 *
 * @param onFailure Told of a first attempt that failed, and of what is not given back at the end.
 */
export function createGivingBack(timeoutMs: number, onFailure: (error: unknown) => void) {
  const pending = new Set<() => Promise<void>>();
  let isEnding = false;

  return {
    /**
     * Ends with the first attempt.
     *
     * @param what What is told where it fails.
     * @param work Does nothing more when it is done again.
     * @param onDone Told once it is given back.
     * @returns Whether the first attempt did it.
     */
    begin(what: string, work: () => Promise<void>, onDone: () => void): Promise<boolean> {
      const attempt = async () => {
        try {
          await inTime(work(), timeoutMs);
        } catch (cause) {
          // As it is, it might end the retries: a TypeError does, which a broken connection can be.
          throw new Error(`${what} is not done yet: ${String(cause)}`, { cause });
        }
      };
      const first = Promise.withResolvers<boolean>();
      // The first attempt is made, and believed, even where the service ends meanwhile.
      const again = (nth: number) => {
        if (nth > 1 && isEnding) throw new AbortError("The service ended");
        return attempt();
      };
      const untilDone = async () => {
        await pRetry(again, {
          ...RETRIES,
          onFailedAttempt({ attemptNumber, error }) {
            if (attemptNumber > 1) return;
            onFailure(error);
            first.resolve(false);
          },
        });
        pending.delete(attempt);
        onDone();
        first.resolve(true);
      };
      pending.add(attempt);
      untilDone().catch(() => undefined); // It ended with the service.
      return first.promise;
    },

    /** Tries once more what is not given back yet, and ends. */
    async close(): Promise<void> {
      isEnding = true;
      const last = await Promise.allSettled(Array.from(pending, (attempt) => attempt()));
      for (const outcome of last) if (outcome.status === "rejected") onFailure(outcome.reason);
    },
  };
}
