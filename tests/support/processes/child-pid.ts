/** Finds the process that a wrapper runs, to send signals to it. */
import { existsSync, readFileSync } from "node:fs";
import { waitUntil } from "../wait.ts";

/** Waits for the first child of a process, such as `strace` or `unshare`. @returns Its pid. */
export async function findChildPid(parent: Bun.Subprocess): Promise<number> {
  const file = `/proc/${parent.pid}/task/${parent.pid}/children`;
  let pid = 0;
  await waitUntil(() => {
    pid = existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) || 0 : 0;
    return pid !== 0;
  });
  return pid;
}
