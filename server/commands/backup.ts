/** `backup`: a copy of the database file, taken while it is in use. */
import { Command } from "commander";
import { resolve } from "node:path";
import { ask, type Surroundings } from "./client.ts";
import { formatJson } from "./table.ts";

/** Makes the verb. */
export function backupCommand(surroundings: Surroundings): Command {
  return new Command("backup")
    .summary("Copies the database while it is in use.")
    .description("Copies the database, as it is at one instant, into a new file.")
    .argument("<file>", "the new file")
    .option("--json", "print the outcome as JSON")
    .action(async (file: string, { json }: { json?: true }) => {
      const made = await ask(surroundings, "backup", (client) =>
        client.backup.post({ file: resolve(file) }),
      );
      if (json === true) surroundings.out(formatJson(made));
      else surroundings.err(`${made.file} has ${made.bytes} bytes\n`);
    });
}
