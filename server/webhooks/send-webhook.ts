/** Sends a webhook once, signed as Standard Webhooks says: https://www.standardwebhooks.com. */
import { createHmac } from "node:crypto";
import { readSystemErrorCode } from "../system-errors.ts";

/** The id is the same in every attempt, so that receivers recognize a repeated message. */
type WebhookMessage = Readonly<Record<"id" | "body", string>>;

/**
 * Sends a webhook. It follows no redirect, and neither reads nor decodes the body of a response.
 *
 * @param attempt.now When the attempt begins, in milliseconds since 1970 UTC.
 * @param attempt.timeoutMs How long the headers of the response may take.
 * @returns Why it was not delivered; `undefined` if the receiver answered with 2xx.
 */
export async function sendWebhook(
  message: WebhookMessage,
  { url, secret }: { readonly url: string; readonly secret: Uint8Array },
  attempt: { readonly now: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { now, timeoutMs, signal } = attempt;
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

/** Creates the headers of a message. Receivers reject old ones by their timestamp. */
export function createWebhookHeaders(
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
