/** The command `retention`: removes observations that the setting RETENTION does not keep. */
import { Command } from "commander";
import type { RetentionResponse } from "../http/admin/observations.ts";
import { sendAdmin, withConnection } from "./admin-client.ts";
import { CommandError, type CommandContext } from "./command.ts";
import { formatTable, printRows, type OutputOptions } from "./terminal/output.ts";

export function createRetentionCommand(context: CommandContext): Command {
  const retention = new Command("retention").description(
    "Deletes observations that the setting RETENTION does not keep.",
  );
  retention
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
    .action(async (options: OutputOptions & { dryRun?: true }) => {
      const report = await requestRetention(context, options.dryRun === true);
      const { kinds, faults } = report;
      await printRows(context, options, COLUMNS, kinds, { value: report });
      if (options.json !== true && faults.length > 0) {
        await context.writeOut(`\n${formatTable(["kind", "problem"], faults, context)}`);
      }
      if (faults.length > 0) throw new CommandError("The verification of retention failed");
      context.writeErr(`${describeReport(report)}\n`);
    });
  return retention;
}

const COLUMNS = ["kind", "rule", "entities", "before", "removed", "after"] as const;

function describeReport({ is_dry_run, kinds }: RetentionResponse): string {
  if (kinds.every(({ rule }) => rule === "all"))
    return "RETENTION is not set: all observations are kept";
  if (is_dry_run) return "Dry run: nothing was deleted";
  return "Verified in each step: before = removed + after, and no newest state changed";
}

async function requestRetention(context: CommandContext, dry_run: boolean) {
  const body = JSON.stringify({ dry_run });
  const headers = { "content-type": "application/json" };
  const text = await withConnection(context, async (connection) =>
    (await sendAdmin(connection, "retention", { method: "POST", headers, body })).text(),
  );
  // The lines before the last one report the progress.
  const last: RetentionResponse | { walked: number } = JSON.parse(
    text.trim().split("\n").at(-1) ?? "",
  );
  if ("walked" in last) throw new CommandError("The service ended before retention was applied");
  return last;
}
