/** Reads the usage of accounts, and records how their requests ended. */
import { sql } from "drizzle-orm";
import type { DayRange, UsageGrouping } from "../../../core/usage.ts";
import type { Database } from "../database/database.ts";
import type { usage } from "../tables/account-tables.ts";

type Usage = typeof usage.$inferSelect;

/** How requests ended that were charged; a failed one was refunded. */
type StatusCounts = Pick<Usage, "ok" | "notModified" | "notFound" | "failed">;

interface UsageGroup extends StatusCounts, Pick<Usage, "requests" | "credits" | "refunded"> {
  /** Days or hours since 1970 UTC; `null` if it is not grouped by them. */
  readonly period: number | null;
  readonly key: number | null;
  readonly beginsWith: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
}

/** Reads the usage of an account in groups, in order; groups without use are left out. */
export async function readUsage(
  { query }: Database,
  account: number,
  { first, last }: DayRange,
  { hasKey, hasEndpoint, period }: UsageGrouping,
  limit: number,
): Promise<UsageGroup[]> {
  const periodSql = period === undefined ? "NULL" : `hour / ${period === "day" ? 24 : 1}`;
  const keySql = hasKey ? "key" : "NULL";
  const endpointSql = hasEndpoint ? "endpoint" : "NULL";
  const groups = sql.raw(
    [periodSql, keySql, endpointSql].filter((column) => column !== "NULL").join(", "),
  );
  // A batch is read by another thread: the usage of a year can take a while.
  const [rows] = await query((drizzle) =>
    drizzle.batch([
      drizzle.all<UsageGroup>(sql`
        SELECT grouped.*, begins_with AS beginsWith, label
        FROM (
          SELECT
            ${sql.raw(periodSql)} AS period,
            ${sql.raw(keySql)} AS key,
            ${sql.raw(endpointSql)} AS endpoint,
            sum(requests) AS requests,
            sum(credits) AS credits,
            sum(refunded) AS refunded,
            sum(ok) AS ok,
            sum(not_modified) AS notModified,
            sum(not_found) AS notFound,
            sum(failed) AS failed
          FROM usage
          WHERE account = ${account} AND hour BETWEEN ${first * 24} AND ${last * 24 + 23}
          GROUP BY ${groups}
          ORDER BY ${groups}
          LIMIT ${limit}
        ) AS grouped
        LEFT JOIN keys ON keys.id = grouped.key
        ORDER BY period, grouped.key, endpoint`),
    ]),
  );
  return rows;
}

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

/** Adds to the usage how requests ended. @param updates No two of one account, hour, key and endpoint. */
export async function addStatuses(
  { write }: Database,
  updates: readonly (StatusCounts & Pick<Usage, "account" | "hour" | "key" | "endpoint">)[],
): Promise<void> {
  await write([{ sql: UPDATE_STATUSES, args: [JSON.stringify(updates)] }]);
}
