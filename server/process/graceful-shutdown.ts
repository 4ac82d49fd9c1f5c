/** Stops a server without cutting a response. */
import pTimeout from "p-timeout";

const POLL_INTERVAL_MS = 25;

/** How long the last bytes of responses may take to leave once no request is pending. */
const FLUSH_TIMEOUT_MS = 1000;

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
