/** Applies refunds, and retries those that fail until they succeed or the service stops. */
import pRetry, { AbortError } from "p-retry";
import { withDeadline } from "./deadline.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** Requests with the same idempotency key wait for a refund, so it is retried every second. */
const RETRY_OPTIONS = { retries: Infinity, minTimeout: 1000, maxTimeout: 1000, unref: true };

/** The parts and limits of a refund queue. */
export interface RefundQueueOptions {
  /** Applies a refund. Applying it again changes nothing. */
  apply(refund: Refund): Promise<void>;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Receives the error of a first attempt, and of refunds that are still pending at the end. */
  onFailure(error: unknown): void;
  /** Saves refunds whose first attempt failed; without it they are lost at the end of the process. */
  readonly spool?: RefundSpool | undefined;
}

export function createRefundQueue({ apply, timeoutMs, onFailure, spool }: RefundQueueOptions) {
  const pending = new Map<Refund, () => Promise<void>>();
  const firstAttempts = new Set<Promise<boolean>>();
  const { save, remove } = createBestEffortSpool(spool, onFailure);
  let isClosing = false;

  async function applyInTime(refund: Refund): Promise<void> {
    try {
      await withDeadline(apply(refund), timeoutMs);
    } catch (cause) {
      // p-retry would not retry a TypeError, which a broken connection can be.
      throw new Error(`${describeRefund(refund)} is not done yet: ${String(cause)}`, { cause });
    }
  }

  /** Rejects when the service stops before the refund succeeds. */
  async function retryUntilDone(refund: Refund, onFirstFailure: () => void): Promise<void> {
    const attempt = () => applyInTime(refund);
    pending.set(refund, attempt);
    await pRetry(
      (attemptNumber) => {
        if (attemptNumber > 1 && isClosing) throw new AbortError("The service stops");
        return attempt();
      },
      {
        ...RETRY_OPTIONS,
        async onFailedAttempt({ attemptNumber, error }) {
          if (attemptNumber > 1) return;
          onFailure(error);
          await save(refund);
          onFirstFailure();
        },
      },
    );
    pending.delete(refund);
    await remove(refund);
  }

  return {
    /** Saves a refund in the spool before its first attempt. */
    save,

    /**
     * Applies a refund; resolves after the first attempt.
     *
     * @param onDone Called once the refund is applied, at whatever attempt.
     * @returns Whether the first attempt succeeded.
     */
    enqueue(refund: Refund, onDone: () => void): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      firstAttempts.add(promise);
      const run = async () => {
        await retryUntilDone(refund, () => resolve(false));
        onDone();
        resolve(true);
      };
      run().catch(() => resolve(false)); // The service stopped first.
      return promise.finally(() => firstAttempts.delete(promise));
    },

    /** Resolves once every first attempt was made, and each one that failed is in the spool. */
    async waitForFirstAttempts(): Promise<void> {
      do {
        await new Promise(setImmediate);
        await Promise.all(firstAttempts);
      } while (firstAttempts.size > 0);
    },

    /** Tries every pending refund once more, and stops retrying. */
    async close(): Promise<void> {
      isClosing = true;
      const lastAttempts = Array.from(pending, async ([refund, attempt]) => {
        await attempt();
        await remove(refund);
      });
      for (const result of await Promise.allSettled(lastAttempts)) {
        if (result.status === "rejected") onFailure(result.reason);
      }
    },
  };
}

/** Wraps a spool, so that its failures are reported and stop nothing. */
function createBestEffortSpool(
  spool: RefundSpool | undefined,
  onFailure: (error: unknown) => void,
) {
  return {
    async save(refund: Refund): Promise<void> {
      try {
        await spool?.add(refund);
      } catch (cause) {
        const message = `${describeRefund(refund)} cannot be saved in ${spool?.file}`;
        onFailure(new Error(message, { cause }));
      }
    },
    async remove(refund: Refund): Promise<void> {
      try {
        await spool?.markApplied(refund);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

function describeRefund(refund: Refund): string {
  if (refund.kind === "batch") return `The cancellation of the debits ${refund.uid}`;
  const { cost, account } = refund.charge;
  return `A refund of ${cost} to account ${account}`;
}
