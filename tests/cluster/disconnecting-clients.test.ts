/**
 * Clients of one or several services that disconnect at once, so that many refunds follow. With too
 * many writers at a time, the libSQL server stops writing until it is killed.
 *
 * DISCONNECT_CUTS=12 runs the long form, with 1, 2 and 3 services, and prints its measurements.
 */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { openSandbox } from "../support/processes/command-line.ts";
import { hasSqld, startSqld } from "../support/processes/sqld.ts";
import { createAccess } from "../support/store/access.ts";

const CUTS = Number(process.env["DISCONNECT_CUTS"] ?? 2);
const IS_LONG = process.env["DISCONNECT_CUTS"] !== undefined;

const CLIENTS = 256;
/** So many that no limit on the aborted reads of a key applies. */
const KEYS = 64;
const CREDITS = 1_000_000;

/** How long the clients read before they disconnect, and how long the refunds then have. */
const READING_MS = 700;
const AFTER_CUT_MS = 1300;

const STEADY_PAUSE_MS = 10;
const STEADY_TIMEOUT_MS = 5000;
/** Far more than a read takes while many clients use a busy machine; a stopped server never answers. */
const GAP_MAX_MS = 3000;

let reads = 0;
/** No cache has a response to it: names that begin with `_` mean nothing to the service. */
const nextPath = () => `/api/video/nobody/details?_read=${++reads}`;

/** Starts a client that reads until all disconnect. @returns Resets its connection. */
function startClient(url: string, key: string): () => void {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const send = () => {
    socket.write(`GET ${nextPath()} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  };
  socket.on("connect", send);
  socket.on("data", send);
  socket.on("error", () => undefined);
  return () => void socket.resetAndDestroy();
}

/** Reads steadily until `stop()`, which resolves to the longest time without a charged response. */
function startSteadyClient(url: string, key: string) {
  const stopping = new AbortController();
  let longestGapMs = 0;
  let failures = 0;
  const run = async () => {
    let answeredAt = performance.now();
    while (!stopping.signal.aborted) {
      const status = await readStatus(url, key);
      const now = performance.now();
      longestGapMs = Math.max(longestGapMs, now - answeredAt);
      if (status === 404) answeredAt = now;
      else failures++;
      await Bun.sleep(STEADY_PAUSE_MS);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
      return { longestGapMs: Math.round(longestGapMs), failures };
    },
  };
}

async function readStatus(url: string, key: string): Promise<number> {
  try {
    const response = await fetch(url + nextPath(), {
      headers: { "x-api-key": key },
      signal: AbortSignal.timeout(STEADY_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

describe.skipIf(!hasSqld())("a libSQL server", () => {
  test.each(IS_LONG ? [[1], [2], [3]] : [[1]])(
    `goes on answering while ${CLIENTS} clients of %d services disconnect ${CUTS} times`,
    async (count) => {
      const server = await startSqld({ durability: "relaxed" });
      const sandbox = await openSandbox({ DATABASE_URL: server.url, DURABILITY: "process" });
      const services: Awaited<ReturnType<typeof sandbox.serve>>[] = [];
      try {
        const grants = { credits: CREDITS, keys: KEYS };
        const keys = await createAccess(server.url, { account: "leaving", ...grants });
        const steadyKeys = await createAccess(server.url, { account: "steady", ...grants });
        while (services.length < count) services.push(await sandbox.serve());
        const urls = services.map(({ url }) => url);
        const pick = (values: readonly string[], index: number) =>
          values[index % values.length] ?? "";
        const steady = startSteadyClient(pick(urls, 0), pick(steadyKeys, 0));
        for (let cut = 0; cut < CUTS; cut++) {
          const clients = Array.from({ length: CLIENTS }, (_, index) =>
            startClient(pick(urls, index), pick(keys, index)),
          );
          await Bun.sleep(READING_MS);
          for (const disconnect of clients) disconnect();
          await Bun.sleep(AFTER_CUT_MS);
        }
        const { longestGapMs, failures } = await steady.stop();
        if (IS_LONG) {
          process.stdout.write(
            `${count} services, ${CUTS} cuts, ${reads} reads | longest time without an answer ` +
              `${longestGapMs} ms, ${failures} other answers\n`,
          );
        }
        expect(failures).toBe(0);
        expect(longestGapMs).toBeLessThan(GAP_MAX_MS);
        await sandbox.runOrThrow("credits", "verify");
      } finally {
        await Promise.all(services.map((service) => service.stop("SIGKILL")));
        await sandbox.close();
        await server.close();
      }
    },
    30_000 + CUTS * 10_000,
  );
});
