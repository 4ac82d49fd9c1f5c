/** The command `channels`: chooses the channels that are collected. */
import { Command } from "commander";
import { requestAdmin } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { runOnNames, type NamesOptions } from "./input/names.ts";
import { printResult, printRows, type OutputOptions } from "./terminal/output.ts";

export function createChannelsCommand(context: CommandContext): Command {
  const channels = new Command("channels").description(
    "Adds, removes and lists the channels that are collected.",
  );
  channels
    .command("track")
    .description("Starts collecting channels and their shorts.")
    .argument(
      "[handles_or_ids...]",
      "the channels' handles (@nasa), identifiers (UC...) or addresses; - reads them from " +
        "standard input, one a line",
    )
    .option("--file <file>", "a file of handles, identifiers and addresses, one a line")
    .option("--json", "print what became of each channel as JSON")
    .action(async (names: string[], options: NamesOptions) => {
      await runOnNames(context, names, options, async (client, name) => {
        const { channel, failure } = await client("POST /admin/channels", {
          body: { channel: name },
        });
        const warning = failure === null ? "" : `, but is not collected: ${failure}`;
        return {
          result: { channel, change: "tracked", failure },
          sentence: `Channel ${channel} is tracked from now on${warning}`,
        };
      });
    });
  channels
    .command("untrack")
    .description("Stops collecting a channel. The collected data stays.")
    .argument("<handle_or_id>", 'the channel, as "channels list" shows it in the column channel')
    .option("--json", "print the channel as JSON")
    .action(async (channel: string, options: OutputOptions) => {
      const untracked = await requestAdmin(context, "DELETE /admin/channels", {
        body: { channel },
      });
      const sentence = `Channel ${untracked.channel} is not tracked any more; its history is kept`;
      await printResult(context, options, untracked, sentence);
    });
  channels
    .command("list")
    .description("Lists the tracked channels, with the last success and the last failure of each.")
    .option("--json", "print the channels as JSON")
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, "GET /admin/channels");
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `No channels are tracked; add one: ${context.programName} channels track @nasa`,
      });
    });
  return channels;
}

const COLUMNS = [
  "channel",
  "channel_id",
  "added_at",
  "last_success",
  "last_failure",
  "failure",
  "next_due",
] as const;
