/** The command line: parses arguments, runs a command, and turns errors into messages and exit codes. */
import { writeFileSync } from "node:fs";
import { Command, CommanderError, Help } from "commander";
import { createAccountsCommand } from "./commands/accounts.ts";
import { CommandError, type CommandContext } from "./commands/command.ts";
import { createBackupCommand } from "./commands/backup.ts";
import { createChannelsCommand } from "./commands/channels.ts";
import { createCreatorsCommand } from "./commands/creators.ts";
import { createCollectCommand } from "./commands/collect.ts";
import { createCreditsCommand } from "./commands/credits.ts";
import { createExportCommand } from "./commands/export.ts";
import { createImportCommand } from "./commands/import.ts";
import { createKeysCommand } from "./commands/keys.ts";
import { createRetentionCommand } from "./commands/retention.ts";
import { ConfigError, readConfig, SETTINGS } from "./config.ts";
import { DomainError } from "../core/errors.ts";
import type { CommandLineIo, ServiceLogger } from "./ports/process.ts";
import { connectToDatabase } from "./process/database-owner.ts";
import { printOpenApi } from "./process/print-openapi.ts";
import { serve } from "./process/serve.ts";
import { serveDemo } from "./process/serve-demo.ts";
import { version } from "../package.json" with { type: "json" };
import { describeError, readSystemErrorCode } from "./system-errors.ts";

/** The commands that work through the administration API, by name. */
const ADMIN_COMMANDS = {
  import: createImportCommand,
  export: createExportCommand,
  accounts: createAccountsCommand,
  keys: createKeysCommand,
  credits: createCreditsCommand,
  channels: createChannelsCommand,
  creators: createCreatorsCommand,
  retention: createRetentionCommand,
  collect: createCollectCommand,
  backup: createBackupCommand,
};

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The environment and the standard streams of this process. */
const PROCESS_IO: CommandLineIo = {
  environment: process.env,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  writeOut: (data) => new Promise((resolve) => process.stdout.write(data, () => resolve())),
  writeOutSync: (text) => writeFileSync(1, text),
  writeErr: (text) => void process.stderr.write(text),
};

/**
 * Runs a command.
 *
 * @param argv The arguments behind the name of the program.
 * @returns The exit code: 0, 1 for a failure, 2 for wrong usage or settings.
 * @throws What is neither the user's error nor an expected failure of the service.
 */
export async function run(argv: readonly string[], io: CommandLineIo): Promise<number> {
  try {
    await createProgram(io).parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return reportFailure(error, io);
  }
}

/** Makes the command line with all its commands. */
export function createProgram(io = PROCESS_IO): Command {
  const writeRecord: ServiceLogger["info"] = (sentence, values) =>
    io.writeErr(`${sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))}\n`);
  // A command reports its failures itself.
  const log: ServiceLogger = { failure: () => undefined, info: writeRecord, warning: writeRecord };
  const createContext = (verb: string): CommandContext => ({
    ...io,
    connect: () => connectToDatabase({ config: readConfig(io.environment), verb, log }),
  });
  const program = new Command("bun server/main.ts")
    .version(version)
    .description("Serves the history of creators' public numbers; each read costs one credit.")
    .addHelpText("after", () => `\nSettings are environment variables:\n${formatSettings(io)}`);
  program
    .command("serve")
    .summary("Runs the service.")
    .description("Runs the service until SIGTERM or SIGINT, then completes requests in progress.")
    .action(() => serve(readConfig(io.environment), io));
  program
    .command("demo")
    .summary("Runs the service with generated data.")
    .description(
      "Runs the service with generated data, and prints an API key and example requests. The " +
        "database is file:./data/demo.db, unless DATABASE_URL is set.",
    )
    .action(() => serveDemo(io));
  program
    .command("openapi")
    .description("Prints the OpenAPI document of the service.")
    .action(() => printOpenApi(io));
  for (const [verb, createCommand] of Object.entries(ADMIN_COMMANDS)) {
    program.addCommand(createCommand(createContext(verb)));
  }
  configureCommand(program, io);
  return program;
}

function formatSettings({ columns = 80 }: CommandLineIo): string {
  const help = Object.assign(new Help(), { helpWidth: columns });
  const nameWidth = Math.max(...SETTINGS.map(({ name }) => name.length));
  const lines = SETTINGS.map(({ name, description, allowed, default: initial }) => {
    const defaultNote = initial ? `; default ${initial}` : "";
    const text = `${description} (${allowed}${defaultNote})`;
    return `${help.formatItem(name, nameWidth, text, help)}\n`;
  });
  return lines.join("");
}

/** Makes a command and its subcommands write to `io`, and throw instead of ending the process. */
function configureCommand(command: Command, io: CommandLineIo): void {
  command
    .exitOverride()
    .showHelpAfterError("(add --help to see what is allowed)")
    .configureOutput({
      writeOut: (text) => void io.writeOut(text),
      writeErr: io.writeErr,
      getOutHelpWidth: () => io.columns ?? 80,
      getErrHelpWidth: () => io.columns ?? 80,
    });
  for (const subcommand of command.commands) configureCommand(subcommand, io);
}

/** Writes why a command failed, and returns the exit code; throws what is a bug. */
function reportFailure(error: unknown, { writeErr }: CommandLineIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const isUsage =
    error instanceof ConfigError ||
    (error instanceof DomainError && error.code === "Invalid Request");
  const isExpected =
    isUsage ||
    error instanceof CommandError ||
    error instanceof DomainError ||
    readSystemErrorCode(error) !== "";
  if (!isExpected) throw error;
  writeErr(`${describeError(error)}\n`);
  return isUsage ? EXIT_USAGE : EXIT_FAILED;
}

if (import.meta.main) {
  // Only the user may read the files that any thread of this process creates.
  process.umask(0o077);
  // The reader of a pipe may stop early, as `head` does.
  process.stdout.on("error", (error) => {
    if (readSystemErrorCode(error) === "EPIPE") process.exit(0);
    process.stderr.write(`Cannot write to standard output: ${error.message}\n`);
    process.exit(EXIT_FAILED);
  });
  // The service goes on when nobody reads its log any more.
  process.stderr.on("error", () => undefined);
  process.exitCode = await run(process.argv.slice(2), PROCESS_IO);
}
