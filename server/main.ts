/** The command line. */
import { writeFileSync } from "node:fs";
import { Command, CommanderError, Help } from "commander";
import { accountsCommand } from "./commands/accounts.ts";
import { backupCommand } from "./commands/backup.ts";
import { channelsCommand } from "./commands/channels.ts";
import { CommandError, type Surroundings } from "./commands/client.ts";
import { collectCommand } from "./commands/collect.ts";
import { creditsCommand } from "./commands/credits.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { keysCommand } from "./commands/keys.ts";
import { retentionCommand } from "./commands/retention.ts";
import { ConfigError, readConfig, settingsHelp } from "./config.ts";
import { DomainError, explain, systemCodeOf } from "../core/errors.ts";
import { connect } from "./owner.ts";
import { demo, openapi, serve } from "./run.ts";
import type { ServiceLog } from "./service.ts";
import { version } from "../package.json" with { type: "json" };

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Makes the command line. */
export function createProgram(): Command {
  const err = (text: string) => void process.stderr.write(text);
  const write: ServiceLog["info"] = (sentence, values) =>
    err(`${sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))}\n`);
  // What fails, a verb tells by itself.
  const log: ServiceLog = { failure: () => undefined, info: write, warning: write };
  const surroundings: Surroundings = {
    connect: (verb) => connect({ config: readConfig(process.env), verb, log }),
    out: (text) => void process.stdout.write(text),
    handOut: (text) => writeFileSync(1, text),
    err,
  };
  const program = new Command("bun server/main.ts")
    .version(version)
    .description("Creator metrics: the history of public numbers, one prepaid credit a read.")
    .addHelpText("after", () => `\nSettings are environment variables:\n${settings()}`);
  program
    .command("serve")
    .description("Runs the service. SIGTERM finishes what is in flight.")
    .action(() => serve(readConfig(process.env)));
  program
    .command("demo")
    .description("Runs the service on generated data, with a key made for it.")
    .action(() => demo(process.env));
  program
    .command("openapi")
    .description("Prints the reference's OpenAPI document.")
    .action(() => openapi());
  for (const make of [
    importCommand,
    exportCommand,
    accountsCommand,
    keysCommand,
    creditsCommand,
    channelsCommand,
    retentionCommand,
    collectCommand,
    backupCommand,
  ]) {
    program.addCommand(make(surroundings));
  }
  exitByThrowing(program);
  return program;
}

/** The settings, in lines as long as those of the help. */
function settings(): string {
  const help = Object.assign(new Help(), { helpWidth: process.stdout.columns ?? 80 });
  return settingsHelp((name, width, what) => help.formatItem(name, width, what, help));
}

/** Every verb reports wrong usage the one way, so that the exit status is ours. */
function exitByThrowing(command: Command): void {
  command.exitOverride().showHelpAfterError("(--help tells what is allowed)");
  for (const verb of command.commands) exitByThrowing(verb);
}

/** Tells what went wrong; what is no error of the user's or the service's own is thrown on. */
function exitStatusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return EXIT_USAGE;
  }
  if (error instanceof CommandError || error instanceof DomainError || isSystemError(error)) {
    process.stderr.write(`${explain(error)}\n`);
    const isUsage =
      error instanceof DomainError
        ? error.code === "Invalid Request"
        : error instanceof CommandError && error.isUsage;
    return isUsage ? EXIT_USAGE : EXIT_FAILED;
  }
  throw error;
}

function isSystemError(error: unknown): error is Error {
  return systemCodeOf(error) !== "";
}

if (import.meta.main) {
  // Every file and folder that the process makes, in whichever thread, is its user's alone.
  process.umask(0o077);
  // Who reads the output may stop early, as `head` does.
  process.stdout.on("error", (error) => {
    if (systemCodeOf(error) === "EPIPE") process.exit(0);
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(EXIT_FAILED);
  });
  // A log that nobody takes any more is no failure of what it tells of.
  process.stderr.on("error", () => undefined);
  try {
    await createProgram().parseAsync();
  } catch (error) {
    process.exitCode = exitStatusOf(error);
  }
}
