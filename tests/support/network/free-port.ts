/** A port that a program of a test can listen on. */

/**
 * Ports below those that systems give to outgoing connections, and to servers on port 0: a port of
 * these could be taken before the program listens on it.
 */
const PORTS = { first: 10_000, count: 20_000 };

/** Finds a port of 127.0.0.1 that nothing listens on. */
export function findFreePort(): number {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    try {
      const options = { port, hostname: "127.0.0.1", fetch: () => new Response() };
      void Bun.serve(options).stop(true);
      return port;
    } catch {
      // Something listens there.
    }
  }
  throw new Error("No port is free");
}
