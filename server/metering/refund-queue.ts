/** What has to be given back: tried until it works, or the service ends. */
import pRetry, { AbortError } from "p-retry";
import { withDeadline } from "./deadline.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** Idempotency keys wait for it, so it is tried soon after an outage. */
const RETRY_OPTIONS = { retries: Infinity, minTimeout: 1000, maxTimeout: 1000, unref: true };

/** What refunds are given back with. */
export interface RefundQueueOptions {
  /** Gives a refund back; does nothing more when it is done again. */
  apply(refund: Refund): Promise<void>;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Told of a first attempt that failed, and of what is not given back at the end. */
  onFailure(error: unknown): void;
  /** Keeps what could not be given back at once; without it that ends with the process. */
  readonly spool?: RefundSpool | undefined;
}

/** Makes what gives back. */
export function createRefundQueue(options: RefundQueueOptions) {
  const { apply, timeoutMs, onFailure, spool } = options;
  const pending = new Map<Refund, () => Promise<void>>();
  const firstAttempts = new Set<Promise<boolean>>();
  const { save, remove } = createBestEffortSpool(spool, onFailure);
  let isClosing = false;

  /** Tries until it works; the first attempt is made, and believed, even where the service ends. */
  async function retryUntilDone(refund: Refund, onFirstAttempt: (isDone: boolean) => void) {
    const attempt = async () => {
      try {
        await withDeadline(apply(refund), timeoutMs);
      } catch (cause) {
        // As it is, it might end the retries: a TypeError does, which a broken connection can be.
        throw new Error(`${describeRefund(refund)} is not done yet: ${String(cause)}`, { cause });
      }
    };
    pending.set(refund, attempt);
    const retry = (attemptNumber: number) => {
      if (attemptNumber > 1 && isClosing) throw new AbortError("The service ended");
      return attempt();
    };
    await pRetry(retry, {
      ...RETRY_OPTIONS,
      async onFailedAttempt({ attemptNumber, error }) {
        if (attemptNumber > 1) return;
        onFailure(error);
        await save(refund);
        onFirstAttempt(false);
      },
    });
    pending.delete(refund);
    await remove(refund);
  }

  return {
    /** Keeps a refund before it is tried, so that not even a kill of the process loses it. */
    keep: save,

    /**
     * Ends with the first attempt.
     *
     * @param onDone Told once it is given back.
     * @returns Whether the first attempt did it.
     */
    enqueue(refund: Refund, onDone: () => void): Promise<boolean> {
      const firstAttempt = Promise.withResolvers<boolean>();
      firstAttempts.add(firstAttempt.promise);
      const run = async () => {
        await retryUntilDone(refund, firstAttempt.resolve);
        onDone();
        firstAttempt.resolve(true);
      };
      run().catch(() => firstAttempt.resolve(false)); // It ended with the service.
      return firstAttempt.promise.finally(() => firstAttempts.delete(firstAttempt.promise));
    },

    /** Resolves once every first attempt was made, and what it could not give back is kept. */
    async waitForFirstAttempts(): Promise<void> {
      do {
        await new Promise(setImmediate);
        await Promise.all(firstAttempts);
      } while (firstAttempts.size > 0);
    },

    /** Tries once more what is not given back yet, and ends. */
    async close(): Promise<void> {
      isClosing = true;
      const lastAttempts = Array.from(pending, async ([refund, attempt]) => {
        await attempt();
        await remove(refund);
      });
      for (const outcome of await Promise.allSettled(lastAttempts)) {
        if (outcome.status === "rejected") onFailure(outcome.reason);
      }
    },
  };
}

/** The spool, whose failures are told and stop nothing. */
function createBestEffortSpool(
  spool: RefundSpool | undefined,
  onFailure: (error: unknown) => void,
) {
  return {
    async save(refund: Refund): Promise<void> {
      try {
        await spool?.add(refund);
      } catch (cause) {
        onFailure(
          new Error(`${describeRefund(refund)} cannot be kept in ${spool?.file}`, { cause }),
        );
      }
    },
    async remove(refund: Refund): Promise<void> {
      try {
        await spool?.remove(refund);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

function describeRefund(refund: Refund): string {
  if (refund.kind === "group") return `The withdrawal of debit ${refund.uid}`;
  const { cost, account } = refund.charge;
  return `A refund of ${cost} to account ${account}`;
}
