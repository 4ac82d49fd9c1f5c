/** Clients that stop reading in the middle of a response. */
import { connect, type Socket } from "node:net";

/** The longest time without data while the client reads. */
const DEADLINE_MS = 60_000;

/** A client that has read the head of a response, and no more. */
export interface SlowClient {
  readonly status: number;
  readonly head: string;
  /** Reads the rest. @returns The whole response, including its head. */
  readRemaining(): Promise<Buffer>;
  disconnect(): void;
}

/**
 * Sends a GET, reads the head of the response, and stops reading.
 *
 * @param headers Raw header lines, each with its line break.
 */
export async function openSlowClient(
  address: string,
  path: string,
  headers = "",
): Promise<SlowClient> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error(`No response to ${path}`)));
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`;
  socket.on("connect", () => socket.write(request));
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on("error", reject);
  socket.on("data", (piece: Buffer) => {
    chunks.push(piece);
    if (!piece.includes("\r\n\r\n")) return;
    socket.pause();
    resolve();
  });
  await promise;
  socket.removeAllListeners("data");
  socket.setTimeout(0);
  const head = Buffer.concat(chunks).toString("latin1").split("\r\n\r\n")[0] ?? "";
  return {
    head,
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    readRemaining: () => readToEnd(socket, chunks),
    disconnect: () => void socket.destroy(),
  };
}

function readToEnd(socket: Socket, chunks: Buffer[]): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error("The response did not end")));
  socket.on("error", reject);
  socket.on("data", (piece: Buffer) => chunks.push(piece));
  socket.on("close", () => resolve(Buffer.concat(chunks)));
  socket.resume();
  return promise;
}

/** The peak memory of a process, in MiB. */
export async function readPeakMemoryMib(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Import lines for a page of tweets of 6.5 MB: long texts and long histories of user `longwinded`. */
export function createLongPageLines(): string {
  const now = Date.now();
  const lines: object[] = [];
  for (let tweet = 0; tweet < 100; tweet++) {
    const common = { kind: "tweet", username: "longwinded", id: `1${tweet}` };
    const created_at = new Date(now - 86_400_000 - tweet).toISOString();
    for (let point = 0; point < 250; point++) {
      const observedAt = new Date(now - 80_000_000 + point * 1000).toISOString();
      const counts = { likes: point, retweets: 1_000_000, replies: 1_000_000, impressions: point };
      const text = point === 0 ? { created_at, text: "word ".repeat(7500) } : {};
      lines.push({ ...common, observedAt, ...counts, ...text });
    }
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}
