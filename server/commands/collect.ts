/** The command `collect`: polls all due targets of the sources. */
import { Command } from "commander";
import type { OwnerCalls } from "../http/admin/routes.ts";
import { requestAdmin } from "./admin-client.ts";
import { CommandError, type CommandContext } from "./command.ts";
import { writeHint } from "./terminal/hints.ts";
import { printRows, type OutputOptions } from "./terminal/output.ts";

export function createCollectCommand(context: CommandContext): Command {
  return new Command("collect")
    .summary("Collects everything that is due now.")
    .description(
      "Collects all data of monitored creators and tracked channels that is due, then ends. A " +
        "running service does this by itself, spread over the day; this command does it at once, " +
        "within the quotas. The exit status is 1 if a source is stopped or failing, or if " +
        "everything that was due at a source failed.",
    )
    .option("--once", "collect once and end, which it does anyway")
    .option("--json", "print the counts as JSON")
    .action(async (options: OutputOptions) => {
      writeHint(context, ["Collecting what is due…"]);
      const sources = await requestAdmin(context, "POST /admin/collect");
      const rows = sources.map(({ source, work }) => Object.assign({ source }, work));
      await printRows(context, options, COLUMNS, rows, { value: { sources } });
      const problems = sources.flatMap((source) => findProblem(source) ?? []);
      if (problems.length > 0) throw new CommandError(problems.join("\n"));
    });
}

const COLUMNS = ["source", "requests", "observed", "failed", "observations"] as const;

type CollectedSource = OwnerCalls["POST /admin/collect"]["result"][number];

/** Says why nothing was collected from a source; `undefined` if something was, or nothing was due. */
function findProblem(collected: CollectedSource): string | undefined {
  const { source, status, reason, since, until, work } = collected;
  if (status === "stopped") {
    return `${source} is stopped until ${until ?? "its settings change"}: ${reason}`;
  }
  if (status === "failing") return `${source} has been failing since ${since}: ${reason}`;
  const { observed, failed } = work;
  if (failed === 0 || observed > 0) return undefined;
  const lists = "channels list and creators list say why";
  return `${source}: none of ${failed} targets could be observed; ${lists}`;
}
