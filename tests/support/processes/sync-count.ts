/** Counts the syncs of a running process with strace. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../wait.ts";

/** Counts how often a process and its threads sync a file to the disk while `work` runs. */
export async function countSyncs(pid: number, work: () => Promise<void>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "syncs-"));
  const trace = join(folder, "trace");
  const strace = Bun.spawn(
    ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", trace, "-p", String(pid)],
    { stdout: "ignore", stderr: "pipe" },
  );
  let messages = "";
  const reading = (async () => {
    for await (const piece of strace.stderr) messages += new TextDecoder().decode(piece);
  })();
  try {
    await waitUntil(() => messages.includes("attached"));
    await work();
  } finally {
    strace.kill("SIGINT");
    await Promise.all([strace.exited, reading]);
  }
  const calls = await readFile(trace, "utf8");
  await rm(folder, { recursive: true, force: true });
  return calls.split("\n").filter((line) => /\bf(?:data)?sync\(/.test(line)).length;
}
