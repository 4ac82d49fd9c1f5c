/** Stopping a server without cutting an answer. */

/** How often a server is looked at while it stops. */
const STEP_MS = 25;

/** Steps without a new request after which none is on its way any more. */
const QUIET_STEPS = 10;

/** Steps in which new requests are answered at most. */
const ANSWERING_MAX_STEPS = 40;

/** How long the last bytes of answers may take to leave once no request is pending. */
const CLOSE_MS = 1000;

/** What is needed of a server to stop it. */
interface Stoppable {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Waits until a server has no request in flight, however long that takes. */
export async function idle(server: Pick<Stoppable, "pendingRequests">): Promise<void> {
  while (server.pendingRequests > 0) await Bun.sleep(STEP_MS);
}

/**
 * Waits until the clients of a server are done: until no new request came for a quarter of a second,
 * or a second at most. The server has to go on listening meanwhile: when it stops it closes idle
 * connections at once, also those with a request that it has not read, which is then reset.
 *
 * @param requests How many requests came since the server was told to stop.
 */
export async function untilQuiet(requests: () => number): Promise<void> {
  // Steps are counted instead of time: in each one the server reads what has arrived.
  for (let step = 0, quiet = 0; step < ANSWERING_MAX_STEPS && quiet < QUIET_STEPS; step++) {
    const before = requests();
    await Bun.sleep(STEP_MS);
    quiet = requests() === before ? quiet + 1 : 0;
  }
}

/**
 * Refuses new connections and closes idle ones, waits for the requests in flight, then closes the
 * connections that are left.
 *
 * @param limitMs How long requests in flight may take to finish.
 */
export async function drain(server: Stoppable, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  const closed = server.stop();
  do await Bun.sleep(STEP_MS);
  while (server.pendingRequests > 0 && Date.now() < deadline);
  // An answer is not pending any more while its last bytes wait for the socket.
  await Promise.race([closed, Bun.sleep(Math.max(0, Math.min(CLOSE_MS, deadline - Date.now())))]);
  await server.stop(true);
}
