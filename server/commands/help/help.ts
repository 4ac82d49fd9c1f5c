/** Formats the help of commands with colours, examples and settings; adds the command `help`. */
import { stripVTControlCharacters } from "node:util";
import { Help, type Command } from "commander";
import type { Setting } from "../../settings.ts";
import type { CommandLineIo } from "../terminal/process-io.ts";
import { paint } from "../terminal/style.ts";
import { EXAMPLES } from "./examples.ts";

interface HelpOptions {
  readonly io: CommandLineIo;
  readonly settings: readonly Setting[];
}

const DEFAULT_COLUMNS = 80;

/** The least width at which descriptions are wrapped; below, the terminal breaks their lines. */
const MIN_TEXT_COLUMNS = 15;

const EXAMPLE_INDENT = "  ";

const DATABASE_SETTINGS = ["DATABASE_URL", "DATABASE_AUTH_TOKEN"];

const USED_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  serve: ["PORT", "HOST", "DURABILITY", "LOG_LEVEL", "ADMIN_TOKEN"],
  demo: ["PORT", "HOST"],
  health: ["PORT", "HOST", "PUBLIC_URL"],
  import: ["DURABILITY"],
  "credits apply-refunds": ["SPOOL_FOLDER"],
  "notices list": ["WEBHOOK_URL"],
  "notices resend": ["WEBHOOK_URL"],
  "creators add": ["CREATORS_MAX", "MICROBLOG_SOURCE"],
  "retention apply": ["RETENTION"],
  collect: ["YOUTUBE_API_KEY", "MICROBLOG_SOURCE", "X_BEARER_TOKEN"],
};

/** The full names of the commands that use no database; the empty name is the program itself. */
const COMMANDS_WITHOUT_DATABASE = new Set(["", "health", "openapi", "completion", "help"]);

/** Adds the command `help`, and configures the help of all commands; call it after adding them. */
export function addHelp(program: Command, options: HelpOptions): void {
  program
    .helpCommand(false)
    .command("help")
    .summary("Shows the help of a command, or all settings.")
    .description("Shows the help of a command, or all settings with what each allows.")
    .argument("[topic...]", 'a command, such as keys create, or "settings"')
    .action(async (topic: string[]) => {
      if (topic.join(" ") !== "settings") return findCommand(program, topic).outputHelp();
      const text = formatSettings(options);
      await options.io.writeOut(options.io.hasOutColors ? text : stripVTControlCharacters(text));
    });
  configureHelp(program, options, []);
}

function findCommand(program: Command, topic: readonly string[]): Command {
  return topic.reduce((command, word) => {
    const found = command.commands.find((subcommand) => subcommand.name() === word);
    return found ?? program.error(`error: unknown help topic '${topic.join(" ")}'`);
  }, program);
}

/** Configures the help of a command. Commander removes the colours where they are not shown. */
function configureHelp(command: Command, options: HelpOptions, path: readonly string[]): void {
  if (command.commands.length > 0 && path.length > 0)
    command.helpCommand("help [command]", "Shows the help of a command.");
  const paintWord = (text: string) => paint("cyan", text);
  const paintTitle = (text: string) => paint("bold", text);
  command.configureHelp({
    minWidthToWrap: MIN_TEXT_COLUMNS,
    subcommandTerm: (subcommand) => new Help().subcommandTerm(subcommand).replace(" [options]", ""),
    styleTitle: paintTitle,
    styleCommandText: paintTitle,
    styleSubcommandText: paintWord,
    styleOptionText: paintWord,
    styleArgumentText: paintWord,
  });
  command.addHelpText("after", () => formatDetails(options, command, path));
  for (const subcommand of command.commands) {
    configureHelp(subcommand, options, [...path, subcommand.name()]);
  }
}

function readExamples({ commands }: Command, path: readonly string[]): [string, string][] {
  const examples = EXAMPLES[path.join(" ")];
  if (examples !== undefined) return Object.entries(examples);
  return commands.flatMap((command) =>
    readExamples(command, [...path, command.name()]).slice(0, 1),
  );
}

function formatDetails(
  { io, settings }: HelpOptions,
  command: Command,
  path: readonly string[],
): string {
  const lines = ["", paint("bold", "Examples:")];
  for (const [effect, commandLines] of readExamples(command, path)) {
    lines.push(EXAMPLE_INDENT + paint("dim", `# ${effect}`));
    for (const line of commandLines.replaceAll("$0", () => io.programName).split("\n"))
      lines.push(EXAMPLE_INDENT + paint("cyan", line));
  }
  const commandName = path.join(" ");
  const usesDatabase = commandName in EXAMPLES && !COMMANDS_WITHOUT_DATABASE.has(commandName);
  const names = [...(usesDatabase ? DATABASE_SETTINGS : []), ...(USED_SETTINGS[commandName] ?? [])];
  const used = settings.filter(({ name }) => names.includes(name));
  if (used.length < names.length) throw new Error(`A setting of ${names.join()} does not exist`);
  const allSettings = `${io.programName} help settings`;
  if (used.length === 0) return [...lines, "", `All settings: ${allSettings}`, ""].join("\n");
  const title = `${paint("bold", "Settings")} (all: ${allSettings})${paint("bold", ":")}`;
  const items = used.map(({ name, description }) => ({ name, text: description }));
  return [...lines, "", title, ...formatItems(io, items), ""].join("\n");
}

function formatSettings({ io, settings }: HelpOptions): string {
  const items = settings.map(({ name, description, allowed, default: initial }) => ({
    name,
    text: `${description} (${allowed}${initial ? `; default ${initial}` : ""})`,
  }));
  const title = paint("bold", "Settings are environment variables:");
  const note = "A secret can be in a file: ADMIN_TOKEN_FILE=PATH in place of ADMIN_TOKEN";
  return `${[title, ...formatItems(io, items), "", note].join("\n")}\n`;
}

function formatItems(
  { columns: helpWidth = DEFAULT_COLUMNS }: CommandLineIo,
  items: readonly { readonly name: string; readonly text: string }[],
): string[] {
  const help = Object.assign(new Help(), { helpWidth, minWidthToWrap: MIN_TEXT_COLUMNS });
  const nameWidth = Math.max(...items.map(({ name }) => name.length));
  return items.map(({ name, text }) => help.formatItem(paint("cyan", name), nameWidth, text, help));
}
