/** The command line: parses arguments, runs a command, and turns errors into messages and exit codes. */
import { Command } from "commander";
import { createAccountsCommand, createNoticesCommand } from "./commands/accounts.ts";
import { createAuditCommand } from "./commands/audit.ts";
import { CommandError, EXIT_INTERRUPTED, type CommandContext } from "./commands/command.ts";
import { createBackupCommand } from "./commands/backup.ts";
import { createChannelsCommand } from "./commands/channels.ts";
import { createCreatorsCommand } from "./commands/creators.ts";
import { createCollectCommand } from "./commands/collect.ts";
import { createCreditsCommand } from "./commands/credits.ts";
import { createExportCommand } from "./commands/export.ts";
import { createCompletionCommand } from "./commands/completion/command.ts";
import { createHelpCommand } from "./commands/help/command.ts";
import { configureHelp } from "./commands/help/format-help.ts";
import { createImportCommand } from "./commands/import.ts";
import { createKeysCommand } from "./commands/keys.ts";
import { createRetentionCommand } from "./commands/retention.ts";
import { createTokensCommand } from "./commands/tokens.ts";
import type { OutputOptions } from "./commands/terminal/output.ts";
import { createStatusCommand } from "./commands/status.ts";
import { createProcessIo, type CommandLineIo } from "./commands/terminal/process-io.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { describeUsageError, reportFailure, requestsJson, toJsonMessages } from "./failures.ts";
import type { ServiceLogger } from "./log.ts";
import { version } from "../package.json" with { type: "json" };
import { readAdvice, readSystemErrorCode } from "./system-errors.ts";

/** The commands that work through the administration API: by heading in the help, then by name. */
const ADMIN_COMMANDS = {
  "Observations:": { import: createImportCommand, export: createExportCommand },
  "Customers:": {
    accounts: createAccountsCommand,
    keys: createKeysCommand,
    credits: createCreditsCommand,
    notices: createNoticesCommand,
  },
  "Collecting:": {
    channels: createChannelsCommand,
    creators: createCreatorsCommand,
    collect: createCollectCommand,
  },
  "Database:": {
    status: createStatusCommand,
    retention: createRetentionCommand,
    backup: createBackupCommand,
  },
  "Administrators:": { tokens: createTokensCommand, audit: createAuditCommand },
};

/**
 * Runs a command.
 *
 * @param argv The arguments behind the name of the program.
 * @returns The exit code: 0, 1 for a failure, 2 for wrong usage or settings, 130 for an interruption.
 * @throws An error that is neither the user's nor an expected failure of the service.
 */
export async function run(argv: readonly string[], io: CommandLineIo): Promise<number> {
  const isJson = requestsJson(argv);
  try {
    const program = createProgram(isJson ? toJsonMessages(io) : io, { isJson });
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    return reportFailure(error, io, { isJson });
  }
}

/** Makes the command line with all its commands. */
export function createProgram(io = createProcessIo(), { isJson = false } = {}): Command {
  const writeRecord: ServiceLogger["info"] = (sentence, values) =>
    io.writeErr(`${sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))}\n`);
  // A command reports its failures itself.
  const log: ServiceLogger = { failure: () => undefined, info: writeRecord, warning: writeRecord };
  const createContext = (verb: string): CommandContext => ({
    ...io,
    async connect() {
      const config = readConfig(io.environment);
      const { connectToDatabase } = await import("./process/database-owner.ts");
      return connectToDatabase({ config, verb, log });
    },
  });
  const program = new Command(io.programName)
    .version(version)
    .description("Serves the history of creators' public numbers; each read costs one credit.");
  addServiceCommands(program, io);
  for (const [heading, commands] of Object.entries(ADMIN_COMMANDS)) {
    for (const [verb, createCommand] of Object.entries(commands)) {
      program.addCommand(createCommand(createContext(verb)).helpGroup(heading));
    }
  }
  const helpOptions = { io, settings: SETTINGS };
  program
    .helpCommand(false)
    .commandsGroup("More:")
    .addCommand(createCompletionCommand(program, io))
    .addCommand(createHelpCommand(program, helpOptions));
  configureCommand(program, io, isJson);
  configureHelp(program, helpOptions);
  return program;
}

