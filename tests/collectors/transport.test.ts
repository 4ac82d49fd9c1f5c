/** One request over the network, with the time that passes really. */
import { expect, test } from "bun:test";
import { send } from "../../server/collectors/transport.ts";
import { SILENCE, TRICKLE } from "../support/platforms/faults.ts";

const SENDING = {
  to: "The platform",
  headers: {},
  maxBytes: 1000,
  hide: (text: string) => text,
};

/** What sending a request to a server fails with. */
const failureOf = (server: Bun.Server<undefined>, timeoutMs: number): Promise<unknown> =>
  send(new URL(server.url), { ...SENDING, timeoutMs }).catch((error: unknown) => error);

test("an answer that is larger than is read is read no further", async () => {
  const ended = Promise.withResolvers<void>();
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => ended.resolve(),
  });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(endless) });
  expect(String(await failureOf(server, 60_000))).toBe(
    "TooLarge: The platform answered with more than 1000 bytes",
  );
  await ended.promise;
  await server.stop(true);
});

test.each([
  ["never begins", SILENCE],
  ["never ends", TRICKLE],
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
  const failure = await failureOf(server, 60);
  await server.stop(true);
  expect(String(failure)).toBe("Passing: The platform did not answer within 60 ms");
  expect(performance.now() - began).toBeGreaterThan(50);
});
