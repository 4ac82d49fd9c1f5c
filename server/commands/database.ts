/** The commands about the database: `status`, `retention`, `backup` and `restore`. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { INTEGER_MAX } from "../../core/limits.ts";
import { formatInstantOrNull } from "../../core/time.ts";
import type { RetentionResponse } from "../http/admin/observations.ts";
import type { OwnerCalls } from "../http/admin/routes.ts";
import {
  CommandError,
  sendAdmin,
  withConnection,
  type AdminClient,
  type CommandContext,
  type RestoreReport,
} from "./command.ts";
import {
  formatFields,
  formatJson,
  formatTable,
  printResult,
  printRows,
} from "./terminal/output.ts";
import { startProgress } from "./terminal/progress.ts";
import { formatBytes, formatCount, formatPlural } from "./terminal/style.ts";

export function addDatabaseCommands(program: Command, context: CommandContext): void {
  addStatusCommand(program, context);
  addRetentionCommand(program, context);
  addBackupCommand(program, context);
  addRestoreCommand(program, context);
}

type Status = OwnerCalls["GET /admin/status"]["result"];
type Owner = OwnerCalls["GET /admin/owner"]["result"];

function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command("status")
    .summary("Shows the database, what is in it, and the sources.")
    .description(
      "Shows the database and who serves it, how many observations of each kind it has and the " +
        "newest of them, accounts, keys and credits, and the sources with their quotas. A number " +
        "of observations with a ~ is estimated from 500 entities.",
    )
    .option("--json", "print the status as JSON")
    .action(async () => {
      const { status, owner } = await withConnection(context, async (client) => ({
        status: await client("GET /admin/status"),
        owner: await client("GET /admin/owner"),
      }));
      // An owner without an address is a command that opened the file, not a service.
      const server = owner.address === null ? null : owner;
      await context.writeOut(
        context.isJson ? formatJson({ ...status, server }) : formatStatus(context, status, server),
      );
    });
}

const KIND_COLUMNS = ["kind", "entities", "observations", "newest"] as const;
const SOURCE_COLUMNS = ["source", "state", "quota", "used", "limit", "reason"] as const;

function formatStatus(context: CommandContext, status: Status, server: Owner | null): string {
  const kinds = status.kinds.map(({ kind, entities, observations, is_estimated, newest }) => ({
    kind,
    entities: formatCount(entities),
    observations: `${is_estimated ? "~" : ""}${formatCount(observations)}`,
    newest,
  }));
  const sources = status.sources.flatMap(({ source, status: state, reason, quotas }) =>
    quotas.map(({ bucket, used, limit }) => ({
      source,
      state,
      quota: bucket,
      used: formatCount(used),
      limit: formatCount(limit),
      reason,
    })),
  );
  const parts = [
    formatFields(describeDatabase(status, server), context),
    formatTable(KIND_COLUMNS, kinds, context),
    formatFields(describeCustomers(status), context),
    ...(status.sources.length === 0 ? [] : [formatTable(SOURCE_COLUMNS, sources, context)]),
  ];
  return parts.join("\n");
}

function describeDatabase({ database }: Status, server: Owner | null): Record<string, string> {
  const { url, entities_url: entities, replica, bytes, durability, outage } = database;
  return {
    database: url,
    entities: entities ?? "in the same database",
    ...(replica === null ? {} : { replica }),
    size: formatBytes(bytes),
    durability,
    state: outage ?? "ok",
    // Only a file has an owner: any number of processes serve the database of a server.
    ...(url.startsWith("file:") ? { service: describeService(server) } : {}),
  };
}

const describeService = (server: Owner | null): string =>
  server === null
    ? "none runs here"
    : `${server.address} (process ${server.pid} since ${server.since})`;

function describeCustomers({ accounts, keys, credits, creators, channels }: Status) {
  const { granted, debited, refunded, balance } = credits;
  const spent = debited === null || refunded === null ? null : debited - refunded;
  return {
    credits: `${formatSum(granted)} issued, ${formatSum(spent)} spent, ${formatSum(balance)} left`,
    accounts: formatCount(accounts),
    keys: `${formatCount(keys.valid)} valid of ${formatCount(keys.total)}`,
    collected: `${formatPlural(channels, "channel")}, ${formatPlural(creators, "creator")}`,
  };
}

const formatSum = (sum: number | null): string =>
  sum === null ? `more than ${formatCount(INTEGER_MAX)}` : formatCount(sum);

function addRetentionCommand(program: Command, context: CommandContext): void {
  program
    .command("retention")
    .description("Deletes observations that the setting RETENTION does not keep.")
    .command("apply")
    .summary("Deletes these observations, and verifies the result.")
    .description(
      "Deletes the observations that the setting RETENTION does not keep, in small steps. Each " +
        "step verifies that before = removed + after, and that the newest state of every " +
        "channel, short, user and tweet is unchanged. The exit status is 1 if the verification " +
        "fails. If a service owns the database file, its RETENTION is used.",
    )
    .option("--dry-run", "only count the observations, and delete nothing")
    .option("--json", "print the result as JSON")
    .action(async ({ dryRun = false }: { dryRun?: boolean }) => {
      const report = await requestRetention(context, dryRun);
      const { kinds, faults } = report;
      await printRows(context, kinds, { value: report });
      if (!context.isJson && faults.length > 0) {
        await context.writeOut(`\n${formatTable(["kind", "problem"], faults, context)}`);
      }
      if (faults.length > 0) throw new CommandError("The verification of retention failed");
      context.writeErr(`${describeReport(report)}\n`);
    });
}

function describeReport({ is_dry_run, kinds }: RetentionResponse): string {
  if (kinds.every(({ rule }) => rule === "all"))
    return "RETENTION is not set: all observations are kept";
  if (is_dry_run) return "Dry run: nothing was deleted";
  return "Verified in each step: before = removed + after, and no newest state changed";
}

async function requestRetention(context: CommandContext, dry_run: boolean) {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ dry_run }),
  };
  const text = await withConnection(context, async (_, connection) =>
    (await sendAdmin(connection, "retention", init)).text(),
  );
  // The lines before the last one report the progress.
  const lastLine = text.trim().split("\n").at(-1) ?? "";
  const last: RetentionResponse | { walked: number } = JSON.parse(lastLine);
  if ("walked" in last) throw new CommandError("The service ended before retention was applied");
  return last;
}

function addBackupCommand(program: Command, context: CommandContext): void {
  program
    .command("backup")
    .summary("Writes a snapshot of the database into a file.")
    .description("Writes a snapshot of the database into a new file. The service can keep running.")
    .argument("<file>", "the new file; an existing one is not overwritten")
    .option("--json", "print the path and size of the file as JSON")
    .action(async (path: string) => {
      const file = resolve(path);
      const backup = await withConnection(context, async (client) => {
        const stopProgress = await showCopyProgress(context, client, file);
        return client("POST /admin/backup", { body: { file } }).finally(stopProgress);
      });
      await printResult(context, backup, `${backup.file} has ${formatBytes(backup.bytes)}`);
    });
}

const POLL_INTERVAL_MS = 200;

async function showCopyProgress(context: CommandContext, client: AdminClient, file: string) {
  if (context.errTerminal === undefined) return () => undefined;
  const { database } = await client("GET /admin/status");
  const total = database.bytes;
  const progress = startProgress(context, { total, formatAmount: formatBytes });
  const timer = setInterval(() => {
    const stats = statSync(`${file}.part`, { throwIfNoEntry: false });
    if (stats !== undefined) progress.set(stats.size);
  }, POLL_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}

function addRestoreCommand(program: Command, context: CommandContext): void {
  program
    .command("restore")
    .summary("Replaces the database by a backup.")
    .description(
      "Replaces the database file by a backup, after it has checked it: that it is not damaged, " +
        "that its tables are not of a newer version, and that its ledger adds up. The replaced " +
        "file stays beside it, under a name with the time. No service may run on it.",
    )
    .argument("<file>", "the backup, which stays where it is")
    .option("--json", "print the counts of both databases as JSON")
    .action(async (file: string) => {
      const report = await context.restore(file);
      const { restored, replaced, kept } = describeRestored(report);
      if (context.isJson) {
        return context.writeOut(formatJson({ file: report.file, kept, restored, replaced }));
      }
      const rows = Object.entries(restored).map(([count, value]) => ({
        "": count.replaceAll("_", " "),
        replaced: formatCell(replaced?.[count]),
        restored: formatCell(value),
      }));
      await context.writeOut(formatTable(["", "replaced", "restored"], rows, context));
      const place = kept === null ? "there was no database before" : `the old one is ${kept}`;
      context.writeErr(`${report.file} is restored; ${place}\n`);
    });
}

const formatCell = (value: number | string | null = null) =>
  typeof value === "number" ? formatCount(value) : value;

function describeRestored({ kept, restored, replaced }: RestoreReport) {
  const describe = (counts: typeof restored): Record<string, number | string | null> => ({
    accounts: counts.accounts,
    credits_granted: counts.granted,
    credits_spent: counts.debited - counts.refunded,
    credits_left: counts.granted - counts.debited + counts.refunded,
    channels: counts.channel,
    shorts: counts.short,
    users: counts.user,
    tweets: counts.tweet,
    newest_observation: formatInstantOrNull(counts.newest || null),
  });
  return { kept, restored: describe(restored), replaced: replaced && describe(replaced) };
}
