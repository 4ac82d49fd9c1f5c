/** The limits of one request on real time and real sockets. */
import { expect, test } from "bun:test";
import { sendRequest } from "../../../server/collectors/client/transport.ts";
import { NO_RESPONSE, ENDLESS_RESPONSE } from "../../support/platforms/faults.ts";

const SEND_OPTIONS: Omit<Parameters<typeof sendRequest>[1], "timeoutMs"> = {
  title: "The platform",
  headers: {},
  maxBytes: 1000,
  signal: new AbortController().signal,
  redact: (text: string) => text,
};

/** Returns the error that a request to the server throws. */
const readFailure = (server: Bun.Server<undefined>, timeoutMs: number): Promise<unknown> =>
  sendRequest(new URL(server.url), { ...SEND_OPTIONS, timeoutMs }).catch((error: unknown) => error);

test("sendRequest() cancels a response that is larger than its limit", async () => {
  const cancelled = Promise.withResolvers<void>();
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => cancelled.resolve(),
  });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(endless) });
  expect(await readFailure(server, 60_000)).toMatchObject({
    kind: "failed",
    message: "The platform answered with more than 1000 bytes",
  });
  await cancelled.promise;
  await server.stop(true);
});

test.each([
  ["never begins", NO_RESPONSE],
  ["never ends", ENDLESS_RESPONSE],
])("sendRequest() times out on a response that %s", async (_what, fault) => {
  const request = { path: "/", query: new URLSearchParams(), headers: new Headers() };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => fault(request, () => ({ status: 200, body: {} })),
  });
  const startedAt = performance.now();
  const failure = await readFailure(server, 60);
  await server.stop(true);
  expect(failure).toMatchObject({
    kind: "transient",
    message: "The platform did not answer within 60 ms",
  });
  expect(performance.now() - startedAt).toBeGreaterThan(50);
});
