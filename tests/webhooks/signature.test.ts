import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { readConfig } from "../../server/config.ts";
import { sendWebhook } from "../../server/webhooks/delivery.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const decode = (text: string) =>
  readConfig({ WEBHOOK_SECRET: text }).webhookSecret ?? new Uint8Array();

/** Sends a message, and returns its headers of Standard Webhooks. */
async function sign(message: Parameters<typeof sendWebhook>[0], now: number) {
  let headers: Record<string, string> = {};
  await using receiver = Bun.serve({
    port: 0,
    fetch(request) {
      headers = Object.fromEntries(request.headers);
      return new Response();
    },
  });
  const attempt = { now, timeoutMs: 5000, signal: new AbortController().signal };
  const to = { url: receiver.url.href, secret: decode(SECRET) };
  expect(await sendWebhook(message, to, attempt)).toBeUndefined();
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("webhook-")),
  );
}

describe("sendWebhook()", () => {
  test("signs as the library of Standard Webhooks does", async () => {
    const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}' };
    const date = new Date(1_614_265_330_000);
    expect(await sign(message, date.getTime() + 999)).toEqual({
      "webhook-id": message.id,
      "webhook-timestamp": "1614265330",
      "webhook-signature": new Webhook(SECRET).sign(message.id, date, message.body),
    });
  });

  test("is verified by the library, and not after any part changed", async () => {
    const message = { id: "msg_1", body: '{"account":"Ä 😀"}' };
    const headers = await sign(message, Date.now());
    const verify = (body: string, changed: object = {}, secret = SECRET) =>
      new Webhook(secret).verify(body, { ...headers, ...changed });
    expect(verify(message.body)).toEqual({ account: "Ä 😀" });
    expect(() => verify(`${message.body} `)).toThrow("No matching signature");
    expect(() => verify(message.body, { "webhook-id": "msg_2" })).toThrow("No matching signature");
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(() => verify(message.body, { "webhook-timestamp": later })).toThrow("No matching");
    const other = `whsec_${Buffer.alloc(24).toString("base64")}`;
    expect(() => verify(message.body, {}, other)).toThrow("No matching signature");
  });
});
