/**
 * The program that writes the file of an embedded replica. It is a process of its own: a
 * synchronization blocks its thread, has no timeout, and can only be ended with its process; and
 * the driver writes to the standard error of its process. It ends with its parent.
 */
import { Database as Lock } from "bun:sqlite";
import Driver from "libsql";
import { isMainThread } from "node:worker_threads";
import { getProgramUrl } from "../../../programs.ts";
import { readSystemErrorCode } from "../../../system-errors.ts";

/** What the program writes, and from where. */
export interface SyncTarget {
  readonly file: string;
  readonly url: string;
  readonly authToken: string;
}

/** A request: the first has the target, and opens the file. */
export type SyncRequest = { readonly open: SyncTarget } | "sync";

/** The response to each request. */
export interface SyncResponse {
  readonly error?: string;
}

declare const self: Worker;

/** It stays open, and so locked, until the process ends. */
let lockFile: Lock | undefined;

if (isMainThread) {
  // This thread notices the end of the parent, also while the other one is blocked.
  process.on("disconnect", () => process.exit());
  const worker = new Worker(getProgramUrl("store/database/replica/sync-program.ts").href);
  process.on("message", (request: SyncRequest) => worker.postMessage(request));
  worker.addEventListener("message", ({ data }: MessageEvent<SyncResponse>) => {
    process.send?.(data);
  });
} else {
  let driver: Driver.Database | undefined;
  self.addEventListener("message", ({ data }: MessageEvent<SyncRequest>) => {
    try {
      if (data === "sync") driver?.sync();
      else driver = open(data.open);
      self.postMessage({});
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      self.postMessage({ error: message || readSystemErrorCode(error) } satisfies SyncResponse);
    }
  });
}

function open({ file, url, authToken }: SyncTarget): Driver.Database {
  lock(file);
  const options: Driver.Options & { readonly authToken: string } = { syncUrl: url, authToken };
  return new Driver(file, options);
}

/** Locks the file until the process ends: two programs that write it would damage it. */
function lock(file: string): void {
  lockFile = new Lock(`${file}-lock`);
  try {
    lockFile.run("PRAGMA journal_mode = MEMORY");
    lockFile.run("BEGIN EXCLUSIVE");
  } catch (error) {
    if (readSystemErrorCode(error) !== "SQLITE_BUSY") throw error;
    const message = `${file} is in use by another process; give each process its own file`;
    throw new Error(message, { cause: error });
  }
}
