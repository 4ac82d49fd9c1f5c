/** A way to a server on which answers get lost. */
import { connect, createServer, type AddressInfo } from "node:net";

/** How much of a request is remembered, to find a text that comes in two pieces. */
const REMEMBERED_CHARACTERS = 100;

/**
 * Stands before a server. A request that matches is passed on when one is wanted; its answer is
 * waited for, and the connection is cut instead of giving it back.
 */
export async function startSwallower(target: string, pattern: RegExp) {
  const state = { wanted: 0, swallowed: 0 };
  const { hostname, port } = new URL(target);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let said = "";
    let isSwallowing = false;
    client.on("data", (piece) => {
      said = said.slice(-REMEMBERED_CHARACTERS) + piece.toString("latin1");
      if (state.wanted > 0 && pattern.test(said)) {
        state.wanted--;
        isSwallowing = true;
      }
      server.write(piece);
    });
    server.on("data", (piece) => {
      if (!isSwallowing) return client.write(piece);
      state.swallowed++;
      return server.destroy();
    });
    // A connection that breaks is what this is for.
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
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
