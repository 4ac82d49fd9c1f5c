/** `retention`: how long observations are kept, applied and proved. */
import { Command } from "commander";
import type { RetentionResponse } from "../http/admin/retention.ts";
import {
  CommandError,
  toCommandError,
  withAdminClient,
  type CommandContext,
} from "./admin-client.ts";
import type { AdminConnection } from "../ports/process.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createRetentionCommand(context: CommandContext): Command {
  const retention = new Command("retention").description("How long observations are kept.");
  retention
    .command("apply")
    .summary("Removes what RETENTION does not keep, and proves it.")
    .description(
      "Removes the observations that RETENTION does not keep, in small steps, and proves that " +
        "what was there is what was removed and what is left, and that no newest state changed. " +
        "The exit status tells if it is proved. While a service runs, its RETENTION counts.",
    )
    .option("--dry-run", "only count what would be removed")
    .option("--json", "print the findings as JSON")
    .action((options: ApplyOptions) => applyAndReport(context, options));
  return retention;
}

interface ApplyOptions {
  readonly dryRun?: true;
  readonly json?: true;
}

async function applyAndReport(
  context: CommandContext,
  { dryRun, json }: ApplyOptions,
): Promise<void> {
  const report = await withAdminClient(context, "retention", (_, connection) =>
    requestRetention(connection, dryRun === true),
  );
  const { kinds, faults } = report;
  await context.writeOut(json === true ? formatJson(report) : formatTable(COLUMNS, kinds));
  if (json !== true && faults.length > 0) {
    await context.writeOut(`\n${formatTable(["kind", "problem"], faults)}`);
  }
  if (faults.length > 0) throw new CommandError("Retention is not proved");
  context.writeErr(`${describeReport(report)}\n`);
}

const COLUMNS = ["kind", "rule", "entities", "before", "removed", "after"] as const;

function describeReport({ is_dry_run, kinds }: RetentionResponse): string {
  if (kinds.every(({ rule }) => rule === "all")) return "RETENTION is not set: all is kept";
  if (is_dry_run) return "Nothing was removed: this is what would be";
  return "Proved in each step: before = removed + after, and no newest state changed";
}

async function requestRetention(
  { fetcher }: AdminConnection,
  isDryRun: boolean,
): Promise<RetentionResponse> {
  const response = await fetcher("http://localhost/admin/retention", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ dry_run: isDryRun }),
  });
  const text = await response.text();
  if (!response.ok) throw toCommandError(text);
  const last: RetentionResponse | { walked: number } = JSON.parse(
    text.trim().split("\n").at(-1) ?? "",
  );
  if ("walked" in last) throw new CommandError("The service ended before retention was applied");
  return last;
}
