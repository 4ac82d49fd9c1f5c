/** `retention`: how long observations are kept, applied and proved. */
import { Command } from "commander";
import type { RetentionAnswer } from "../http/admin-retention.ts";
import { CommandError, refusal, withAdmin, type Connection, type Surroundings } from "./client.ts";
import { formatJson, formatTable } from "./table.ts";

/** Makes the verb. */
export function retentionCommand(surroundings: Surroundings): Command {
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
    .action((options: ApplyOptions) => apply(surroundings, options));
  return retention;
}

interface ApplyOptions {
  readonly dryRun?: true;
  readonly json?: true;
}

async function apply(surroundings: Surroundings, { dryRun, json }: ApplyOptions): Promise<void> {
  const found = await withAdmin(surroundings, "retention", (_, connection) =>
    ask(connection, dryRun === true),
  );
  const { kinds, faults } = found;
  surroundings.out(json === true ? formatJson(found) : formatTable(COLUMNS, kinds));
  if (json !== true && faults.length > 0) {
    surroundings.out(`\n${formatTable(["kind", "problem"], faults)}`);
  }
  if (faults.length > 0) throw new CommandError("Retention is not proved");
  surroundings.err(`${sentenceFor(found)}\n`);
}

const COLUMNS = ["kind", "rule", "entities", "before", "removed", "after"] as const;

function sentenceFor({ is_dry_run, is_whole_compared, kinds }: RetentionAnswer): string {
  if (kinds.every(({ rule }) => rule === "all")) return "RETENTION is not set: all is kept";
  if (is_dry_run) return "Nothing was removed: this is what would be";
  return is_whole_compared
    ? "Proved: before = removed + after, and the newest state of every entity is as it was"
    : "Proved of each step: before = removed + after, and no newest state changed. The whole was " +
        "not compared, because more was observed meanwhile";
}

async function ask({ fetcher }: Connection, isDryRun: boolean): Promise<RetentionAnswer> {
  const response = await fetcher("http://localhost/admin/retention", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ dry_run: isDryRun }),
  });
  const text = await response.text();
  if (!response.ok) throw refusal(text);
  const last: RetentionAnswer | { walked: number } = JSON.parse(
    text.trim().split("\n").at(-1) ?? "",
  );
  if ("walked" in last) throw new CommandError("The service ended before retention was applied");
  return last;
}
