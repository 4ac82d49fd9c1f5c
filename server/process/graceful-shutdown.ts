/** Stops a server without cutting a response. */
import pTimeout from "p-timeout";

const POLL_INTERVAL_MS = 25;

/** Polls without a new request after which none is expected any more. */
const QUIET_POLLS = 10;

/** The most polls during which new requests are still answered. */
const POLLS_MAX = 40;

/** How long the last bytes of responses may take to leave once no request is pending. */
const FLUSH_TIMEOUT_MS = 1000;

/** Waits until a server has no request in flight, without a limit. */
export async function waitUntilIdle(server: Bun.Server<undefined>): Promise<void> {
  while (server.pendingRequests > 0) await Bun.sleep(POLL_INTERVAL_MS);
}

/**
 * Waits until no new request has come for a quarter of a second, for a second at most. The server
 * must go on listening meanwhile: when it stops, it closes idle connections at once, even one with a
 * request that it has not read, and the client sees a reset.
 *
 * @param getRequestCount Counts the requests since shutdown began.
 */
export async function waitForQuietPeriod(getRequestCount: () => number): Promise<void> {
  // Polls are counted, not time: in each one the server reads the bytes that have arrived.
  for (let poll = 0, quietPolls = 0; poll < POLLS_MAX && quietPolls < QUIET_POLLS; poll++) {
    const previousCount = getRequestCount();
    await Bun.sleep(POLL_INTERVAL_MS);
    quietPolls = getRequestCount() === previousCount ? quietPolls + 1 : 0;
  }
}

/**
 * Rejects new connections and closes idle ones, waits for the requests in flight, and closes the
 * remaining connections.
 *
 * @param timeoutMs How long requests in flight may take to finish.
 */
export async function drain(server: Bun.Server<undefined>, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const closed = server.stop();
  do await Bun.sleep(POLL_INTERVAL_MS);
  while (server.pendingRequests > 0 && Date.now() < deadline);
  // A request is not pending any more while the last bytes of its response wait for the socket.
  const flushMs = Math.max(1, Math.min(FLUSH_TIMEOUT_MS, deadline - Date.now()));
  // Its timer ends with it: one that goes on would keep the process alive.
  await pTimeout(closed, { milliseconds: flushMs, fallback: () => undefined });
  await server.stop(true);
}
