/** A server that accepts requests and never responds. */

/** Starts the server on a free port. */
export async function startSilentServer() {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Promise<never>(() => undefined),
  });
  return { url: server.url.href, close: () => server.stop(true) };
}
