/** The command `channels`: chooses the channels that are collected. */
import { Command } from "commander";
import { requestAdmin, unwrap } from "./admin-client.ts";
import { type CommandContext } from "./command.ts";
import { runOnNames, type NamesOptions } from "./input/names.ts";
import { writeHint } from "./terminal/hints.ts";
import { formatJson, printRows, type OutputOptions } from "./terminal/output.ts";

export function createChannelsCommand(context: CommandContext): Command {
  const channels = new Command("channels").description(
    "Adds, removes and lists the channels that are collected.",
  );
  channels
    .command("track")
    .description("Starts collecting channels and their shorts.")
    .argument(
      "[handles_or_ids...]",
      "the channels' handles (@nasa) or identifiers (UC...); - reads them from standard input, " +
        "one a line",
    )
    .option("--file <file>", "a file of handles and identifiers, one a line")
    .option("--json", "print what became of each channel as JSON")
    .action(async (names: string[], options: NamesOptions) => {
      await runOnNames(context, names, options, async (client, name) => {
        const { channel } = unwrap(await client.channels.post({ channel: name }));
        return {
          result: { channel, change: "tracked" },
          sentence: `Channel ${channel} is tracked from now on`,
        };
      });
      if (options.json !== true) await writeSourceHint(context);
    });
  channels
    .command("untrack")
    .description("Stops collecting a channel. The collected data stays.")
    .argument("<handle_or_id>", 'the channel, as "channels list" shows it in the column channel')
    .option("--json", "print the channel as JSON")
    .action(async (channel: string, { json }: OutputOptions) => {
      const untracked = await requestAdmin(context, (client) =>
        client.channels.delete({ channel }),
      );
      if (json === true) return context.writeOut(formatJson(untracked));
      context.writeErr(
        `Channel ${untracked.channel} is not tracked any more; its history is kept\n`,
      );
    });
  channels
    .command("list")
    .description("Lists the tracked channels, with the last success and the last failure of each.")
    .option("--json", "print the channels as JSON")
    .action(async (options: OutputOptions) => {
      const rows = await requestAdmin(context, (client) => client.channels.get());
      await printRows(context, options, COLUMNS, rows, {
        ifEmpty: `No channels are tracked; add one: ${context.programName} channels track @nasa`,
      });
    });
  return channels;
}

/** Says on a terminal that nothing is collected without the key of the source. */
async function writeSourceHint(context: CommandContext): Promise<void> {
  if (context.errTerminal === undefined) return;
  const { sources } = await requestAdmin(context, (client) => client.status.get());
  if (sources.some(({ source }) => source === "youtube")) return;
  writeHint(context, ["Channels are collected once the service runs with YOUTUBE_API_KEY"]);
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
