/** `collect`: asks the sources for what is due, by hand. */
import { Command } from "commander";
import { requestAdmin, CommandError, type CommandContext } from "./admin-client.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createCollectCommand(context: CommandContext): Command {
  return new Command("collect")
    .summary("Asks the sources for what is due.")
    .description(
      "Asks the sources for what is due of the creators and channels that are watched, and ends. " +
        "serve does that by itself, spread over the day; this does it at once, within the quotas. " +
        "The exit status is 1 where a source is stopped or failing, or where nothing of what was " +
        "due of it could be observed.",
    )
    .requiredOption("--once", "what is due now, and no more")
    .option("--json", "print what was done as JSON")
    .action(async ({ json }: { json?: true }) => {
      const sources = await requestAdmin(context, "collect", (client) => client.collect.post());
      await context.writeOut(
        json === true
          ? formatJson({ sources })
          : formatTable(["source", "requests", "observed", "failed", "observations"], sources),
      );
      const problems = sources.flatMap((source) => findProblem(source) ?? []);
      if (problems.length > 0) throw new CommandError(problems.join("\n"));
    });
}

/** What a source did, as the owner of the database tells it. */
interface CollectedSource {
  readonly source: string;
  readonly observed: number;
  readonly failed: number;
  readonly stopped: string | null;
  readonly stopped_until: string | null;
  readonly failing: string | null;
  readonly failing_since: string | null;
}

/** Why collecting from a source did not succeed; `undefined` where it did, or nothing was due. */
function findProblem(collected: CollectedSource): string | undefined {
  const { source, observed, failed, stopped, failing } = collected;
  if (stopped !== null) {
    const until = collected.stopped_until ?? "its settings change";
    return `${source} is stopped until ${until}: ${stopped}`;
  }
  if (failing !== null) {
    return `${source} has been failing since ${collected.failing_since}: ${failing}`;
  }
  if (failed === 0 || observed > 0) return undefined;
  const lists = source === "youtube" ? "bun server/main.ts channels list" : "GET /api/creators";
  return `${source}: none of ${failed} targets could be observed; ${lists} says why`;
}
