/** Runs a verb of the command line within this process. */
import { run } from "../../server/main.ts";
import { formatMessage, type CommandLineIo } from "../../server/commands/terminal/process-io.ts";
import type { CommandResult } from "./processes/command-line.ts";

/** The messages on standard error of a verb with --json. */
export function parseMessages(err: string): string[] {
  const lines = err.trimEnd().split("\n");
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

/**
 * Runs a verb and captures what it writes.
 *
 * @param environment The settings; without DATABASE_URL only help and usage errors may be tested.
 * @param terminal What the streams can show, such as colours; by default they are pipes.
 */
export async function runInProcess(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  terminal: Partial<CommandLineIo> = {},
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
      programName: "bun server/main.ts",
      columns: undefined,
      hasOutColors: false,
      hasErrColors: false,
      errTerminal: undefined,
      writeOut: async (data) => writeOutSync(data),
      writeOutSync,
      writeErr(text, style = "plain") {
        result.err += formatMessage(text, { style, hasColors: terminal.hasErrColors === true });
      },
      ...terminal,
    });
    return { status, ...result };
  } finally {
    process.umask(umask);
  }
}
