/** A port that a program of a test can listen on. */

/** Finds a port of 127.0.0.1 that nothing listens on. */
export function findFreePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}
