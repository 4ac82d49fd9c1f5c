/** The base of all commands: their context, their errors and the parsing of their arguments. */
import { InvalidArgumentError } from "commander";
import { INTEGER_MAX } from "../../core/limits.ts";
import { parseInteger } from "../../core/parameters.ts";
import { describeError, readAdvice, readSystemErrorCode } from "../system-errors.ts";
import type { CommandLineIo } from "./terminal/process-io.ts";

export interface AdminConnection {
  readonly fetcher: (url: string, init?: RequestInit) => Promise<Response>;
  /** Whether this process owns the database, so that no other process has to go on serving it. */
  readonly isInProcess: boolean;
  close(): Promise<void>;
}

export interface CommandContext extends CommandLineIo {
  /** Whether `--json` is set: data, messages and errors are JSON. */
  readonly isJson: boolean;
  /** Connects to the database. Other processes see the name of the command. */
  connect(): Promise<AdminConnection>;
}

/** Options of a command that take a text. */
export type TextOptions<Name extends string> = Readonly<Partial<Record<Name, string>>>;

/** The failure of a command, in words for its user. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** The name of the error of the API that caused it, or `Command Failed`. */
  readonly code: string;
  /** The next step for the user. */
  readonly advice: string | undefined;
  readonly exitStatus: number;

  constructor(
    message: string,
    {
      code = "Command Failed",
      advice,
      exitStatus = 1,
    }: { [Field in "code" | "advice" | "exitStatus"]?: CommandError[Field] | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.advice = advice;
    this.exitStatus = exitStatus;
  }
}

/** The exit status that a shell reports of a process that the signal ended. */
export const EXIT_INTERRUPTED = 130;

/** Why a file often cannot be read, by the code of the error. */
const READ_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "you may not read it",
  EISDIR: "it is a folder",
};

export function createReadError(file: string, error: unknown): CommandError {
  const code = readSystemErrorCode(error);
  const problem = READ_PROBLEMS[code];
  const message = `Cannot read ${file}: ${problem ?? describeError(error)}`;
  const advice = problem === undefined ? readAdvice(error) : undefined;
  return new CommandError(message, { code: code || undefined, advice });
}

/** Parses an argument that is an amount of credits or an id. */
export function parsePositiveInteger(text: string): number {
  const integer = parseInteger(text, { min: 1 });
  if (integer !== undefined) return integer;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${INTEGER_MAX}.`);
}
