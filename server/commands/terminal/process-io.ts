/** The environment and the standard streams of this process, as commands use them. */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { Command } from "commander";
import type { CommandLineIo } from "../../ports/process.ts";
import { formatMessage } from "./style.ts";

/** Creates the input and output of a command of this process. */
export function createProcessIo(programName = describeEntryFile()): CommandLineIo {
  const { stdout, stderr } = process;
  // What commander does by default: NO_COLOR, FORCE_COLOR, then what the terminal can.
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

/** What runs the file of this process from the working directory, such as `bun server/main.ts`. */
function describeEntryFile(): string {
  const [, file = "server/main.ts"] = process.argv;
  // Who uses npx may have no Bun of their own.
  const isByNpx = process.env["npm_execpath"]?.endsWith("npm-cli.js") === true;
  const runtime = isByNpx ? `npx -y bun@${Bun.version}` : "bun";
  return `${runtime} ${relative(process.cwd(), file)}`;
}
