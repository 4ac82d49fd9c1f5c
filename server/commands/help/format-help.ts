/** The help of commands: its colours, its examples and its settings. */
import { Help, type Command } from "commander";
import type { CommandLineIo } from "../terminal/process-io.ts";
import { paint } from "../terminal/style.ts";
import {
  COMMANDS_WITHOUT_DATABASE,
  DATABASE_SETTINGS,
  EXAMPLES,
  USED_SETTINGS,
  type Examples,
} from "./examples.ts";

interface SettingText {
  readonly name: string;
  readonly description: string;
  readonly allowed: string;
  readonly default?: string;
}

/** Columns of text that is not written to a terminal. */
const DEFAULT_COLUMNS = 80;

/** Descriptions are wrapped if they have this many columns; otherwise the terminal cuts words. */
const MIN_TEXT_COLUMNS = 15;

/** The name of the program in an example, but not in the name of a file. */
const PROGRAM_PATTERN = /(?<![\w./-])creator-metrics(?= )/g;

/** The indent of the lines of an example. */
const EXAMPLE_INDENT = "  ";

/** The options of the help of every command. */
export interface HelpOptions {
  readonly io: CommandLineIo;
  readonly settings: readonly SettingText[];
}

/**
 * Gives a command and its subcommands their help. Commander removes the colours where they are not
 * shown.
 *
 * @param path The full name of the command.
 */
export function configureHelp(
  command: Command,
  options: HelpOptions,
  path: readonly string[] = [],
): void {
  if (command.commands.length > 0 && path.length > 0)
    command.helpCommand("help [command]", "Shows the help of a command.");
  command.configureHelp({
    minWidthToWrap: MIN_TEXT_COLUMNS,
    subcommandTerm: (subcommand) => new Help().subcommandTerm(subcommand).replace(" [options]", ""),
    styleTitle: (text) => paint("bold", text),
    styleCommandText: (text) => paint("bold", text),
    styleSubcommandText: (text) => paint("cyan", text),
    styleOptionText: (text) => paint("cyan", text),
    styleArgumentText: (text) => paint("cyan", text),
  });
  command.addHelpText("after", () => formatDetails(options, command, path));
  for (const subcommand of command.commands) {
    configureHelp(subcommand, options, [...path, subcommand.name()]);
  }
}

/** Returns the examples of a command; of a group, the first one of each of its commands. */
function readExamples({ commands }: Command, path: readonly string[]): Examples {
  const firstExamples = () =>
    commands.flatMap((command) =>
      Object.entries(readExamples(command, [...path, command.name()])).slice(0, 1),
    );
  return EXAMPLES[path.join(" ")] ?? Object.fromEntries(firstExamples());
}

/** The names of the settings that a command uses. */
export function listSettings(name: string): string[] {
  if (!(name in EXAMPLES) || COMMANDS_WITHOUT_DATABASE.includes(name)) return [];
  return [...DATABASE_SETTINGS, ...(USED_SETTINGS[name] ?? [])];
}

/** Formats the examples and the settings of a command. */
function formatDetails(
  { io, settings }: HelpOptions,
  command: Command,
  path: readonly string[],
): string {
  const names = listSettings(path.join(" "));
  const used = settings.filter(({ name }) => names.includes(name));
  const settingLines =
    used.length === 0
      ? [`All settings: ${io.programName} help settings`]
      : [
          `${paint("bold", "Settings")} (all: ${io.programName} help settings)${paint("bold", ":")}`,
          ...used.map((setting) => formatItem(io, used, setting.name, setting.description)),
        ];
  const examples = formatExamples(readExamples(command, path), io.programName);
  return ["", ...examples, "", ...settingLines, ""].join("\n");
}

function formatExamples(examples: Examples, programName: string): string[] {
  const lines = [paint("bold", "Examples:")];
  for (const [effect, commandLines] of Object.entries(examples)) {
    lines.push(EXAMPLE_INDENT + paint("dim", `# ${effect}`));
    for (const line of commandLines.replaceAll(PROGRAM_PATTERN, programName).split("\n"))
      lines.push(EXAMPLE_INDENT + paint("cyan", line));
  }
  return lines;
}

export function formatSettings({ io, settings }: HelpOptions): string {
  const lines = settings.map((setting) => {
    const { name, description, allowed, default: initial } = setting;
    const defaultNote = initial ? `; default ${initial}` : "";
    return formatItem(io, settings, name, `${description} (${allowed}${defaultNote})`);
  });
  const title = paint("bold", "Settings are environment variables:");
  return `${[title, ...lines].join("\n")}\n`;
}

function formatItem(
  { columns = DEFAULT_COLUMNS }: CommandLineIo,
  settings: readonly SettingText[],
  name: string,
  text: string,
): string {
  const help = Object.assign(new Help(), {
    helpWidth: columns,
    minWidthToWrap: MIN_TEXT_COLUMNS,
  });
  const nameWidth = Math.max(...settings.map((setting) => setting.name.length));
  return help.formatItem(paint("cyan", name), nameWidth, text, help);
}
