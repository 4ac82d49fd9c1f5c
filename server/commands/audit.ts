/** The command `audit`: lists the changes by administrators. */
import { Command } from "commander";
import type { OwnerCalls } from "../http/admin/routes.ts";
import { createAdminClient, readPages, withConnection } from "./admin-client.ts";
import { parsePositiveInteger, type CommandContext } from "./command.ts";
import { printRows, type OutputOptions } from "./terminal/output.ts";

interface AuditOptions extends OutputOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly before?: number;
  readonly limit: number;
}

type Entry = OwnerCalls["GET /admin/audit"]["result"]["entries"][number];

export function createAuditCommand(context: CommandContext): Command {
  return new Command("audit")
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
    .action(async (options: AuditOptions) => {
      const entries = await readEntries(context, options);
      const rows = entries.map((entry) =>
        Object.assign({}, entry, {
          details: formatDetails(entry.details),
          outcome: entry.outcome ?? "not known",
        }),
      );
      await printRows(context, options, COLUMNS, rows, {
        value: entries,
        ifEmpty: "There are no such entries",
      });
    });
}

function readEntries(
  context: CommandContext,
  { actor, action, before, limit }: AuditOptions,
): Promise<Entry[]> {
  const filter = { ...(actor !== undefined && { actor }), ...(action !== undefined && { action }) };
  return withConnection(context, (connection) => {
    const client = createAdminClient(connection);
    const cursor = before === undefined ? undefined : String(before);
    return readPages({ limit, cursor }, async (page) => {
      const { entries, next } = await client("GET /admin/audit", {
        query: { ...filter, ...page },
      });
      return { rows: entries, next };
    });
  });
}

function formatDetails(details: Entry["details"]): string {
  const known = Object.entries(details).filter(([, value]) => value !== null);
  return known.map(([name, value]) => `${name}=${value}`).join(" ");
}

const COLUMNS = ["id", "at", "actor", "origin", "action", "target", "details", "outcome"] as const;
