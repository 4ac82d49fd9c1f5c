/** Signs webhooks as Standard Webhooks says: https://www.standardwebhooks.com. */
import { createHmac } from "node:crypto";

export interface WebhookMessage {
  /** The same in every attempt, so that receivers recognize a repeated message. */
  readonly id: string;
  readonly body: string;
}

/**
 * Creates the headers of a message with its signature.
 *
 * @param now When the attempt begins, in milliseconds since 1970 UTC; receivers reject old ones.
 */
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
