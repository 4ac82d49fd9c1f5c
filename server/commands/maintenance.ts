/** The commands that maintain the database: `retention` and `backup`. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { RetentionResponse } from "../http/admin/observations.ts";
import { encodeJson, sendAdmin, withConnection, type AdminClient } from "./admin-client.ts";
import { CommandError, type CommandContext } from "./command.ts";
import { formatTable, printResult, printRows } from "./terminal/output.ts";
import { startProgress } from "./terminal/progress.ts";
import { formatBytes } from "./terminal/style.ts";

export function addMaintenanceCommands(program: Command, context: CommandContext): void {
  program
    .command("retention")
    .description("Deletes observations that the setting RETENTION does not keep.")
    .command("apply")
    .summary("Deletes these observations, and verifies the result.")
    .description(
      "Deletes the observations that the setting RETENTION does not keep, in small steps. Each " +
        "step verifies that before = removed + after, and that the newest state of every " +
        "channel, short, user and tweet is unchanged. The exit status is 1 if the verification " +
        "fails. If a service owns the database file, its RETENTION is used.",
    )
    .option("--dry-run", "only count the observations, and delete nothing")
    .option("--json", "print the result as JSON")
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const report = await requestRetention(context, dryRun);
      const { kinds, faults } = report;
      await printRows(context, kinds, { value: report });
      if (!context.isJson && faults.length > 0) {
        await context.writeOut(`\n${formatTable(["kind", "problem"], faults, context)}`);
      }
      if (faults.length > 0) throw new CommandError("The verification of retention failed");
      context.writeErr(`${describeReport(report)}\n`);
    });
  program
    .command("backup")
    .summary("Writes a snapshot of the database into a file.")
    .description("Writes a snapshot of the database into a new file. The service can keep running.")
    .argument("<file>", "the new file; an existing one is not overwritten")
    .option("--json", "print the path and size of the file as JSON")
    .action(async (path: string) => {
      const file = resolve(path);
      const backup = await withConnection(context, async (client) => {
        const stopProgress = await showCopyProgress(context, client, file);
        return client("POST /admin/backup", { body: { file } }).finally(stopProgress);
      });
      await printResult(context, backup, `${backup.file} has ${formatBytes(backup.bytes)}`);
    });
}

function describeReport({ is_dry_run, kinds }: RetentionResponse): string {
  if (kinds.every(({ rule }) => rule === "all"))
    return "RETENTION is not set: all observations are kept";
  if (is_dry_run) return "Dry run: nothing was deleted";
  return "Verified in each step: before = removed + after, and no newest state changed";
}

async function requestRetention(context: CommandContext, dry_run: boolean) {
  const init = { method: "POST", ...encodeJson({ dry_run }) };
  const text = await withConnection(context, async (_, connection) =>
    (await sendAdmin(connection, "retention", init)).text(),
  );
  // The lines before the last one report the progress.
  const lastLine = text.trim().split("\n").at(-1) ?? "";
  const last: RetentionResponse | { walked: number } = JSON.parse(lastLine);
  if ("walked" in last) throw new CommandError("The service ended before retention was applied");
  return last;
}

/** How often the size of the copy is read. */
const POLL_INTERVAL_MS = 200;

/** Shows on a terminal how much of the database is copied: the size of the copy. @returns Stops it. */
async function showCopyProgress(context: CommandContext, client: AdminClient, file: string) {
  if (context.errTerminal === undefined) return () => undefined;
  const { database } = await client("GET /admin/status");
  const total = database.bytes ?? undefined;
  const progress = startProgress(context, { total, formatAmount: formatBytes });
  const timer = setInterval(() => {
    const stats = statSync(`${file}.part`, { throwIfNoEntry: false });
    if (stats !== undefined) progress.set(stats.size);
  }, POLL_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}
