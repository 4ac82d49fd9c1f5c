/** Failures of commands: their codes, their messages and their exit statuses. */
import { CommanderError } from "commander";
import { DomainError } from "../core/errors.ts";
import { CommandError } from "./commands/command.ts";
import { ConfigError } from "./config.ts";
import type { CommandLineIo } from "./commands/terminal/process-io.ts";
import { describeError, readAdvice, readSystemErrorCode } from "./system-errors.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Writes why a command failed, and returns the exit status; rethrows an error that is a bug. */
export function reportFailure(
  error: unknown,
  { writeErr }: CommandLineIo,
  { isJson }: { readonly isJson: boolean },
): number {
  if (error instanceof CommanderError && (error.exitCode === 0 || !isJson)) {
    // Commander has written it.
    return error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
  const failure = classifyFailure(error);
  if (failure === undefined) throw error;
  const { status, ...texts } = failure;
  if (isJson) writeErr(`${JSON.stringify(texts)}\n`);
  else writeErr(`${texts.message}\n`, "red");
  return status;
}

/** Rewrites a message of commander in the style of all others. */
export function describeUsageError(message: string): string {
  return message
    .replace(/^error: /, "")
    .replace(/^option '(.*?)' argument '(.*)' is invalid\./s, "$1 cannot be '$2'.")
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*?)'\./s,
      "<$2> cannot be '$1'.",
    )
    .replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/**
 * Returns the output for an error; `undefined` if it is a bug. The code is the name of an error of
 * the API, `Invalid Usage`, `Invalid Setting`, or a code of the system.
 */
function classifyFailure(error: unknown) {
  const advice = readAdvice(error);
  const message = describeError(error) + (advice === undefined ? "" : `; ${advice}`);
  if (error instanceof CommanderError) {
    const isHelp = error.code === "commander.help";
    // Only the commands that have subcommands lack the option.
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
