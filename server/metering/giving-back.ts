/** What has to be given back: tried until it works, or the service ends. */
import pRetry, { AbortError } from "p-retry";
import { inTime } from "./in-time.ts";
import type { Refund, RefundSpool } from "./refund-spool.ts";

/** Idempotency keys wait for it, so it is tried soon after an outage. */
const RETRIES = { retries: Infinity, minTimeout: 1000, maxTimeout: 1000, unref: true };

/** What refunds are given back with. */
export interface GivingBackOptions<Debit> {
  /** Gives a refund back; does nothing more when it is done again. */
  apply(refund: Refund<Debit>): Promise<void>;
  /** How long an attempt may take. */
  readonly timeoutMs: number;
  /** Told of a first attempt that failed, and of what is not given back at the end. */
  onFailure(error: unknown): void;
  /** Keeps what could not be given back at once; without it that ends with the process. */
  readonly spool?: RefundSpool<Debit> | undefined;
}

/** Makes what gives back. */
export function createGivingBack<Debit>(options: GivingBackOptions<Debit>) {
  const { apply, timeoutMs, onFailure, spool } = options;
  const pending = new Map<Refund<Debit>, () => Promise<void>>();
  const firstAttempts = new Set<Promise<boolean>>();
  const { keep, forget } = keeping(spool, onFailure);
  let isEnding = false;

  /** Tries until it works; the first attempt is made, and believed, even where the service ends. */
  async function untilDone(refund: Refund<Debit>, onFirst: (isDone: boolean) => void) {
    const attempt = async () => {
      try {
        await inTime(apply(refund), timeoutMs);
      } catch (cause) {
        // As it is, it might end the retries: a TypeError does, which a broken connection can be.
        throw new Error(`${nameOf(refund)} is not done yet: ${String(cause)}`, { cause });
      }
    };
    pending.set(refund, attempt);
    const again = (nth: number) => {
      if (nth > 1 && isEnding) throw new AbortError("The service ended");
      return attempt();
    };
    await pRetry(again, {
      ...RETRIES,
      async onFailedAttempt({ attemptNumber, error }) {
        if (attemptNumber > 1) return;
        onFailure(error);
        await keep(refund);
        onFirst(false);
      },
    });
    pending.delete(refund);
    await forget(refund);
  }

  return {
    /** Keeps a refund before it is tried, so that not even a kill of the process loses it. */
    keep,

    /**
     * Ends with the first attempt.
     *
     * @param onDone Told once it is given back.
     * @returns Whether the first attempt did it.
     */
    begin(refund: Refund<Debit>, onDone: () => void): Promise<boolean> {
      const first = Promise.withResolvers<boolean>();
      firstAttempts.add(first.promise);
      const untilTheEnd = async () => {
        await untilDone(refund, first.resolve);
        onDone();
        first.resolve(true);
      };
      untilTheEnd().catch(() => first.resolve(false)); // It ended with the service.
      return first.promise.finally(() => firstAttempts.delete(first.promise));
    },

    /** Resolves once every first attempt was made, and what it could not give back is kept. */
    async settled(): Promise<void> {
      do {
        await new Promise(setImmediate);
        await Promise.all(firstAttempts);
      } while (firstAttempts.size > 0);
    },

    /** Tries once more what is not given back yet, and ends. */
    async close(): Promise<void> {
      isEnding = true;
      const last = Array.from(pending, async ([refund, attempt]) => {
        await attempt();
        await forget(refund);
      });
      for (const outcome of await Promise.allSettled(last)) {
        if (outcome.status === "rejected") onFailure(outcome.reason);
      }
    },
  };
}

/** The spool, whose failures are told and stop nothing. */
function keeping<Debit>(
  spool: RefundSpool<Debit> | undefined,
  onFailure: (error: unknown) => void,
) {
  return {
    async keep(refund: Refund<Debit>): Promise<void> {
      try {
        await spool?.add(refund);
      } catch (cause) {
        onFailure(new Error(`${nameOf(refund)} cannot be kept in ${spool?.file}`, { cause }));
      }
    },
    async forget(refund: Refund<Debit>): Promise<void> {
      try {
        await spool?.remove(refund);
      } catch (error) {
        onFailure(error);
      }
    },
  };
}

function nameOf(refund: Refund<unknown>): string {
  if (refund.kind === "group") return `The withdrawal of debit ${refund.uid}`;
  const { cost, account } = refund.charge;
  return `A refund of ${cost} to account ${account}`;
}
