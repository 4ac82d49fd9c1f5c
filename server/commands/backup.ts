/** The command `backup`: has a snapshot of the database written into a new file. */
import { resolve } from "node:path";
import { Command } from "commander";
import { requestAdmin } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { formatJson, type OutputOptions } from "./terminal/output.ts";

export function createBackupCommand(context: CommandContext): Command {
  return new Command("backup")
    .summary("Writes a snapshot of the database into a file.")
    .description("Writes a snapshot of the database into a new file. The service can keep running.")
    .argument("<file>", "the new file; an existing one is not overwritten")
    .option("--json", "print the path and size of the file as JSON")
    .action(async (file: string, { json }: OutputOptions) => {
      const backup = await requestAdmin(context, (client) =>
        client.backup.post({ file: resolve(file) }),
      );
      if (json === true) await context.writeOut(formatJson(backup));
      else context.writeErr(`${backup.file} has ${backup.bytes} bytes\n`);
    });
}
