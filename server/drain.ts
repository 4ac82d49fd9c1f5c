/** Ending a server without cutting an answer. */

/** How long an answer may take to leave once it is made. */
const SETTLE_MS = 25;

/** What is needed of a server to end it. */
interface Stoppable {
  readonly pendingRequests: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
}

/** Waits until a server has no request in flight, however long that takes. */
export async function idle(server: Pick<Stoppable, "pendingRequests">): Promise<void> {
  while (server.pendingRequests > 0) await Bun.sleep(SETTLE_MS);
}

/**
 * Refuses new connections, waits for the requests in flight, then closes the connections that are
 * kept alive but silent, which would hold it open for long.
 *
 * @param limitMs How long requests in flight may take to finish.
 */
export async function drain(server: Stoppable, limitMs: number): Promise<void> {
  void server.stop();
  const deadline = Date.now() + limitMs;
  do await Bun.sleep(SETTLE_MS);
  while (server.pendingRequests > 0 && Date.now() < deadline);
  await Bun.sleep(SETTLE_MS);
  await server.stop(true);
}
