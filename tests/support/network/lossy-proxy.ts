/** A TCP proxy that drops responses. */
import { connect, createServer, type AddressInfo } from "node:net";

/** The end of the received data that is searched, because a text can arrive in two pieces. */
const MATCH_WINDOW_CHARACTERS = 100;

/**
 * Starts a proxy for a server. It forwards all data. While `state.responsesToDrop` is above 0, it waits
 * for the response to a request that matches the pattern, and closes the connection instead of
 * forwarding that response.
 */
export async function startLossyProxy(target: string, pattern: RegExp) {
  const state = { responsesToDrop: 0, droppedResponses: 0 };
  const { hostname, port } = new URL(target);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let requestTail = "";
    let isDropping = false;
    client.on("data", (bytes) => {
      requestTail = requestTail.slice(-MATCH_WINDOW_CHARACTERS) + bytes.toString("latin1");
      if (state.responsesToDrop > 0 && pattern.test(requestTail)) {
        state.responsesToDrop--;
        isDropping = true;
      }
      server.write(bytes);
    });
    server.on("data", (piece) => {
      if (!isDropping) return client.write(piece);
      state.droppedResponses++;
      return server.destroy();
    });
    // Broken connections are expected here.
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
    /** Drops one more response. */
    dropNext: async () => void state.responsesToDrop++,
    countDropped: async () => state.droppedResponses,
    close: () => void proxy.close(),
  };
}
