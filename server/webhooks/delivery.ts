/**
 * Delivers notices of the outbox to a webhook receiver, retries for days, and deletes old notices.
 * Delivers at least once: if the process ends between the response and its record, the notice is
 * sent again, with the same id. Signs as Standard Webhooks says: https://www.standardwebhooks.com.
 */
import { createHmac } from "node:crypto";
import { DAY_MS, HOUR_MS, formatInstant, MINUTE_MS } from "../../core/time.ts";
import { startLoop } from "../background-loop.ts";
import type { ServiceLogger } from "../log.ts";
import type { NoticeStore } from "../store/accounts/notices.ts";
import { readSystemErrorCode } from "../system-errors.ts";
import { sendTraced } from "../telemetry/client-request.ts";
import { traceWork } from "../telemetry/tracing.ts";

type Notice = Awaited<ReturnType<NoticeStore["claim"]>>[number];

interface DeliveryOptions {
  readonly notices: NoticeStore;
  /** The receiver. Without one, notices wait. */
  readonly receiver: Parameters<typeof sendWebhook>[1] | undefined;
  now(): number;
  readonly log: Pick<ServiceLogger, "info" | "warning" | "backgroundFailure">;
  /** Counts the attempts of this process by result. */
  readonly attempts?: AttemptCounts;
  readonly timeoutMs?: number;
}

type AttemptCounts = ReturnType<typeof createAttemptCounts>;

/** The attempts by result: delivered, failed and to be tried again, or failed for the last time. */
export const createAttemptCounts = () => ({ delivered: 0, failed: 0, given_up: 0 });

const TIMEOUT_MS = 15_000;
/** A claim lasts longer than an attempt; then the notices of an ended process are free again. */
const CLAIM_MS = MINUTE_MS;
const BATCH_SIZE = 10;
const POLL_INTERVAL_MS = 2000;
/** How long notices are kept after they were delivered or given up. */
const KEPT_MS = 30 * DAY_MS;
const CLEANUP_INTERVAL_MS = HOUR_MS;

/**
 * How often a webhook is tried: over about three days, at least two and at most four. The limit is
 * a number of attempts, so that a service that is off, or a wrong clock, does not reduce them.
 */
const ATTEMPTS_MAX = 28;
const FIRST_DELAY_MS = 5000;
const DELAY_MAX_MS = 6 * HOUR_MS;

/**
 * Computes when to try again after a failed attempt; `null` after the last attempt. The delay
 * doubles each time. Jitter, from 0 to 1, shortens it by up to a half, so that notices that failed
 * together are not sent together again.
 */
function computeNextAttempt({
  attempts,
  now,
  jitter,
}: Readonly<Record<"attempts" | "now" | "jitter", number>>): number | null {
  if (attempts >= ATTEMPTS_MAX) return null;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempts - 1), DELAY_MAX_MS);
  return now + Math.round(delayMs * (1 - jitter / 2));
}

/** Delivers notices. @returns A function that stops, and resolves once attempts are released. */
export function startDelivery(options: DeliveryOptions): () => Promise<void> {
  return startLoop({
    run: createDelivery(options),
    intervalMs: POLL_INTERVAL_MS,
    onFailure: (error) => options.log.backgroundFailure?.(error, "Delivering notices"),
  });
}

export function createDelivery(options: DeliveryOptions) {
  const { notices, receiver, now, log, timeoutMs = TIMEOUT_MS } = options;
  const { attempts: counts = createAttemptCounts() } = options;
  let cleanupAt = -Infinity;

  async function deliver(notice: Notice, to: typeof receiver & object, signal: AbortSignal) {
    const { id, account, attempts } = notice;
    const message = { id, body: formatNotice(notice) };
    const send = () => sendWebhook(message, to, { now: now(), timeoutMs, signal });
    const failure = await traceWork("deliver notice", send, { root: true });
    if (failure === undefined) {
      counts.delivered++;
      await notices.markDelivered(id, now());
      log.info?.("The notice {id} about account {account} is delivered", { id, account, attempts });
      return;
    }
    // The receiver is not to blame for an attempt that the end of the service cuts off.
    if (signal.aborted) return notices.release(notice, { dueAt: now(), failure: null });
    const dueAt = computeNextAttempt({ attempts, now: now(), jitter: Math.random() });
    counts[dueAt === null ? "given_up" : "failed"]++;
    await notices.release(notice, { dueAt, failure });
    log.warning?.(
      dueAt === null
        ? "The notice {id} about account {account} is given up after {attempts} attempts: {failure}"
        : "The notice {id} about account {account} was not delivered: {failure}; next try {next}",
      { id, account, failure, attempts, next: dueAt && formatInstant(dueAt) },
    );
  }

  /** @returns The delay of the next run. */
  return async (signal: AbortSignal): Promise<number> => {
    if (now() >= cleanupAt) {
      await notices.deleteEndedBefore(now() - KEPT_MS);
      cleanupAt = now() + CLEANUP_INTERVAL_MS;
    }
    if (receiver === undefined) return CLEANUP_INTERVAL_MS;
    while (!signal.aborted) {
      const start = now();
      const claimed = await notices.claim({
        now: start,
        latestDueAt: start + DELAY_MAX_MS,
        until: start + CLAIM_MS,
        limit: BATCH_SIZE,
      });
      await Promise.all(claimed.map((notice) => deliver(notice, receiver, signal)));
      if (claimed.length < BATCH_SIZE) break;
    }
    return POLL_INTERVAL_MS;
  };
}

function formatNotice({ account, balance, threshold, granted, at }: Notice): string {
  return JSON.stringify({
    type: "account.balance_low",
    timestamp: formatInstant(at),
    data: { account, balance, threshold, granted },
  });
}

/** The id is the same in every attempt, so that receivers recognize a repeated message. */
type WebhookMessage = Readonly<Record<"id" | "body", string>>;

/**
 * Sends a webhook. Waits for the headers of the response for `timeoutMs`, ignores its body, and
 * follows no redirect. @returns Why the webhook was not delivered; `undefined` after a 2xx.
 */
export async function sendWebhook(
  message: WebhookMessage,
  { url, secret }: { readonly url: string; readonly secret: Uint8Array },
  attempt: { readonly now: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { now, timeoutMs, signal } = attempt;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const request = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "creator-metrics",
        ...createWebhookHeaders(message, secret, now),
      },
      body: message.body,
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.any([signal, timeout]),
    } as const;
    const response = await sendTraced(new URL(url), request, { hidesPath: true });
    // Without this, an endless body would keep the connection.
    await response.body?.cancel().catch(() => undefined);
    return response.ok ? undefined : `The receiver answered ${response.status}`;
  } catch (error) {
    if (timeout.aborted) return `The receiver did not answer within ${timeoutMs / 1000} s`;
    // Only the code: a message can have the URL, which can have a secret.
    const code = error instanceof Error ? readSystemErrorCode(error) || error.name : "no reason";
    return `The receiver could not be reached: ${code}`;
  }
}

function createWebhookHeaders(
  { id, body }: WebhookMessage,
  secret: Uint8Array,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature.digest("base64")}`,
  };
}
