/** The process as commands use it: environment, program name, standard streams, and messages. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { Command } from "commander";
import { paint, showControls } from "./style.ts";

type MessageStyle = "plain" | "red" | "dim" | "painted";

export interface CommandLineIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The text that the user types to run the program: `creator-metrics`, `bun server/main.ts`. */
  readonly programName: string;
  /** Width of the terminal; `undefined` when standard output is no terminal. */
  readonly columns: number | undefined;
  readonly hasOutColors: boolean;
  readonly hasErrColors: boolean;
  /** Standard error, for progress and hints; `undefined` when it is no terminal. */
  readonly errTerminal: (NodeJS.WritableStream & { readonly columns?: number }) | undefined;
  writeOut(data: string | Uint8Array): Promise<void>;
  /** Writes data to standard output at once; throws when it cannot be written. */
  writeOutSync(text: string): void;
  /** Writes a message to standard error. Only a `painted` text may have colours of its own. */
  writeErr(text: string, style?: MessageStyle): void;
}

export function writeHint(
  { errTerminal, writeErr }: CommandLineIo,
  hints: readonly string[],
): void {
  if (errTerminal === undefined) return;
  for (const hint of hints) writeErr(`${hint}\n`, "dim");
}

export function createProcessIo(programName = describeEntryFile()): CommandLineIo {
  const { stdout, stderr } = process;
  // The default of commander: NO_COLOR, FORCE_COLOR, then the abilities of the terminal.
  const { getOutHasColors, getErrHasColors } = new Command().configureOutput();
  const hasErrColors = getErrHasColors?.() === true;
  return {
    environment: process.env,
    programName,
    columns: stdout.isTTY ? stdout.columns : undefined,
    hasOutColors: getOutHasColors?.() === true,
    hasErrColors,
    errTerminal: stderr.isTTY ? stderr : undefined,
    writeOut: (data) => new Promise((resolve) => stdout.write(data, () => resolve())),
    writeOutSync: (text) => writeFileSync(1, text),
    writeErr: (text, style = "plain") =>
      void stderr.write(formatMessage(text, { style, hasColors: hasErrColors })),
  };
}

/**
 * Formats a message. Keeps its line breaks, and makes all other control characters visible.
 *
 * @example
 * formatMessage("Cannot read \u001B[2J\n", { style: "red", hasColors: false });
 * // "Cannot read \\u001b[2J\n"
 */
export function formatMessage(
  text: string,
  { style, hasColors }: { readonly style: MessageStyle; readonly hasColors: boolean },
): string {
  if (style === "painted") return text;
  const show = (line: string) =>
    style === "plain" || !hasColors || line === ""
      ? showControls(line)
      : paint(style, showControls(line));
  return text.split("\n").map(show).join("\n");
}

function describeEntryFile(): string {
  const [, file = "server/main.ts"] = process.argv;
  // A user of npx may have no Bun installed.
  const isByNpx = process.env["npm_execpath"]?.endsWith("npm-cli.js") === true;
  const runtime = isByNpx ? `npx -y bun@${Bun.version}` : "bun";
  return `${runtime} ${relative(process.cwd(), file)}`;
}
