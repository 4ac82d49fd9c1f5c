/** The command `creators`: chooses the creators whose data is collected. */
import { Command } from "commander";
import { requestAdmin } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { runOnNames, type NamesOptions } from "./input/names.ts";
import { printRows, type OutputOptions } from "./terminal/output.ts";

const ALREADY_LISTED = "was in the monitoring list already";
const USERNAMES =
  "the usernames, or addresses of profiles; - reads them from standard input, one a line";

export function createCreatorsCommand(context: CommandContext): Command {
  const creators = new Command("creators").description(
    "Adds, removes and lists the creators of the monitoring list.",
  );
  creators
    .command("add")
    .description("Adds creators to the monitoring list, and says which of them are not collected.")
    .argument("[usernames...]", USERNAMES)
    .option("--file <file>", "a file of usernames, one a line")
    .option("--json", "print what became of each username as JSON")
    .action((names: string[], options: NamesOptions) =>
      runOnNames(context, names, options, async (client, name) => {
        const { creator, change, failure } = await client("POST /admin/creators", {
          body: { creator: name },
        });
        const state = change === "added" ? "is in the monitoring list now" : ALREADY_LISTED;
        const warning = failure === null ? "" : `, but is not collected: ${failure}`;
        return {
          result: { creator, change, failure },
          sentence: `Creator ${creator} ${state}${warning}`,
        };
      }),
    );
  creators
    .command("remove")
    .description("Removes creators from the monitoring list. The collected data stays.")
    .argument("[usernames...]", USERNAMES)
    .option("--file <file>", "a file of usernames, one a line")
    .option("--json", "print what became of each username as JSON")
    .action((names: string[], options: NamesOptions) =>
      runOnNames(context, names, options, async (client, name) => {
        const { creator } = await client("DELETE /admin/creators", { body: { creator: name } });
        return {
          result: { creator, change: "removed" },
          sentence: `Creator ${creator} is not in the monitoring list any more`,
        };
      }),
    );
  creators
    .command("list")
    .description("Lists the creators, with the last success and the last failure of each.")
    .option("--json", "print the creators as JSON")
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, "GET /admin/creators");
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `There are no creators; add one: ${context.programName} creators add bsky.app`,
      });
    });
  return creators;
}

const COLUMNS = [
  "platform",
  "creator",
  "added_at",
  "last_success",
  "last_failure",
  "failure",
  "next_due",
] as const;
