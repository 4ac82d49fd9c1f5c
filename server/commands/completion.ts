/** The command `completion`: prints shell scripts that complete quickly: they start no program. */
import { Argument, type Command, type Option } from "commander";
import type { CommandLineIo } from "./terminal/process-io.ts";

const PROGRAM = "creator-metrics";

const SCRIPTS = { bash: createBashScript, zsh: createZshScript, fish: createFishScript };

export function addCompletionCommand(program: Command, io: CommandLineIo): void {
  program
    .command("completion")
    .summary("Prints a script that completes commands in a shell.")
    .description(
      "Prints a script for a shell, which completes the commands, options and choices of the " +
        "installed program, creator-metrics, when Tab is pressed.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => io.writeOut(SCRIPTS[shell](listWords(program))));
}

interface Word {
  readonly name: string;
  readonly description: string;
}

type Value = readonly string[] | "files" | "nothing";

interface CommandWords {
  /** The full name of the command, such as `keys create`; empty for the program. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly (Word & { readonly value?: Value })[];
  readonly argument: Value;
}

function listWords(command: Command, path: readonly string[] = []): CommandWords[] {
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
    argument: findValue(argument?.name(), argument?.argChoices ?? listTopics(command)),
  };
  const below = command.commands.flatMap((subcommand) =>
    listWords(subcommand, [...path, subcommand.name()]),
  );
  return [words, ...below];
}

/** Lists the first words of the topics of `help`; `undefined` for other commands. */
function listTopics({ parent, registeredArguments }: Command): string[] | undefined {
  if (registeredArguments[0]?.name() !== "topic") return undefined;
  return [...(parent?.commands ?? []).map((command) => command.name()), "settings"];
}

function toOptionWord({ long, flags, description, required, optional, argChoices }: Option) {
  const word = { name: long ?? flags, description };
  if (!required && !optional) return word;
  return { ...word, value: findValue(/[<[](\w+)/.exec(flags)?.[1], argChoices) };
}

const findValue = (name: string | undefined, choices: readonly string[] | undefined): Value =>
  choices ?? (name === "file" ? "files" : "nothing");

/** Quotes a text for all three shells. No text has a backslash, which fish would interpret. */
const quote = (text: string) => `'${text.replaceAll("'", "’")}'`;

const joinNames = (words: readonly Word[]) => words.map(({ name }) => name).join(" ");

/** Lists shell patterns `PATH/WORD`, one for each subcommand WORD of the command PATH. */
const listSteps = (commands: readonly CommandWords[]) =>
  commands.flatMap(({ path, subcommands }) =>
    subcommands.map(({ name }) => quote(`${path}/${name}`)),
  );

/** Formats lines of bash and zsh that find the command, `$at`, and complete an option's value. */
function formatSearch(
  commands: readonly CommandWords[],
  { words, previous }: { readonly words: string; readonly previous: string },
  complete: (value: Value) => string,
): string {
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter((option) => option.value !== undefined)
      .map(
        ({ name, value = [] }) => `    ${quote(`${path} ${name}`)}) ${complete(value)}; return ;;`,
      ),
  );
  return `  for word in ${words}; do
    case "$at/$word" in
      ${listSteps(commands).join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at ${previous}" in
${values.join("\n")}
  esac`;
}

const createCompleter =
  (texts: { files: string; nothing: string }, formatChoices: (choices: string) => string) =>
  (value: Value) =>
    typeof value === "string" ? texts[value] : formatChoices(value.join(" "));

function createBashScript(commands: readonly CommandWords[]): string {
  const complete = createCompleter(
    { files: "compopt -o default 2>/dev/null", nothing: ":" },
    (choices) => `COMPREPLY=($(compgen -W ${quote(choices)} -- "$cur"))`,
  );
  const line = { words: '"${COMP_WORDS[@]:1:COMP_CWORD-1}"', previous: "$prev" };
  const words = commands.map(({ path, subcommands, options, argument }) => {
    const choices = typeof argument === "string" ? [] : argument;
    const text = [joinNames(subcommands), ...choices, joinNames(options)].join(" ").trim();
    const assignment = `words=${quote(text)}`;
    const files = `[[ $cur == -* ]] && ${assignment} || compopt -o default 2>/dev/null`;
    return `    ${quote(path)}) ${argument === "files" ? files : assignment} ;;`;
  });
  return `# bash completion for ${PROGRAM}
_creator_metrics() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word words=
  COMPREPLY=()
${formatSearch(commands, line, complete)}
  case "$at" in
${words.join("\n")}
  esac
  # Options are many: they are offered once a dash is typed, or if there is nothing else.
  local plain=
  for word in $words; do [[ $word == -* ]] || plain="$plain $word"; done
  [[ $cur != -* && -n $plain ]] && words=$plain
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _creator_metrics ${PROGRAM}
`;
}

function createZshScript(commands: readonly CommandWords[]): string {
  const complete = createCompleter(
    { files: "_files", nothing: ":" },
    (choices) => `compadd -- ${choices}`,
  );
  const line = { words: '"${(@)words[2,CURRENT-1]}"', previous: "${words[CURRENT-1]}" };
  const list = (words: readonly Word[]) =>
    words.map(({ name, description }) => quote(`${name}:${description}`)).join(" ");
  const words = commands.map(
    ({ path, subcommands, options, argument }) => `    ${quote(path)})
      commands=(${list(subcommands)})
      options=(${list(options)})
      [[ $PREFIX == -* ]] || { ${complete(argument)} }
      ;;`,
  );
  return `#compdef ${PROGRAM}
# zsh completion for ${PROGRAM}
_creator_metrics() {
  local at= word
  local -a commands options
${formatSearch(commands, line, complete)}
  case "$at" in
${words.join("\n")}
  esac
  (( $#commands )) && _describe command commands
  _describe -o option options
}
# Loaded by compinit from a file in fpath, or by source.
if [[ $funcstack[1] == _${PROGRAM} ]]; then
  _creator_metrics "$@"
else
  compdef _creator_metrics ${PROGRAM}
fi
`;
}

function createFishScript(commands: readonly CommandWords[]): string {
  const complete = createCompleter(
    { files: "-F", nothing: "" },
    (choices) => `-a ${quote(choices)}`,
  );
  const lines = commands.flatMap(({ path, subcommands, options, argument }) => {
    const prefix = `complete -c ${PROGRAM} -n ${quote(`__creator_metrics_at "${path}"`)}`;
    return [
      ...subcommands.map(
        ({ name, description }) => `${prefix} -a ${name} -d ${quote(description)}`,
      ),
      ...(argument === "nothing" ? [] : [`${prefix} ${complete(argument)}`]),
      ...options.map(({ name, description, value }) => {
        const required = value === undefined ? "" : value === "files" ? "-r -F" : "-x";
        const choices = Array.isArray(value) ? complete(value) : "";
        const text = `${prefix} -l ${name.slice(2)} ${required} ${choices}`.trimEnd();
        return `${text} -d ${quote(description)}`;
      }),
    ];
  });
  return `# fish completion for ${PROGRAM}
function __creator_metrics_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at/$word"
      case ${listSteps(commands).join(" ")}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
complete -c ${PROGRAM} -f
${lines.join("\n")}
`;
}
