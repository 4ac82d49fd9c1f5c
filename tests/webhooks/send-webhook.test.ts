/** Answers whose body is broken: only their status counts. */
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "bun:test";
import { sendWebhook } from "../../server/webhooks/delivery.ts";

const MESSAGE = { id: "7", body: "{}" };

/** Sends a webhook to a receiver that answers with raw bytes, and then closes the connection. */
async function sendTo(answer: string): Promise<string | undefined> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const receiver = { url: `http://127.0.0.1:${port}/`, secret: new Uint8Array(32) };
    const { signal } = new AbortController();
    return await sendWebhook(MESSAGE, receiver, { now: Date.now(), timeoutMs: 5000, signal });
  } finally {
    server.close();
  }
}

const encoded = (encoding: string) =>
  `Content-Encoding: ${encoding}\r\nContent-Length: 7\r\n\r\nno gzip`;

test.each([
  ["broken gzip", encoded("gzip")],
  ["broken deflate", encoded("deflate")],
  ["broken Brotli", encoded("br")],
  ["broken zstd", encoded("zstd")],
  ["an unknown encoding", encoded("other")],
  ["gzip without a body", "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"],
  ["a body that breaks off", "Content-Length: 1000\r\n\r\n{"],
  ["chunks that break off", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"],
])("sendWebhook() decides by the status: %s", async (_, headersAndBody) => {
  const head = "Content-Type: application/json\r\nConnection: close\r\n";
  expect(await sendTo(`HTTP/1.1 200 OK\r\n${head}${headersAndBody}`)).toBeUndefined();
  expect(await sendTo(`HTTP/1.1 500 No\r\n${head}${headersAndBody}`)).toBe(
    "The receiver answered 500",
  );
});
