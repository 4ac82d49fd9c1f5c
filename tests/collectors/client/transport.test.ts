/** One request over the network, with the time that passes really. */
import { expect, test } from "bun:test";
import { sendRequest, type SendOptions } from "../../../server/collectors/client/transport.ts";
import { NO_RESPONSE, ENDLESS_RESPONSE } from "../../support/platforms/faults.ts";

const SEND_OPTIONS: Omit<SendOptions, "timeoutMs"> = {
  sourceName: "The platform",
  headers: {},
  maxBytes: 1000,
  redact: (text: string) => text,
};

/** What sending a request to a server fails with. */
const readFailure = (server: Bun.Server<undefined>, timeoutMs: number): Promise<unknown> =>
  sendRequest(new URL(server.url), { ...SEND_OPTIONS, timeoutMs }).catch((error: unknown) => error);

test("an answer that is larger than is read is read no further", async () => {
  const ended = Promise.withResolvers<void>();
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => ended.resolve(),
  });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(endless) });
  expect(String(await readFailure(server, 60_000))).toBe(
    "ResponseTooLargeError: The platform answered with more than 1000 bytes",
  );
  await ended.promise;
  await server.stop(true);
});

test.each([
  ["never begins", NO_RESPONSE],
  ["never ends", ENDLESS_RESPONSE],
])("an answer that %s is waited for as long as is said", async (_what, fault) => {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      fault({ path: "/", query: new URLSearchParams(), headers: new Headers() }, () => ({
        status: 200,
        body: {},
      })) ?? new Response(),
  });
  const began = performance.now();
  const failure = await readFailure(server, 60);
  await server.stop(true);
  expect(String(failure)).toBe("TransientError: The platform did not answer within 60 ms");
  expect(performance.now() - began).toBeGreaterThan(50);
});
