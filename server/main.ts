/** The command line. */
import { writeFileSync } from "node:fs";
import { Command, CommanderError, Help } from "commander";
import { createAccountsCommand } from "./commands/accounts.ts";
import { createBackupCommand } from "./commands/backup.ts";
import { createChannelsCommand } from "./commands/channels.ts";
import { CommandError, type CommandContext } from "./commands/admin-client.ts";
import { createCollectCommand } from "./commands/collect.ts";
import { createCreditsCommand } from "./commands/credits.ts";
import { createExportCommand } from "./commands/export.ts";
import { createImportCommand } from "./commands/import.ts";
import { createKeysCommand } from "./commands/keys.ts";
import { createRetentionCommand } from "./commands/retention.ts";
import { ConfigError, readConfig, formatSettingsHelp } from "./config.ts";
import { DomainError } from "../core/errors.ts";
import { connectToDatabase } from "./process/database-owner.ts";
import { serveDemo, printOpenApi, serve } from "./process/serve.ts";
import type { ServiceLogger } from "./ports/process.ts";
import { version } from "../package.json" with { type: "json" };
import { describeError, readSystemErrorCode } from "./system-errors.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Makes the command line. */
export function createProgram(): Command {
  const writeErr = (text: string) => void process.stderr.write(text);
  const writeRecord: ServiceLogger["info"] = (sentence, values) =>
    writeErr(`${sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))}\n`);
  // What fails, a verb tells by itself.
  const log: ServiceLogger = { failure: () => undefined, info: writeRecord, warning: writeRecord };
  const context: CommandContext = {
    connect: (verb) => connectToDatabase({ config: readConfig(process.env), verb, log }),
    writeOut: (text) => void process.stdout.write(text),
    writeOutSync: (text) => writeFileSync(1, text),
    writeErr,
  };
  const program = new Command("bun server/main.ts")
    .version(version)
    .description("Creator metrics: the history of public numbers, one prepaid credit a read.")
    .addHelpText("after", () => `\nSettings are environment variables:\n${formatSettings()}`);
  program
    .command("serve")
    .description("Runs the service. SIGTERM finishes what is in flight.")
    .action(() => serve(readConfig(process.env)));
  program
    .command("demo")
    .description("Runs the service on generated data, with a key made for it.")
    .action(() => serveDemo(process.env));
  program
    .command("openapi")
    .description("Prints the reference's OpenAPI document.")
    .action(() => printOpenApi());
  for (const createCommand of [
    createImportCommand,
    createExportCommand,
    createAccountsCommand,
    createKeysCommand,
    createCreditsCommand,
    createChannelsCommand,
    createRetentionCommand,
    createCollectCommand,
    createBackupCommand,
  ]) {
    program.addCommand(createCommand(context));
  }
  overrideExit(program);
  return program;
}

/** The settings, in lines as long as those of the help. */
function formatSettings(): string {
  const help = Object.assign(new Help(), { helpWidth: process.stdout.columns ?? 80 });
  return formatSettingsHelp((name, width, what) => help.formatItem(name, width, what, help));
}

/** Every verb reports wrong usage the one way, so that the exit status is ours. */
function overrideExit(command: Command): void {
  command.exitOverride().showHelpAfterError("(--help tells what is allowed)");
  for (const verb of command.commands) overrideExit(verb);
}

/** Tells what went wrong; what is no error of the user's or the service's own is thrown on. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return EXIT_USAGE;
  }
  if (error instanceof CommandError || error instanceof DomainError || isSystemError(error)) {
    process.stderr.write(`${describeError(error)}\n`);
    const isUsage =
      error instanceof DomainError
        ? error.code === "Invalid Request"
        : error instanceof CommandError && error.isUsage;
    return isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
  throw error;
}

function isSystemError(error: unknown): error is Error {
  return readSystemErrorCode(error) !== "";
}

if (import.meta.main) {
  // Every file and folder that the process makes, in whichever thread, is its user's alone.
  process.umask(0o077);
  // Who reads the output may stop early, as `head` does.
  process.stdout.on("error", (error) => {
    if (readSystemErrorCode(error) === "EPIPE") process.exit(0);
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(EXIT_FAILED);
  });
  // A log that nobody takes any more is no failure of what it tells of.
  process.stderr.on("error", () => undefined);
  try {
    await createProgram().parseAsync();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
