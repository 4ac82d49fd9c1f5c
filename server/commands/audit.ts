/** The command `audit`: lists the changes by administrators. */
import type { Command } from "commander";
import {
  parsePositiveInteger,
  requestPages,
  type CommandContext,
  type TextOptions,
} from "./command.ts";
import { printRows } from "./terminal/output.ts";

type AuditOptions = TextOptions<"actor" | "action"> & { before?: number; limit: number };

export function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command("audit")
    .summary("Lists what administrators changed, the newest first.")
    .description(
      "Lists what administrators changed, the newest first: when, who, from where, what, and the " +
        "outcome, which is not known if the process ended meanwhile. Commands are listed as the " +
        "actor command line.",
    )
    .option("--actor <name>", 'only of this token, "ADMIN_TOKEN" or "command line"')
    .option("--action <action>", 'only this action, such as "keys create"')
    .option("--before <id>", "only those before the entry with this id", parsePositiveInteger)
    .option("--limit <number>", "at most this many entries", parsePositiveInteger, 100)
    .option("--json", "print the entries as JSON")
    .action(async ({ actor, action, before, limit }: AuditOptions) => {
      const value = await requestPages(context, limit, before?.toString(), async (client, page) => {
        const query = { actor, action, ...page };
        const { entries, next } = await client("GET /admin/audit", { query });
        return { rows: entries, next };
      });
      const rows = value.map(({ details, outcome, ...entry }) => ({
        ...entry,
        details: formatDetails(details),
        outcome: outcome ?? "not known",
      }));
      await printRows(context, rows, { value, ifEmpty: "There are no such entries" });
    });
}

function formatDetails(details: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(details).filter(([, value]) => value !== null);
  return known.map(([name, value]) => `${name}=${String(value)}`).join(" ");
}
