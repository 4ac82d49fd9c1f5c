/** The command `export`: prints observations as lines of JSON or as CSV, which `import` reads. */
import { Option, type Command } from "commander";
import { ENTITY_KINDS } from "../../core/kinds.ts";
import { OBSERVATION_FORMATS } from "../csv/observation-rows.ts";
import {
  resolveInstant,
  sendAdmin,
  withConnection,
  type AdminClient,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { countLineEnds } from "./input/input-blocks.ts";
import { startProgress } from "./terminal/progress.ts";
import { formatCount } from "./terminal/style.ts";

type ExportOptions = TextOptions<"format" | "kind" | "since"> & { id?: readonly string[] };

export function addExportCommand(program: Command, context: CommandContext): void {
  program
    .command("export")
    .summary("Prints observations, one per line.")
    .description(
      "Prints observations as JSON objects, one per line, or those of one kind as CSV, in the " +
        "format that import reads. Imported into an empty database, they give the same responses.",
    )
    .addOption(
      new Option("--format <format>", "the format: csv needs --kind (default: ndjson)").choices(
        OBSERVATION_FORMATS,
      ),
    )
    .addOption(new Option("--kind <kind>", "print only this kind").choices(ENTITY_KINDS))
    .option(
      "--id <id>",
      "print only the entity with this id, a user by the username; may be repeated",
      (id, previous: readonly string[] = []) => [...previous, id],
    )
    .option(
      "--since <instant>",
      "print only observations from this time on, such as 2026-11-20 or -7d",
    )
    .action(async ({ id: ids = [], format, kind, ...options }: ExportOptions) => {
      const since = resolveInstant("since", options.since);
      const query = new URLSearchParams(ids.map((id): [string, string] => ["id", id]));
      for (const [name, value] of Object.entries({ format, kind, since })) {
        if (value !== undefined) query.set(name, value);
      }
      await withConnection(context, async (client, connection) => {
        const progress = await showProgress(context, client, query);
        try {
          const { body } = await sendAdmin(connection, `observations?${query}`);
          for await (const piece of body ?? []) {
            // Waits for the reader of a pipe, so that the memory stays small.
            await context.writeOut(piece);
            progress.add(countLineEnds(piece));
          }
        } finally {
          progress.stop();
        }
      });
    });
}

/** Shows the progress of an export to a file or a pipe. The total can be an estimate. */
async function showProgress(
  { errTerminal, columns }: CommandContext,
  client: AdminClient,
  query: URLSearchParams,
) {
  const terminal = columns === undefined ? errTerminal : undefined;
  const kind = query.get("kind");
  let total: number | undefined;
  if (terminal !== undefined && !query.has("id") && !query.has("since")) {
    const { kinds } = await client("GET /admin/status");
    const exported = kinds.filter((totals) => kind === null || totals.kind === kind);
    total = exported.reduce((sum, { observations }) => sum + observations, 0);
  }
  const formatAmount = (amount: number) => `${formatCount(Math.round(amount))} lines`;
  return startProgress({ errTerminal: terminal }, { total, formatAmount });
}
