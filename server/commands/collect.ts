/** `collect`: asks the sources for what is due, by hand. */
import { Command } from "commander";
import { ask, CommandError, type Surroundings } from "./client.ts";
import { formatJson, formatTable } from "./table.ts";

/** Makes the verb. */
export function collectCommand(surroundings: Surroundings): Command {
  return new Command("collect")
    .summary("Asks the sources for what is due.")
    .description(
      "Asks the sources for what is due of the creators and channels that are watched, and ends. " +
        "serve does that by itself, spread over the day; this does it at once, within the quotas. " +
        "The exit status is 1 where a source is stopped.",
    )
    .requiredOption("--once", "what is due now, and no more")
    .option("--json", "print what was done as JSON")
    .action(async ({ json }: { json?: true }) => {
      const sources = await ask(surroundings, "collect", (client) => client.collect.post());
      surroundings.out(
        json === true
          ? formatJson({ sources })
          : formatTable(["source", "requests", "observed", "failed", "observations"], sources),
      );
      const stopped = sources.filter((source) => source.stopped !== null);
      if (stopped.length === 0) return;
      throw new CommandError(
        stopped
          .map((source) => {
            const until = source.stopped_until ?? "its settings change";
            return `${source.source} is stopped until ${until}: ${source.stopped}`;
          })
          .join("\n"),
      );
    });
}
