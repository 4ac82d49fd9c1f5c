/** A way to a server on which answers get lost. */
import { connect, createServer, type AddressInfo } from "node:net";

/** How much of a request is remembered, to find a text that comes in two pieces. */
const MATCH_WINDOW_CHARACTERS = 100;

/**
 * Stands before a server. A request that matches is passed on when one is wanted; its answer is
 * waited for, and the connection is cut instead of giving it back.
 */
export async function startLossyProxy(target: string, pattern: RegExp) {
  const state = { wanted: 0, swallowed: 0 };
  const { hostname, port } = new URL(target);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let requestTail = "";
    let isDropping = false;
    client.on("data", (bytes) => {
      requestTail = requestTail.slice(-MATCH_WINDOW_CHARACTERS) + bytes.toString("latin1");
      if (state.wanted > 0 && pattern.test(requestTail)) {
        state.wanted--;
        isDropping = true;
      }
      server.write(bytes);
    });
    server.on("data", (piece) => {
      if (!isDropping) return client.write(piece);
      state.swallowed++;
      return server.destroy();
    });
    // A connection that breaks is what this is for.
    for (const [socket, peer] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => undefined);
      socket.on("close", () => peer.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    state,
    close: () => void proxy.close(),
  };
}
