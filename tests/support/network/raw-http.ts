/** Sends raw bytes as requests, also invalid ones that no HTTP client can send. */
import { connect } from "node:net";

/**
 * Sends a raw request and returns the raw response.
 *
 * @param localAddress The address of the client: any of 127.0.0.0/8 on Linux.
 */
export function sendRaw(address: string, request: string, localAddress?: string): Promise<string> {
  const { hostname: host, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const localOptions = localAddress === undefined ? {} : { localAddress };
    // The socket stays open: the service would take its end for a client that disconnects.
    const socket = connect({ port: Number(port), host, ...localOptions }, () =>
      socket.write(request),
    );
    let received = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (isCompleteResponse(received)) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received.toString("utf8")));
  });
}

/** Sends a part of a request and disconnects. */
export function sendPartial(address: string, part: string): Promise<void> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(part, () => socket.end()));
    socket.on("error", reject);
    socket.on("close", () => resolve());
    socket.resume();
  });
}

/** Whether a response is complete, by its Content-Length or its last chunk. */
export function isCompleteResponse(answer: Buffer): boolean {
  const end = answer.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const head = answer.toString("latin1", 0, end);
  if (/^HTTP\/1\.1 (?:204|304) /.test(head)) return true;
  const body = answer.subarray(end + 4);
  if (/^transfer-encoding: chunked$/im.test(head))
    return body.toString("latin1").endsWith("0\r\n\r\n");
  return body.byteLength >= Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
}

/** The status of a raw response. */
export function parseStatus(answer: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1]);
}
