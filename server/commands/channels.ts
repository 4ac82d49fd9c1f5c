/** `channels`: the channels that are tracked. */
import { Command } from "commander";
import { requestAdmin, type CommandContext } from "./admin-client.ts";
import { formatJson, formatTable } from "./output.ts";

/** Makes the verb. */
export function createChannelsCommand(context: CommandContext): Command {
  const channels = new Command("channels").description("The channels that are tracked.");
  channels
    .command("track")
    .description("Collects a channel and its shorts from now on.")
    .argument("<handle_or_id>", "its handle, as @nasa, or its identifier, as UC...")
    .action(async (channel: string) => {
      const tracked = await requestAdmin(context, "channels", (client) =>
        client.channels.post({ channel }),
      );
      context.writeErr(`Channel ${tracked.channel} is tracked from now on\n`);
    });
  channels
    .command("untrack")
    .description("Ends collecting a channel. What was collected is kept.")
    .argument("<handle_or_id>", "what it is tracked by, as channels list shows it")
    .action(async (channel: string) => {
      const untracked = await requestAdmin(context, "channels", (client) =>
        client.channels.delete({ channel }),
      );
      context.writeErr(
        `Channel ${untracked.channel} is not tracked any more; what was collected of it is kept\n`,
      );
    });
  channels
    .command("list")
    .description("Lists the tracked channels and how collecting each of them stands.")
    .option("--json", "print them as JSON")
    .action(async ({ json }: { json?: true }) => {
      const all = await requestAdmin(context, "channels", (client) => client.channels.get());
      await context.writeOut(json === true ? formatJson(all) : formatTable(COLUMNS, all));
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
