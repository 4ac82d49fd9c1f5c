/** Scripts that complete the commands in a shell. They start no program, so that they are fast. */
import type { CommandWords, Value, Word } from "./words.ts";

/** The shells that have a script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

/** The installed name of the program. */
const PROGRAM = "creator-metrics";

export function createScript(shell: Shell, commands: readonly CommandWords[]): string {
  return { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell](commands);
}

/** Quotes a text for all three shells: none of its descriptions has a backslash. */
const quote = (text: string) => `'${text.replaceAll("'", "’")}'`;

const names = (words: readonly Word[]) => words.map(({ name }) => name).join(" ");

/** Shell patterns `PATH/WORD`, one for each command: behind PATH, WORD names a subcommand. */
function listSteps(commands: readonly CommandWords[]): string[] {
  return commands.flatMap(({ path, subcommands }) =>
    subcommands.map(({ name }) => quote(`${path}/${name}`)),
  );
}

/** The options that take a value, with `PATH OPTION` as a pattern. */
function listValues(commands: readonly CommandWords[]) {
  return commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, value }) =>
      value === undefined ? [] : [{ pattern: quote(`${path} ${name}`), value }],
    ),
  );
}

function createBashScript(commands: readonly CommandWords[]): string {
  const complete = (value: Value) => {
    if (value === "files") return "compopt -o default 2>/dev/null";
    return value === "nothing"
      ? ":"
      : `COMPREPLY=($(compgen -W ${quote(value.join(" "))} -- "$cur"))`;
  };
  const values = listValues(commands).map(
    ({ pattern, value }) => `    ${pattern}) ${complete(value)}; return ;;`,
  );
  const words = commands.map(({ path, subcommands, options, argument }) => {
    const choices = typeof argument === "string" ? "" : argument.join(" ");
    const text = `${names(subcommands)} ${choices} ${names(options)}`.trim().replace(/ +/g, " ");
    const assignment = `words=${quote(text)}`;
    const files = `[[ $cur == -* ]] && ${assignment} || compopt -o default 2>/dev/null`;
    return `    ${quote(path)}) ${argument === "files" ? files : assignment} ;;`;
  });
  return `# bash completion for ${PROGRAM}
_creator_metrics() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word words=
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${listSteps(commands).join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at $prev" in
${values.join("\n")}
  esac
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
  const complete = (value: Value) => {
    if (value === "files") return "_files";
    return value === "nothing" ? ":" : `compadd -- ${value.join(" ")}`;
  };
  const list = (words: readonly Word[]) =>
    words.map(({ name, description }) => quote(`${name}:${description}`)).join(" ");
  const values = listValues(commands).map(
    ({ pattern, value }) => `    ${pattern}) ${complete(value)}; return ;;`,
  );
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
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      ${listSteps(commands).join("|")}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values.join("\n")}
  esac
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
  const complete = (value: Value) => {
    if (value === "files") return "-F";
    return value === "nothing" ? "" : `-a ${quote(value.join(" "))}`;
  };
  const lines = commands.flatMap(({ path, subcommands, options, argument }) => {
    const prefix = `complete -c ${PROGRAM} -n ${quote(`__creator_metrics_at "${path}"`)}`;
    const argumentWords = complete(argument);
    return [
      ...subcommands.map(
        ({ name, description }) => `${prefix} -a ${name} -d ${quote(description)}`,
      ),
      ...(argumentWords === "" ? [] : [`${prefix} ${argumentWords}`]),
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
