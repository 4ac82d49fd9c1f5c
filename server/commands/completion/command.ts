/** The command `completion`: prints a script that completes the commands in a shell. */
import { Argument, Command } from "commander";
import type { CommandLineIo } from "../terminal/process-io.ts";
import { createScript, SHELLS, type Shell } from "./scripts.ts";
import { listCommandWords } from "./words.ts";

export function createCompletionCommand(program: Command, io: CommandLineIo): Command {
  return new Command("completion")
    .summary("Prints a script that completes commands in a shell.")
    .description(
      "Prints a script for a shell, which completes the commands, options and choices of the " +
        "installed program, creator-metrics, when Tab is pressed.",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell) => io.writeOut(createScript(shell, listCommandWords(program))));
}
