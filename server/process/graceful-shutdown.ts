/** Stopping a server without cutting an answer. */

/** How often a server is looked at while it stops. */
const POLL_INTERVAL_MS = 25;

/** Steps without a new request after which none is on its way any more. */
const QUIET_POLLS = 10;

/** Steps in which new requests are answered at most. */
const MAX_POLLS = 40;

/** How long the last bytes of answers may take to leave once no request is pending. */
const FLUSH_TIMEOUT_MS = 1000;

/** What is needed of a server to stop it. */
interface DrainableServer {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Waits until a server has no request in flight, however long that takes. */
export async function waitUntilIdle(
  server: Pick<DrainableServer, "pendingRequests">,
): Promise<void> {
  while (server.pendingRequests > 0) await Bun.sleep(POLL_INTERVAL_MS);
}

/**
 * Waits until the clients of a server are done: until no new request came for a quarter of a second,
 * or a second at most. The server has to go on listening meanwhile: when it stops it closes idle
 * connections at once, also those with a request that it has not read, which is then reset.
 *
 * @param getRequestCount How many requests came since the server was told to stop.
 */
export async function waitForQuietPeriod(getRequestCount: () => number): Promise<void> {
  // Steps are counted instead of time: in each one the server reads what has arrived.
  for (let poll = 0, quietPolls = 0; poll < MAX_POLLS && quietPolls < QUIET_POLLS; poll++) {
    const previousCount = getRequestCount();
    await Bun.sleep(POLL_INTERVAL_MS);
    quietPolls = getRequestCount() === previousCount ? quietPolls + 1 : 0;
  }
}

/**
 * Refuses new connections and closes idle ones, waits for the requests in flight, then closes the
 * connections that are left.
 *
 * @param timeoutMs How long requests in flight may take to finish.
 */
export async function drain(server: DrainableServer, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const closed = server.stop();
  do await Bun.sleep(POLL_INTERVAL_MS);
  while (server.pendingRequests > 0 && Date.now() < deadline);
  // An answer is not pending any more while its last bytes wait for the socket.
  await Promise.race([
    closed,
    Bun.sleep(Math.max(0, Math.min(FLUSH_TIMEOUT_MS, deadline - Date.now()))),
  ]);
  await server.stop(true);
}
