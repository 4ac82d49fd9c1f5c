/** A receiver of webhooks, which verifies them with the library of Standard Webhooks. */
import { Webhook } from "standardwebhooks";

/** The secret of the receiver. */
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A verified notice. */
export interface ReceivedNotice {
  readonly id: string;
  readonly body: unknown;
}

/**
 * Starts a receiver. Requests with a wrong signature are answered with 400, and not recorded.
 *
 * @param respond Its responses; 204 by default.
 */
export function startWebhookReceiver(
  respond: () => Response | Promise<Response> = () => new Response(null, { status: 204 }),
) {
  const webhook = new Webhook(WEBHOOK_SECRET);
  const received: ReceivedNotice[] = [];
  const state = { respond, rejected: 0 };
  const start = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      async fetch(request) {
        const text = await request.text();
        try {
          const body = webhook.verify(text, Object.fromEntries(request.headers));
          received.push({ id: request.headers.get("webhook-id") ?? "", body });
        } catch {
          state.rejected++;
          return new Response(null, { status: 400 });
        }
        return state.respond();
      },
    });
  let server = start(0);
  const port = Number(server.port);
  return {
    url: `http://127.0.0.1:${port}/notices`,
    /** The verified requests, in their order. */
    received,
    state,
    /** Refuses connections. */
    stop: () => server.stop(true),
    /** Listens again, at the same port. */
    restart: () => void (server = start(port)),
  };
}

/** A started receiver. */
export type WebhookReceiver = ReturnType<typeof startWebhookReceiver>;