/**
 * Adds the commands that are or make a service of their own. Their code is loaded when it is
 * needed, so that help and completion appear at once.
 */
function addServiceCommands(program: Command, io: CommandLineIo): void {
  program.commandsGroup("The service:");
  program
    .command("serve")
    .summary("Runs the service.")
    .description("Runs the service until SIGTERM or SIGINT, then completes requests in progress.")
    .option("--json", "print where it serves as JSON, on standard output")
    .action(async (options: OutputOptions) => {
      const config = readConfig(io.environment);
      const { serve } = await import("./process/serve.ts");
      return serve(config, io, options);
    });
  program
    .command("demo")
    .summary("Runs the service with generated data.")
    .description(
      "Runs the service with generated data, and prints an API key, a token of its administrator and " +
        "example requests. The database is file:./data/demo.db, unless DATABASE_URL is set.",
    )
    .option("--json", "print where it serves and the key as JSON")
    .action(async (options: OutputOptions) => {
      const { serveDemo } = await import("./process/serve-demo.ts");
      return serveDemo(io, options);
    });
  program
    .command("openapi")
    .description("Prints the OpenAPI document of the service.")
    .action(async () => {
      const { printOpenApi } = await import("./process/print-openapi.ts");
      return printOpenApi(io);
    });
  program.commandsGroup("");
}

/** Makes a command and its subcommands write to `io`, and throw instead of ending the process. */
function configureCommand(command: Command, io: CommandLineIo, isJson: boolean): void {
  const isVerb = command.commands.length === 0;
  if (isVerb && !command.options.some(({ long }) => long === "--json")) {
    command.option("--json", "print messages and errors as JSON");
  }
  command.exitOverride().configureOutput({
    writeOut: (text) => void io.writeOut(text),
    writeErr: (text) => io.writeErr(text, "painted"),
    getOutHelpWidth: () => io.columns ?? 80,
    getErrHelpWidth: () => io.columns ?? 80,
    getOutHasColors: () => io.hasOutColors,
    getErrHasColors: () => io.hasErrColors,
    // As JSON, the error is printed where it is caught.
    outputError: (text) => {
      if (!isJson) io.writeErr(describeUsageError(text), "red");
    },
  });
  if (!isJson) {
    const [program] = command.createHelp().commandUsage(command).split(" [");
    const usage = isVerb ? `Usage: ${command.createHelp().commandUsage(command)}\n` : "";
    command.showHelpAfterError(`${usage}More: ${program} --help`);
  }
  for (const subcommand of command.commands) configureCommand(subcommand, io, isJson);
}

/** Runs the command of this process. @param programName The text that the user typed to run it. */
export async function main(programName?: string): Promise<void> {
  // Only the user may read the files that any thread of this process creates.
  process.umask(0o077);
  const argv = process.argv.slice(2);
  const io = createProcessIo(programName);
  // The reader of a pipe may stop early, as `head` does.
  process.stdout.on("error", (error) => {
    const code = readSystemErrorCode(error);
    if (code === "EPIPE") process.exit(0);
    const message = `Cannot write to standard output: ${error.message}`;
    const failure = new CommandError(message, { code, advice: readAdvice(error) });
    process.exit(reportFailure(failure, io, { isJson: requestsJson(argv) }));
  });
  // The service goes on when nobody reads its log any more.
  process.stderr.on("error", () => undefined);
  process.exitCode = await run(argv, io);
  // A shell ends a script only if the signal ended the command.
  if (process.exitCode === EXIT_INTERRUPTED) process.kill(process.pid, "SIGINT");
}

if (import.meta.main) await main();
