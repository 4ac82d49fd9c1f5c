/** Clients that read the beginning of an answer and then no more, until they are told to. */
import { connect, type Socket } from "node:net";

/** How long an answer may take to begin, or to end once it is read. */
const DEADLINE_MS = 60_000;

/** A client that stopped reading. */
export interface SlowClient {
  readonly status: number;
  readonly head: string;
  /** Reads the answer to its end. */
  readRemaining(): Promise<Buffer>;
  disconnect(): void;
}

/**
 * Sends a GET and reads until the head of its answer is there.
 *
 * @param headers As they are sent, each with its line break.
 */
export async function openSlowClient(
  address: string,
  path: string,
  headers = "",
): Promise<SlowClient> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error(`No answer to ${path}`)));
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
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error("The answer did not end")));
  socket.on("error", reject);
  socket.on("data", (piece: Buffer) => chunks.push(piece));
  socket.on("close", () => resolve(Buffer.concat(chunks)));
  socket.resume();
  return promise;
}

/** The most memory that a process had so far, in MiB. */
export async function readPeakMemoryMib(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/**
 * The observations of a page of 6.5 MB, of the user `longwinded`: the most records that a page lists
 * of each tweet, and long texts.
 */
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
