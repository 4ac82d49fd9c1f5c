/** The command `backup`: writes a snapshot of the database into a new file. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { createAdminClient, withConnection, type AdminClient } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { printResult, type OutputOptions } from "./terminal/output.ts";
import { startProgress } from "./terminal/progress.ts";
import { formatBytes } from "./terminal/style.ts";

export function createBackupCommand(context: CommandContext): Command {
  return new Command("backup")
    .summary("Writes a snapshot of the database into a file.")
    .description("Writes a snapshot of the database into a new file. The service can keep running.")
    .argument("<file>", "the new file; an existing one is not overwritten")
    .option("--json", "print the path and size of the file as JSON")
    .action(async (file: string, options: OutputOptions) => {
      const target = resolve(file);
      const backup = await withConnection(context, async (connection) => {
        const client = createAdminClient(connection);
        const stopProgress = await showProgress(context, client, target);
        return client("POST /admin/backup", { body: { file: target } }).finally(stopProgress);
      });
      const sentence = `${backup.file} has ${formatBytes(backup.bytes)}`;
      await printResult(context, options, backup, sentence);
    });
}

/** How often the size of the copy is read. */
const POLL_INTERVAL_MS = 200;

/**
 * Shows how much of the database is copied, on a terminal: the size of the incomplete copy.
 *
 * @returns Stops it.
 */
async function showProgress(context: CommandContext, client: AdminClient, target: string) {
  if (context.errTerminal === undefined) return () => undefined;
  const { database } = await client("GET /admin/status");
  const total = database.bytes ?? undefined;
  const progress = startProgress(context, { total, formatAmount: formatBytes });
  const update = () => {
    const stats = statSync(`${target}.part`, { throwIfNoEntry: false });
    if (stats !== undefined) progress.set(stats.size);
  };
  const timer = setInterval(update, POLL_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}
