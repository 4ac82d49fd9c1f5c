/** The command `status`: shows the database, its contents and the sources. */
import type { Command } from "commander";
import { INTEGER_MAX } from "../../core/limits.ts";
import type { OwnerCalls } from "../http/admin/routes.ts";
import { withConnection } from "./admin-client.ts";
import type { CommandContext } from "./command.ts";
import { formatFields, formatJson, formatTable } from "./terminal/output.ts";
import { formatBytes, formatCount, formatPlural } from "./terminal/style.ts";

type Status = OwnerCalls["GET /admin/status"]["result"];
type Owner = OwnerCalls["GET /admin/owner"]["result"];

export function addStatusCommand(program: Command, context: CommandContext): void {
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
      // A command that opened the file itself is no service.
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

function describeDatabase({ database }: Status, server: Owner | null) {
  const { url, bytes, durability, outage } = database;
  return {
    database: url,
    size: bytes === null ? "unknown: ask the libSQL server" : formatBytes(bytes),
    durability,
    state: outage ?? "ok",
    service:
      server === null
        ? "none runs here"
        : `${server.address} (process ${server.pid} since ${server.since})`,
  };
}

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

/** Formats a sum of all accounts, which is `null` beyond the largest exact number. */
const formatSum = (sum: number | null): string =>
  sum === null ? `more than ${formatCount(INTEGER_MAX)}` : formatCount(sum);
