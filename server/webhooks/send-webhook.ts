/** Sends a signed webhook once. */
import { readSystemErrorCode } from "../system-errors.ts";
import { createWebhookHeaders, type WebhookMessage } from "./signature.ts";

/** Where webhooks go. */
export interface WebhookReceiver {
  readonly url: string;
  readonly secret: Uint8Array;
}

interface WebhookAttempt {
  /** When the attempt begins, in milliseconds since 1970 UTC. */
  readonly now: number;
  /** Milliseconds until the headers of the response. */
  readonly timeoutMs: number;
  /** Ends the attempt early. */
  readonly signal: AbortSignal;
}

/**
 * Sends a webhook. It follows no redirect, and neither reads nor decodes the body of a response.
 *
 * @returns Why it was not delivered; `undefined` if the receiver answered with 2xx.
 */
export async function sendWebhook(
  message: WebhookMessage,
  { url, secret }: WebhookReceiver,
  { now, timeoutMs, signal }: WebhookAttempt,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
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
    });
    // Without it, a body without end would keep the connection.
    await response.body?.cancel().catch(() => undefined);
    return response.ok ? undefined : `The receiver answered ${response.status}`;
  } catch (error) {
    if (timeout.aborted) return `The receiver did not answer within ${timeoutMs / 1000} s`;
    // Only the code: a message can have the URL, which can have a secret.
    const code = error instanceof Error ? readSystemErrorCode(error) || error.name : "no reason";
    return `The receiver could not be reached: ${code}`;
  }
}
