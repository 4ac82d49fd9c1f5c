/** The words that can be completed, read from the commands themselves. */
import type { Command, Option } from "commander";

export interface Word {
  readonly name: string;
  readonly description: string;
}

/** The completions of the value of an option or argument: some words, files, or nothing. */
export type Value = readonly string[] | "files" | "nothing";

/** An option, and its value if it takes one. */
interface OptionWord extends Word {
  readonly value?: Value;
}

/** The words that can follow a command. */
export interface CommandWords {
  /** The full name of the command, such as `keys create`; empty for the program. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly OptionWord[];
  readonly argument: Value;
}

/** Lists the words of a command and of all its subcommands. */
export function listCommandWords(command: Command, path: readonly string[] = []): CommandWords[] {
  const [argument] = command.registeredArguments;
  const words: CommandWords = {
    path: path.join(" "),
    subcommands: command.commands.map((subcommand) => ({
      name: subcommand.name(),
      description: subcommand.summary() || subcommand.description(),
    })),
    options: [
      ...command.options.map(toOptionWord),
      { name: "--help", description: "display help for command" },
    ],
    argument:
      argument === undefined
        ? "nothing"
        : describeValue(argument.name(), argument.argChoices ?? listTopics(command)),
  };
  const below = command.commands.flatMap((subcommand) =>
    listCommandWords(subcommand, [...path, subcommand.name()]),
  );
  return [words, ...below];
}

/** The first words of the topics of the command `help`; no other command has topics. */
function listTopics({ parent, registeredArguments }: Command): string[] | undefined {
  if (registeredArguments[0]?.name() !== "topic") return undefined;
  return [...(parent?.commands ?? []).map((command) => command.name()), "settings"];
}

function toOptionWord(option: Option): OptionWord {
  const { long, flags, description, argChoices } = option;
  const word = { name: long ?? flags, description };
  if (!option.required && !option.optional) return word;
  const [, valueName = ""] = /[<[](\w+)/.exec(flags) ?? [];
  return { ...word, value: describeValue(valueName, argChoices) };
}

function describeValue(name: string, choices: readonly string[] | undefined): Value {
  return choices ?? (name === "file" ? "files" : "nothing");
}
