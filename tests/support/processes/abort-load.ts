/**
 * Clients that connect, send a charged read and reset the connection 0 to 2 ms later, again and again.
 * They run as a separate process.
 */
import { join } from "node:path";
import { waitForSocketPoll } from "../../../server/metering/group-commit.ts";

/** Where the clients send their reads. */
export interface AbortLoad {
  readonly url: string;
  /** Each read gets a number behind it, so that none is cached. */
  readonly path: string;
  readonly key: string;
  /** Clients at once. */
  readonly loops: number;
}

/** What the clients did. */
export interface AbortCounts {
  /** Reads that were sent. */
  readonly sent: number;
  /** Reads with the status 200 or 404 that arrived before the reset. */
  readonly answered: number;
  /** Responses with the status 429. */
  readonly limited: number;
}

const RESET_AFTER_MAX_MS = 2;

/** Starts the clients. @returns Stops them. */
export function startAbortLoad(load: AbortLoad): () => Promise<AbortCounts> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(load)], {
    cwd: join(import.meta.dir, "../../.."),
    stdout: "pipe",
    stderr: "inherit",
  });
  return async () => {
    child.kill();
    return (await new Response(child.stdout).json()) as AbortCounts;
  };
}

async function sendAndReset({ url, path, key }: AbortLoad, nth: number): Promise<number> {
  let status = 0;
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => void (status = Number(/^HTTP\/1\.1 (\d+)/.exec(bytes.toString())?.[1])),
      error: () => undefined,
    },
  });
  socket.write(`GET ${path}${nth} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`);
  await Bun.sleep(Math.random() * RESET_AFTER_MAX_MS);
  // On a busy machine, the sleep lasts so long that a response has arrived, which then counts.
  await waitForSocketPoll();
  socket.terminate();
  return status;
}

async function run(load: AbortLoad): Promise<void> {
  const counts = { sent: 0, answered: 0, limited: 0 };
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  const runLoop = async () => {
    while (!stop.signal.aborted) {
      try {
        const status = await sendAndReset(load, ++counts.sent);
        if (status === 200 || status === 404) counts.answered++;
        if (status === 429) counts.limited++;
      } catch {
        await Bun.sleep(10); // The service does not listen.
      }
    }
  };
  await Promise.all(Array.from({ length: load.loops }, runLoop));
  process.stdout.write(JSON.stringify(counts));
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? ""));
