/** A TCP proxy whose connections go silent without closing, or are slow. */
import { connect, createServer, type AddressInfo } from "node:net";

/** Options of the proxy. */
interface BlackholeProxyOptions {
  /** How long all data takes from one side to the other, in milliseconds. */
  readonly delayMs?: number;
}

/**
 * Starts a proxy for a server. It forwards all data until `blackhole()`, and on new connections also
 * after it, but not after `cutOff()`.
 */
export async function startBlackholeProxy(
  target: string,
  { delayMs = 0 }: BlackholeProxyOptions = {},
) {
  const { hostname, port, protocol } = new URL(target);
  let generation = 0;
  let isCutOff = false;
  const proxy = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on("error", () => undefined);
    if (isCutOff) return;
    const ownGeneration = generation;
    const server = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    server.setNoDelay(true);
    const ifAlive = (forward: () => void) => {
      const run = () => void (ownGeneration === generation && forward());
      if (delayMs === 0) run();
      else setTimeout(run, delayMs);
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("data", (piece) => ifAlive(() => void to.write(piece)));
      from.on("end", () => ifAlive(() => void to.end()));
      from.on("close", () => ifAlive(() => void to.destroy()));
      from.on("error", () => undefined);
    }
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `${protocol}//127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    /** Forwards nothing more on the open connections, and keeps them open. */
    blackhole: (): void => void generation++,
    /** Forwards nothing more, on new connections neither, until `reconnect()`. */
    cutOff(): void {
      generation++;
      isCutOff = true;
    },
    /** Forwards the data of new connections again. Those from before stay silent. */
    reconnect: (): void => void (isCutOff = false),
    close: () => void proxy.close(),
  };
}
