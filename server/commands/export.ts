/** The command `export`: prints observations as lines that `import` reads. */
import { Command, Option } from "commander";
import { ENTITY_KINDS } from "../../core/entity-kinds.ts";
import { sendAdmin, withConnection } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";

export function createExportCommand(context: CommandContext): Command {
  return new Command("export")
    .summary("Prints observations, one per line.")
    .description(
      "Prints observations as JSON objects, one per line, in the format that import reads. " +
        "Imported into an empty database, they give the same responses.",
    )
    .addOption(new Option("--kind <kind>", "print only this kind").choices(ENTITY_KINDS))
    .option("--since <instant>", "print only observations from this time on, such as 2026-11-20")
    .action(async (options: { kind?: string; since?: string }) => {
      const query = new URLSearchParams(Object.entries(options));
      await withConnection(context, async (connection) => {
        const { body } = await sendAdmin(connection, `observations?${query}`);
        // Waits for the reader of a pipe, so that the memory stays small.
        for await (const piece of body ?? []) await context.writeOut(piece);
      });
    });
}
