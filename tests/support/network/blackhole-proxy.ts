/** A TCP proxy whose connections go silent without closing. */
import { connect, createServer, type AddressInfo } from "node:net";

/** Starts a proxy for a server. It forwards all data until `blackhole()`. */
export async function startBlackholeProxy(target: string) {
  const { hostname, port, protocol } = new URL(target);
  let generation = 0;
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const ownGeneration = generation;
    const server = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const isAlive = () => ownGeneration === generation;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("data", (piece) => isAlive() && to.write(piece));
      from.on("end", () => isAlive() && to.end());
      from.on("close", () => isAlive() && to.destroy());
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
    close: () => void proxy.close(),
  };
}
