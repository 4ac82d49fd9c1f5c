/** The commands `channels` and `creators` for the watch lists, and `collect` for all due data. */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createInvalidRequestError } from "../../core/errors.ts";
import type { OwnerCalls } from "../http/admin/routes.ts";
import {
  CommandError,
  createReadError,
  requestAdmin,
  withConnection,
  type AdminClient,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { describeError } from "../system-errors.ts";
import { formatJson, printResult, printRows } from "./terminal/output.ts";
import { writeHint } from "./terminal/process-io.ts";

export function addCollectionCommands(program: Command, context: CommandContext): void {
  addChannelsCommand(program, context);
  addCreatorsCommand(program, context);
  addCollectCommand(program, context);
}

function addChannelsCommand(program: Command, context: CommandContext): void {
  const channels = program
    .command("channels")
    .description("Adds, removes and lists the channels that are collected.");
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
    .action((names: string[], options: TextOptions<"file">) =>
      runOnNames(context, names, options, async (client, name) => {
        const body = { channel: name };
        const { channel, failure } = await client("POST /admin/channels", { body });
        return {
          result: { channel, change: "tracked", failure },
          sentence: `Channel ${channel} is tracked from now on${formatWarning(failure)}`,
        };
      }),
    );
  channels
    .command("untrack")
    .description("Stops collecting a channel. The collected data stays.")
    .argument("<handle_or_id>", 'the channel, as "channels list" shows it in the column channel')
    .option("--json", "print the channel as JSON")
    .action(async (channel: string) => {
      const body = { channel };
      const untracked = await requestAdmin(context, "DELETE /admin/channels", { body });
      const sentence = `Channel ${untracked.channel} is not tracked any more; its history is kept`;
      await printResult(context, untracked, sentence);
    });
  channels
    .command("list")
    .description("Lists the tracked channels, with the last success and the last failure of each.")
    .option("--json", "print the channels as JSON")
    .action(async () => {
      const ifEmpty = `No channels are tracked; add one: ${context.programName} channels track @nasa`;
      await printRows(context, await requestAdmin(context, "GET /admin/channels"), { ifEmpty });
    });
}

const formatWarning = (failure: string | null) =>
  failure === null ? "" : `, but is not collected: ${failure}`;

const USERNAMES =
  "the usernames, or addresses of profiles; - reads them from standard input, one a line";

function addCreatorsCommand(program: Command, context: CommandContext): void {
  const creators = program
    .command("creators")
    .description("Adds, removes and lists the creators of the monitoring list.");
  creators
    .command("add")
    .description("Adds creators to the monitoring list, and says which of them are not collected.")
    .argument("[usernames...]", USERNAMES)
    .option("--file <file>", "a file of usernames, one a line")
    .option("--json", "print what became of each username as JSON")
    .action((names: string[], options: TextOptions<"file">) =>
      runOnNames(context, names, options, async (client, name) => {
        const body = { creator: name };
        const { creator, change, failure } = await client("POST /admin/creators", { body });
        const [verb, when] = change === "added" ? ["is", "now"] : ["was", "already"];
        return {
          result: { creator, change, failure },
          sentence: `Creator ${creator} ${verb} in the monitoring list ${when}${formatWarning(failure)}`,
        };
      }),
    );
  creators
    .command("remove")
    .description("Removes creators from the monitoring list. The collected data stays.")
    .argument("[usernames...]", USERNAMES)
    .option("--file <file>", "a file of usernames, one a line")
    .option("--json", "print what became of each username as JSON")
    .action((names: string[], options: TextOptions<"file">) =>
      runOnNames(context, names, options, async (client, name) => {
        const { creator } = await client("DELETE /admin/creators", { body: { creator: name } });
        const sentence = `Creator ${creator} is not in the monitoring list any more`;
        return { result: { creator, change: "removed" }, sentence };
      }),
    );
  creators
    .command("list")
    .description("Lists the creators, with the last success and the last failure of each.")
    .option("--json", "print the creators as JSON")
    .action(async () => {
      const ifEmpty = `There are no creators; add one: ${context.programName} creators add bsky.app`;
      const columns = ["platform", "creator", ...STATUS_COLUMNS] as const;
      const rows = await requestAdmin(context, "GET /admin/creators");
      await printRows(context, rows, { columns, ifEmpty });
    });
}

const STATUS_COLUMNS = ["added_at", "last_success", "last_failure", "failure", "next_due"] as const;

function addCollectCommand(program: Command, context: CommandContext): void {
  program
    .command("collect")
    .summary("Collects everything that is due now.")
    .description(
      "Collects all data of monitored creators and tracked channels that is due, then ends. A " +
        "running service does this by itself, spread over the day; this command does it at once, " +
        "within the quotas. The exit status is 1 if a source is stopped or failing, or if " +
        "everything that was due at a source failed.",
    )
    .option("--once", "collect once and end, which it does anyway")
    .option("--json", "print the counts as JSON")
    .action(async () => {
      writeHint(context, ["Collecting what is due…"]);
      const sources = await requestAdmin(context, "POST /admin/collect");
      const columns = ["source", "requests", "observed", "failed", "observations"] as const;
      const rows = sources.map(({ source, work }) => ({ source, ...work }));
      await printRows(context, rows, { columns, value: { sources } });
      const problems = sources.flatMap((source) => findProblem(source) ?? []);
      if (problems.length > 0) throw new CommandError(problems.join("\n"));
    });
}

/** Describes the problem of a source that is stopped or failing, or all of whose targets failed. */
function findProblem({
  source,
  status,
  reason,
  since,
  until,
  work: { observed, failed },
}: OwnerCalls["POST /admin/collect"]["result"][number]): string | undefined {
  if (status === "stopped") {
    return `${source} is stopped until ${until ?? "its settings change"}: ${reason}`;
  }
  if (status === "failing") return `${source} has been failing since ${since}: ${reason}`;
  if (failed === 0 || observed > 0) return undefined;
  const lists = "channels list and creators list say why";
  return `${source}: none of ${failed} targets could be observed; ${lists}`;
}

const NAMES_MAX = 100_000;

type NameResult = Readonly<Record<string, string | null>>;

/** Runs `work` on each name (`-`: names from standard input), and goes on after a failure. */
async function runOnNames(
  context: CommandContext,
  names: readonly string[],
  { file }: { readonly file?: string },
  work: (client: AdminClient, name: string) => Promise<{ result: NameResult; sentence: string }>,
): Promise<void> {
  const all = await readNames(names, file);
  const results: NameResult[] = [];
  let failureCount = 0;
  const report = (result: NameResult, sentence: string) => {
    results.push(result);
    if (!context.isJson) context.writeErr(`${sentence}\n`);
  };
  await withConnection(context, async (client) => {
    for (const name of all) {
      try {
        const { result, sentence } = await work(client, name);
        report({ name, ...result }, sentence);
      } catch (error) {
        if (all.length === 1) throw error;
        failureCount++;
        report({ name, error: describeError(error) }, describeError(error));
      }
    }
  });
  if (context.isJson) await context.writeOut(formatJson(results));
  if (failureCount > 0) throw new CommandError(`${failureCount} of ${all.length} names failed`);
}

const readText = (file: string) =>
  readFile(file, "utf8").catch((error: unknown) => {
    throw createReadError(file, error);
  });

async function readNames(names: readonly string[], file?: string): Promise<string[]> {
  const unique = new Set([
    ...names.filter((name) => name !== "-"),
    ...(file === undefined ? [] : parseNames(await readText(file))),
    ...(names.includes("-") ? parseNames(await Bun.stdin.text()) : []),
  ]);
  if (unique.size === 0) {
    throw createInvalidRequestError(
      "Give one name or more: as arguments, in the lines of --file FILE, or with - on standard input",
    );
  }
  if (unique.size > NAMES_MAX) {
    throw createInvalidRequestError(`There may be at most ${NAMES_MAX} names, got ${unique.size}`);
  }
  return [...unique];
}

function parseNames(text: string): string[] {
  // trim() removes a byte-order mark too.
  const names = text.split("\n").map((line) => line.trim());
  return names.filter((name) => name !== "");
}
