/**
 * The command line: builds the program of all commands, and defines `serve`, `demo` and `openapi`;
 * runs the command of this process; maps errors to messages and exit codes.
 */
import { Command, CommanderError } from "commander";
import { addAccountsCommand, addNoticesCommand } from "./commands/accounts.ts";
import { addAuditCommand } from "./commands/audit.ts";
import { addCollectionCommands } from "./commands/collection.ts";
import { CommandError, EXIT_INTERRUPTED, type CommandContext } from "./commands/command.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addCreditsCommand } from "./commands/credits.ts";
import { addDatabaseCommands } from "./commands/database.ts";
import { addDoctorCommand } from "./commands/doctor/doctor.ts";
import { addExportCommand } from "./commands/export.ts";
import { addHelp } from "./commands/help/help.ts";
import { addHistoryCommand } from "./commands/history.ts";
import { addImportCommand } from "./commands/import.ts";
import { addKeysCommand, addTokensCommand } from "./commands/keys.ts";
import { addShowCommand } from "./commands/show.ts";
import { formatJson } from "./commands/terminal/output.ts";
import { addTopCommand } from "./commands/top.ts";
import { createProcessIo, type CommandLineIo } from "./commands/terminal/process-io.ts";
import { DomainError } from "../core/errors.ts";
import { ConfigError, readConfig, SETTINGS } from "./config.ts";
import type { ServiceLogger } from "./log.ts";
import { version } from "../package.json" with { type: "json" };
import { describeError, readAdvice, readSystemErrorCode } from "./system-errors.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

type AddCommands = (program: Command, context: CommandContext) => void;

const COMMANDS: Readonly<Record<string, readonly AddCommands[]>> = {
  "The service:": [addServiceCommands],
  "Observations:": [addImportCommand, addExportCommand],
  "Numbers:": [addShowCommand, addTopCommand, addHistoryCommand],
  "Customers:": [addAccountsCommand, addKeysCommand, addCreditsCommand, addNoticesCommand],
  "Collecting:": [addCollectionCommands],
  "Database:": [addDatabaseCommands, addDoctorCommand],
  "Administrators:": [addTokensCommand, addAuditCommand],
};

/**
 * Runs a command. @returns The exit code: 0, 1 for a failure, 2 for wrong usage or settings, 130
 * for an interruption. @throws An error that is neither the user's nor an expected failure.
 */
export async function run(
  argv: readonly string[],
  io: CommandLineIo,
  context = createContext(io, argv),
): Promise<number> {
  try {
    await createProgram(context)
      .parseAsync(argv, { from: "user" })
      .catch((error: unknown) => completeVersion(error, io));
    return 0;
  } catch (error) {
    return reportFailure(error, io, context);
  }
}

/** Adds the build to the version, which Commander has written. @throws Every other error. */
async function completeVersion(error: unknown, { writeOut }: CommandLineIo): Promise<void> {
  if (!(error instanceof CommanderError) || error.code !== "commander.version") throw error;
  const { describeBuild } = await import("./process/version.ts");
  await writeOut(describeBuild());
}

export function createProgram(context = createContext(createProcessIo(), [])): Command {
  const program = new Command(context.programName)
    .version(version, "-V, --version", "output the version, and what it was built from")
    .hook("preAction", (_, command) => void (context.isJson = command.opts()["json"] === true))
    .description("Serves the history of creators' public numbers; each read costs one credit.");
  for (const [heading, adders] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const addCommands of adders) addCommands(program, context);
  }
  program.commandsGroup("More:");
  addCompletionCommand(program, context);
  addHelp(program, { io: context, settings: SETTINGS });
  configureCommand(program, context);
  return program;
}

/** Creates the context of the command in `argv`. With `--json`, each message is a JSON object. */
function createContext(io: CommandLineIo, argv: readonly string[]) {
  const [verb = ""] = argv;
  const end = argv.indexOf("--");
  const context: CommandContext & { isJson: boolean } = {
    ...io,
    // A guess, for errors of parsing. Once a command is parsed, its options decide.
    isJson: argv.slice(0, end === -1 ? undefined : end).includes("--json"),
    get hasErrColors() {
      return !context.isJson && io.hasErrColors;
    },
    get errTerminal() {
      return context.isJson ? undefined : io.errTerminal;
    },
    writeErr(text, style) {
      if (context.isJson) io.writeErr(`${JSON.stringify({ message: text.trimEnd() })}\n`);
      else io.writeErr(text, style);
    },
    async connect() {
      const config = readConfig(io.environment);
      const { connectToDatabase } = await import("./process/database-owner.ts");
      return connectToDatabase({ config, verb, log });
    },
    async diagnose(options) {
      const { diagnose } = await import("./process/doctor/doctor.ts");
      return diagnose(io.environment, options);
    },
    async restore(backup) {
      const { restoreDatabase } = await import("./process/restore.ts");
      return restoreDatabase(readConfig(io.environment), backup);
    },
  };
  const writeRecord: ServiceLogger["info"] = (sentence, values) =>
    context.writeErr(
      `${sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))}\n`,
    );
  // A command reports its failures itself.
  const log: ServiceLogger = { failure: () => undefined, info: writeRecord, warning: writeRecord };
  return context;
}

