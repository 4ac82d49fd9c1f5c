/**
 * A TCP proxy in front of a fake, for what an HTTP server cannot do itself: responses that are cut,
 * and responses that are longer or shorter than their length.
 */
import { connect, createServer, type Socket } from "node:net";

/** How the proxy corrupts a response. */
export type ProxyFault = "cut" | "longer than sent" | "shorter than sent";

/** The response header that asks the proxy for a fault. */
export const PROXY_FAULT_HEADER = "x-wire";

/** Opens a proxy to a port of 127.0.0.1. */
export async function openCorruptingProxy(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      const corrupted = corrupt(chunk);
      if (corrupted === undefined) {
        if (!client.write(chunk)) {
          upstream.pause();
          client.once("drain", () => upstream.resume());
        }
      } else client.write(corrupted, () => client.end(() => client.destroy()));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    port: address.port,
    close(): void {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Corrupts a response as its header asks; `undefined` without the header. */
function corrupt(chunk: Buffer): Buffer | undefined {
  const text = chunk.toString("latin1");
  const fault = new RegExp(`^${PROXY_FAULT_HEADER}: (.+?)\r$`, "im").exec(text)?.[1];
  if (!text.startsWith("HTTP/1.1") || fault === undefined) return undefined;
  const bodyAt = text.indexOf("\r\n\r\n") + 4;
  if (fault === "cut") return chunk.subarray(0, bodyAt + Math.ceil((text.length - bodyAt) / 2));
  const change = fault === "longer than sent" ? 100 : -1;
  const changed = text.replace(
    /^(content-length: )(\d+)/im,
    (_, name: string, length: string) => `${name}${Number(length) + change}`,
  );
  return Buffer.from(changed, "latin1");
}
