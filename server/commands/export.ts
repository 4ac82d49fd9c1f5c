/** `export`: all observations as lines that `import` takes. */
import { Command, Option } from "commander";
import { ENTITY_KINDS } from "../../core/entity-kinds.ts";
import { toCommandError, withAdminClient, type CommandContext } from "./admin-client.ts";

/** Makes the verb. */
export function createExportCommand(context: CommandContext): Command {
  return new Command("export")
    .summary("Writes out observations.")
    .description(
      "Writes observations to standard output, one a line. Imported into an empty database, " +
        "they give the same answers.",
    )
    .addOption(new Option("--kind <kind>", "only this kind").choices(ENTITY_KINDS))
    .option("--since <instant>", "only what was observed since, such as 2026-11-20")
    .action(async (options: { kind?: string; since?: string }) => {
      const query = new URLSearchParams(Object.entries(options));
      await withAdminClient(context, "export", async (_, { fetcher }) => {
        const response = await fetcher(`http://localhost/admin/observations?${query}`);
        if (!response.ok || response.body === null) {
          throw toCommandError(await response.text());
        }
        for await (const piece of response.body) await context.writeOut(piece);
      });
    });
}
