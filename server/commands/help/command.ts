/** The command `help`: shows the help of a command, or all settings. */
import { stripVTControlCharacters } from "node:util";
import { Command } from "commander";
import { formatSettings, type HelpOptions } from "./format-help.ts";

const SETTINGS_TOPIC = "settings";

export function createHelpCommand(program: Command, options: HelpOptions): Command {
  return new Command("help")
    .summary("Shows the help of a command, or all settings.")
    .description("Shows the help of a command, or all settings with what each allows.")
    .argument("[topic...]", 'a command, such as keys create, or "settings"')
    .action(async (topic: string[]) => {
      const { io } = options;
      if (topic.length === 1 && topic[0] === SETTINGS_TOPIC) {
        const text = formatSettings(options);
        return io.writeOut(io.hasOutColors ? text : stripVTControlCharacters(text));
      }
      findCommand(program, topic).outputHelp();
    });
}

/** Finds a command by its full name. */
function findCommand(program: Command, topic: readonly string[]): Command {
  return topic.reduce((command, word) => {
    const found = command.commands.find((subcommand) => subcommand.name() === word);
    return found ?? program.error(`error: unknown help topic '${topic.join(" ")}'`);
  }, program);
}
