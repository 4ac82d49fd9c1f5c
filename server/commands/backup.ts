/** `backup`: a copy of the database file, taken while it is in use. */
import { Command } from "commander";
import { resolve } from "node:path";
import { requestAdmin, type CommandContext } from "./admin-client.ts";
import { formatJson } from "./output.ts";

/** Makes the verb. */
export function createBackupCommand(context: CommandContext): Command {
  return new Command("backup")
    .summary("Copies the database while it is in use.")
    .description("Copies the database, as it is at one instant, into a new file.")
    .argument("<file>", "the new file")
    .option("--json", "print the outcome as JSON")
    .action(async (file: string, { json }: { json?: true }) => {
      const backup = await requestAdmin(context, "backup", (client) =>
        client.backup.post({ file: resolve(file) }),
      );
      if (json === true) await context.writeOut(formatJson(backup));
      else context.writeErr(`${backup.file} has ${backup.bytes} bytes\n`);
    });
}