/** Adds the commands that need the service, whose code is loaded late: help must appear at once. */
function addServiceCommands(program: Command, context: CommandContext): void {
  program
    .command("serve")
    .summary("Runs the service.")
    .description("Runs the service until SIGTERM or SIGINT, then completes requests in progress.")
    .option("--json", "print where it serves as JSON, on standard output")
    .action(async () => {
      const config = readConfig(context.environment);
      const { serve } = await import("./process/serve.ts");
      return serve(config, context);
    });
  program
    .command("demo")
    .summary("Runs the service with generated data.")
    .description(
      "Runs the service with generated data, and prints an API key, a token of its administrator and " +
        "example requests. The database is file:./data/demo.db, unless DATABASE_URL is set.",
    )
    .option("--json", "print where it serves and the key as JSON")
    .action(async () => {
      const { serveDemo } = await import("./process/serve-demo.ts");
      return serveDemo(context);
    });
  program
    .command("health")
    .summary("Checks whether the service is ready.")
    .description(
      "Asks the service at HOST and PORT whether it is ready, as GET /readyz does. The exit status " +
        "is 1 if it is not, or does not answer.",
    )
    .action(async () => {
      const config = readConfig(context.environment);
      const { checkHealth } = await import("./process/check-health.ts");
      return checkHealth(config, context);
    });
  program
    .command("openapi")
    .description("Prints the OpenAPI document of the service.")
    .action(async () => {
      const { createDocument } = await import("./http/openapi/document.ts");
      return context.writeOut(formatJson(createDocument()));
    });
}

/** Makes a command and its subcommands write to `io`, and throw instead of ending the process. */
function configureCommand(command: Command, context: CommandContext): void {
  const { writeOut, writeErr } = context;
  const isVerb = command.commands.length === 0;
  if (isVerb && !command.options.some(({ long }) => long === "--json")) {
    command.option("--json", "print messages and errors as JSON");
  }
  command.exitOverride().configureOutput({
    writeOut: (text) => void writeOut(text),
    writeErr: (text) => writeErr(text, "painted"),
    getOutHelpWidth: () => context.columns ?? 80,
    getErrHelpWidth: () => context.columns ?? 80,
    getOutHasColors: () => context.hasOutColors,
    getErrHasColors: () => context.hasErrColors,
    // With `--json`, `reportFailure()` prints the error.
    outputError: (text) => {
      if (!context.isJson) writeErr(describeUsageError(text), "red");
    },
  });
  if (!context.isJson) {
    const [program] = command.createHelp().commandUsage(command).split(" [");
    const usage = isVerb ? `Usage: ${command.createHelp().commandUsage(command)}\n` : "";
    command.showHelpAfterError(`${usage}More: ${program} --help`);
  }
  for (const subcommand of command.commands) configureCommand(subcommand, context);
}

/** Writes why a command failed, and returns the exit status; rethrows an error that is a bug. */
function reportFailure(
  error: unknown,
  { writeErr }: CommandLineIo,
  { isJson }: { readonly isJson: boolean },
): number {
  if (error instanceof CommanderError && (error.exitCode === 0 || !isJson)) {
    // Commander has written the message.
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  const failure = classifyFailure(error);
  if (failure === undefined) throw error;
  const { status, ...texts } = failure;
  if (isJson) writeErr(`${JSON.stringify(texts)}\n`);
  else writeErr(`${texts.message}\n`, "red");
  return status;
}

function describeUsageError(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/^option '(.*?)' argument '(.*)' is invalid\./s, "$1 cannot be '$2'.")
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*?)'\./s,
      "<$2> cannot be '$1'.",
    )
    .replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** Returns the exit status, code and message for an error; `undefined` if the error is a bug. */
function classifyFailure(error: unknown) {
  const advice = readAdvice(error);
  const message = describeError(error) + (advice === undefined ? "" : `; ${advice}`);
  if (error instanceof CommanderError) {
    const isHelp = error.code === "commander.help";
    // Only commands that have subcommands lack `--json`.
    const isGroup = isHelp || message === "error: unknown option '--json'";
    const usage = isGroup ? "A subcommand is missing" : describeUsageError(message);
    return { status: EXIT_USAGE, code: "Invalid Usage", message: usage };
  }
  if (error instanceof ConfigError) return { status: EXIT_USAGE, code: "Invalid Setting", message };
  if (error instanceof DomainError) {
    const { code } = error;
    return { status: code === "Invalid Request" ? EXIT_USAGE : EXIT_FAILED, code, message };
  }
  if (error instanceof CommandError) {
    return { status: error.exitStatus, code: error.code, message };
  }
  const code = readSystemErrorCode(error);
  return code === "" ? undefined : { status: EXIT_FAILED, code, message };
}

/** Runs the command of this process. @param programName The text that the user typed to run it. */
export async function main(programName?: string): Promise<void> {
  // Only the user may read the files that any thread of this process creates.
  process.umask(0o077);
  const argv = process.argv.slice(2);
  const io = createProcessIo(programName);
  const context = createContext(io, argv);
  // The reader of a pipe may stop early, as `head` does.
  process.stdout.on("error", (error) => {
    const code = readSystemErrorCode(error);
    if (code === "EPIPE") process.exit(0);
    const message = `Cannot write to standard output: ${error.message}`;
    const failure = new CommandError(message, { code, advice: readAdvice(error) });
    process.exit(reportFailure(failure, io, context));
  });
  // The service goes on when nobody reads its log any more.
  process.stderr.on("error", () => undefined);
  process.exitCode = await run(argv, io, context);
  // A shell ends a script only if the signal ended the command.
  if (process.exitCode === EXIT_INTERRUPTED) process.kill(process.pid, "SIGINT");
}

if (import.meta.main) await main();
