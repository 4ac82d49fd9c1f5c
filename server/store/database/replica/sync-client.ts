/** Starts the program that writes the file of an embedded replica, and sends it requests. */
import { statSync } from "node:fs";
import { getProgramCommand } from "../../../programs.ts";
import type { SyncRequest, SyncResponse, SyncTarget } from "./sync-program.ts";

/** A request during which nothing is written for so long hangs: a cut connection has no timeout. */
const STALLED_MS = 10_000;
const STALL_CHECK_MS = 1000;

export type SyncProgram = Awaited<ReturnType<typeof openSyncProgram>>;

/**
 * Starts the program, and lets it open the file. It handles one request after another.
 *
 * @param signal Ends the program, also while it opens the file.
 */
export async function openSyncProgram(target: SyncTarget, signal?: AbortSignal) {
  let pending: PromiseWithResolvers<void> | undefined;
  let hasEnded = false;
  const child = Bun.spawn(getProgramCommand("store/database/replica/sync-program.ts"), {
    stdio: ["ignore", "ignore", "ignore"],
    killSignal: "SIGKILL",
    ...(signal && { signal }),
    ipc({ error }: SyncResponse) {
      if (error === undefined) pending?.resolve();
      else pending?.reject(new Error(error));
    },
    onExit(_, status, signalCode) {
      hasEnded = true;
      const message = `The program that writes the replica ended with ${signalCode ?? status}`;
      pending?.reject(new Error(message));
    },
  });
  child.unref();

  async function end(): Promise<void> {
    hasEnded = true;
    child.kill();
    await child.exited;
  }

  /** Sends a request; resolves once it is done, and ends the program if it hangs. */
  async function send(request: SyncRequest): Promise<void> {
    const response = Promise.withResolvers<void>();
    child.send(request);
    pending = response;
    let state = describeWrites(target.file);
    let writtenAt = performance.now();
    const timer = setInterval(() => {
      const next = describeWrites(target.file);
      if (next !== state) writtenAt = performance.now();
      state = next;
      if (performance.now() - writtenAt < STALLED_MS) return;
      response.reject(new Error(`The server has sent nothing for ${STALLED_MS} ms`));
      void end();
    }, STALL_CHECK_MS).unref();
    try {
      await response.promise;
    } finally {
      clearInterval(timer);
      pending = undefined;
    }
  }

  try {
    await send({ open: target });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    /** Whether it takes no more requests: it hung, or ended by itself. */
    hasEnded: (): boolean => hasEnded,
    /** Copies what the server has. After a failure that the server caused, it can try again. */
    synchronize: () => send("sync"),
    end,
  };
}

/** Describes the files of the replica; the description changes when the program writes. */
const describeWrites = (file: string): string =>
  ["", "-wal"]
    .map((suffix) => statSync(file + suffix, { throwIfNoEntry: false }))
    .map((stats) => `${stats?.size} ${stats?.mtimeMs}`)
    .join();
