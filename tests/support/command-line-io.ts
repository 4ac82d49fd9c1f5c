/** Runs a verb of the command line within this process. */
import { run } from "../../server/main.ts";
import type { CommandResult } from "./processes/command-line.ts";

/**
 * Runs a verb and captures what it writes.
 *
 * @param environment The settings; without DATABASE_URL only help and usage errors may be tested.
 */
export async function runInProcess(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const decoder = new TextDecoder();
  const result = { out: "", err: "" };
  const writeOutSync = (data: string | Uint8Array) => {
    result.out += typeof data === "string" ? data : decoder.decode(data, { stream: true });
  };
  // The command line sets it when it starts as a process: what it creates is for its user only.
  const umask = process.umask(0o077);
  try {
    const status = await run(argv, {
      environment,
      columns: undefined,
      writeOut: async (data) => writeOutSync(data),
      writeOutSync,
      writeErr: (text) => void (result.err += text),
    });
    return { status, ...result };
  } finally {
    process.umask(umask);
  }
}
