/** Reads what accounts used, and records how their requests ended. */
import { and, between, eq, sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import type { DayRange, StatusUpdate, UsageGroup, UsageGrouping } from "../../ports/ledger.ts";
import type { Database } from "../database/database.ts";
import { keys, usage } from "../tables/account-tables.ts";

/** Reads what an account used in groups, in order; those without use are left out. */
export async function readUsage(
  { query }: Database,
  account: number,
  { first, last }: DayRange,
  { hasKey, hasEndpoint, period }: UsageGrouping,
  limit: number,
): Promise<UsageGroup[]> {
  const hours = period === "hour" ? 1 : 24;
  const start = period === undefined ? sql`NULL` : sql`${usage.hour} / ${sql.raw(String(hours))}`;
  const key = hasKey ? sql`${usage.key}` : sql`NULL`;
  const endpoint = hasEndpoint ? sql`${usage.endpoint}` : sql`NULL`;
  return query((drizzle) =>
    drizzle
      .select({
        period: sql<number | null>`${start}`,
        key: sql<number | null>`${key}`,
        beginsWith: hasKey ? keys.beginsWith : sql<null>`NULL`,
        label: hasKey ? keys.label : sql<null>`NULL`,
        endpoint: sql<string | null>`${endpoint}`,
        requests: sum(usage.requests),
        credits: sum(usage.credits),
        refunded: sum(usage.refunded),
        ok: sum(usage.ok),
        notModified: sum(usage.notModified),
        notFound: sum(usage.notFound),
        failed: sum(usage.failed),
      })
      .from(usage)
      .leftJoin(keys, eq(keys.id, usage.key))
      .where(and(eq(usage.account, account), between(usage.hour, first * 24, last * 24 + 23)))
      .groupBy(start, key, endpoint)
      .orderBy(start, key, endpoint)
      .limit(limit),
  );
}

const sum = (column: AnySQLiteColumn) => sql<number>`ifnull(sum(${column}), 0)`;

const UPDATE_STATUSES = `
  UPDATE usage
  SET
    ok = ok + json_extract(added.value, '$.ok'),
    not_modified = not_modified + json_extract(added.value, '$.notModified'),
    not_found = not_found + json_extract(added.value, '$.notFound'),
    failed = failed + json_extract(added.value, '$.failed')
  FROM json_each(?) AS added
  WHERE usage.account = json_extract(added.value, '$.account')
    AND usage.hour = json_extract(added.value, '$.hour')
    AND usage.key = json_extract(added.value, '$.key')
    AND usage.endpoint = json_extract(added.value, '$.endpoint')`;

/** Adds to the usage how requests ended. @param updates No two of one group. */
export async function addStatuses(
  { write }: Database,
  updates: readonly StatusUpdate[],
): Promise<void> {
  await write([{ sql: UPDATE_STATUSES, args: [JSON.stringify(updates)] }]);
}
