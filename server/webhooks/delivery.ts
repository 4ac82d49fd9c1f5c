/**
 * Delivers the notices of the outbox to a receiver of webhooks, each at least once: a process that
 * ends between the response and its record leaves a notice that is sent again, with the same id.
 */
import { DAY_MS, HOUR_MS, formatInstant, MINUTE_MS } from "../../core/time.ts";
import type { Notice, NoticeStore } from "../store/accounts/notices.ts";
import { startLoop } from "../background-loop.ts";
import type { ServiceLogger } from "../log.ts";
import { computeNextAttempt, DELAY_MAX_MS } from "./retry-schedule.ts";
import { sendWebhook, type WebhookReceiver } from "./send-webhook.ts";

/** The options of {@link createDelivery}. */
export interface DeliveryOptions {
  readonly notices: NoticeStore;
  /** The receiver. Without one, notices wait. */
  readonly receiver: WebhookReceiver | undefined;
  /** The clock, in milliseconds since 1970 UTC. */
  now(): number;
  readonly log: Pick<ServiceLogger, "info" | "warning" | "backgroundFailure">;
  /** How long a receiver may take to answer; 15 seconds by default. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;

/** Longer than an attempt: the notices of a process that ended are free again after it. */
const CLAIM_MS = MINUTE_MS;

/** Attempts at a time. */
const BATCH_SIZE = 10;

const POLL_INTERVAL_MS = 2000;

/** How long notices are kept that were delivered or given up. */
const KEPT_MS = 30 * DAY_MS;
const CLEANUP_INTERVAL_MS = HOUR_MS;

/** The body of a webhook. */
function formatNotice({ account, balance, threshold, granted, at }: Notice): string {
  return JSON.stringify({
    type: "account.balance_low",
    timestamp: formatInstant(at),
    data: { account, balance, threshold, granted },
  });
}

export function createDelivery(options: DeliveryOptions) {
  const { notices, receiver, now, log, timeoutMs = TIMEOUT_MS } = options;
  const abortController = new AbortController();
  const { signal } = abortController;
  let cleanupAt = -Infinity;

  async function deliver(notice: Notice, to: WebhookReceiver): Promise<void> {
    const { id, account, attempts } = notice;
    const message = { id, body: formatNotice(notice) };
    const failure = await sendWebhook(message, to, { now: now(), timeoutMs, signal });
    if (failure === undefined) {
      await notices.markDelivered(id, now());
      log.info?.("The notice {id} about account {account} is delivered", { id, account, attempts });
      return;
    }
    // The receiver is not to blame for an attempt that the end of the service cuts off.
    if (signal.aborted) return notices.release(notice, { dueAt: now(), failure: null });
    const dueAt = computeNextAttempt({ attempts, now: now(), jitter: Math.random() });
    await notices.release(notice, { dueAt, failure });
    const values = { id, account, failure, attempts, next: dueAt && formatInstant(dueAt) };
    if (dueAt === null) {
      log.warning?.(
        "The notice {id} about account {account} is given up after {attempts} attempts: {failure}",
        values,
      );
    } else {
      log.warning?.(
        "The notice {id} about account {account} was not delivered: {failure}; next try {next}",
        values,
      );
    }
  }

  return {
    /** Delivers all notices that are due, and deletes old ones that ended. */
    async deliverDue(): Promise<void> {
      if (now() >= cleanupAt) {
        await notices.deleteEndedBefore(now() - KEPT_MS);
        cleanupAt = now() + CLEANUP_INTERVAL_MS;
      }
      if (receiver === undefined) return;
      while (!signal.aborted) {
        const [start, limit] = [now(), BATCH_SIZE];
        const [latestDueAt, until] = [start + DELAY_MAX_MS, start + CLAIM_MS];
        const claimed = await notices.claim({ now: start, latestDueAt, until, limit });
        await Promise.all(claimed.map((notice) => deliver(notice, receiver)));
        if (claimed.length < BATCH_SIZE) return;
      }
    },

    /** Ends the running attempts, and begins no others. */
    stop: () => abortController.abort(),
  };
}

/**
 * Delivers notices until it is stopped.
 *
 * @returns Stops it; resolves when the running attempts are released.
 */
export function startDelivery(options: DeliveryOptions): () => Promise<void> {
  const delivery = createDelivery(options);
  const stopLoop = startLoop({
    run: delivery.deliverDue,
    intervalMs: POLL_INTERVAL_MS,
    onFailure: (error) => options.log.backgroundFailure?.(error, "Delivering notices"),
  });
  return () => {
    delivery.stop();
    return stopLoop();
  };
}
