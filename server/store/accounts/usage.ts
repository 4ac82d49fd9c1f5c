/** Reads the usage of accounts, and records how their requests ended. */
import { sql } from "drizzle-orm";
import type { DayRange, UsageGrouping } from "../../../core/usage.ts";
import type { Debit } from "./refunds.ts";
import type { Database } from "../database/database.ts";

/** How requests ended that were charged; a failed one was refunded. */
export interface StatusCounts {
  readonly ok: number;
  readonly notModified: number;
  readonly notFound: number;
  readonly failed: number;
}

/** How some requests of a debit's account, key, endpoint and hour ended. */
export interface StatusUpdate
  extends StatusCounts, Pick<Debit, "account" | "key" | "endpoint" | "hour"> {}

export interface UsageGroup extends StatusCounts {
  /** Days or hours since 1970 UTC; `null` if it is not grouped by them. */
  readonly period: number | null;
  readonly key: number | null;
  readonly beginsWith: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
  readonly requests: number;
  readonly credits: number;
  readonly refunded: number;
}

/** Reads the usage of an account in groups, in order; groups without use are left out. */
export async function readUsage(
  { query }: Database,
  account: number,
  { first, last }: DayRange,
  { hasKey, hasEndpoint, period }: UsageGrouping,
  limit: number,
): Promise<UsageGroup[]> {
  const columns = [
    ...(period === undefined ? [] : [`hour / ${period === "day" ? 24 : 1}`]),
    ...(hasKey ? ["key"] : []),
    ...(hasEndpoint ? ["endpoint"] : []),
  ];
  const groups = sql.raw(columns.join(", "));
  const column = (isGrouped: boolean, expression = "NULL") =>
    sql.raw(isGrouped ? expression : "NULL");
  // A batch is read by another thread: the usage of a year can take a while.
  const [rows] = await query((drizzle) =>
    drizzle.batch([
      drizzle.all<UsageGroup>(sql`
        SELECT
          period,
          key,
          begins_with AS beginsWith,
          label,
          endpoint,
          requests,
          credits,
          refunded,
          ok,
          not_modified AS notModified,
          not_found AS notFound,
          failed
        FROM (
          SELECT
            ${column(period !== undefined, columns[0])} AS period,
            ${column(hasKey, "key")} AS key,
            ${column(hasEndpoint, "endpoint")} AS endpoint,
            sum(requests) AS requests,
            sum(credits) AS credits,
            sum(refunded) AS refunded,
            sum(ok) AS ok,
            sum(not_modified) AS not_modified,
            sum(not_found) AS not_found,
            sum(failed) AS failed
          FROM usage
          WHERE account = ${account} AND hour BETWEEN ${first * 24} AND ${last * 24 + 23}
          GROUP BY ${groups}
          ORDER BY ${groups}
          LIMIT ${limit}
        ) AS grouped
        LEFT JOIN keys ON keys.id = grouped.key
        ORDER BY period, key, endpoint`),
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

/** Adds to the usage how requests ended. @param updates No two of one group. */
export async function addStatuses(
  { write }: Database,
  updates: readonly StatusUpdate[],
): Promise<void> {
  await write([{ sql: UPDATE_STATUSES, args: [JSON.stringify(updates)] }]);
}
