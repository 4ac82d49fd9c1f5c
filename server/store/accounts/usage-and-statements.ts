/**
 * The usage and the statements of accounts, and the counts of how requests ended. The debits of a
 * statement come from the usage, which has their key and endpoint by hour: the journal has one
 * row for all debits of a commit. Grants and refunds come from the journal and its folded
 * entries; the refunds of an hour with one reason are one line, because a failure can cause very
 * many. The balance after the last line of an hour is the balance at its end.
 */
import { sql } from "drizzle-orm";
import { HOUR_MS } from "../../../core/time.ts";
import { listDayHours, type DayRange, type UsageGrouping } from "../../../core/usage.ts";
import type { Database } from "../database/database.ts";
import type { usage } from "../tables/account-tables.ts";
import { CREDIT_ENTRIES } from "./fold-journal.ts";
import { createJsonRows } from "./json-rows.ts";
import { createDaySql, USAGE } from "./usage-sql.ts";

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
  range: DayRange,
  { hasKey, hasEndpoint, period }: UsageGrouping,
  limit: number,
): Promise<UsageGroup[]> {
  const hours = listDayHours(range);
  const periodSql = { none: "NULL", hour: "hour", day: createDaySql(range, hours) }[
    period ?? "none"
  ];
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
          FROM ${USED}
          WHERE account = ${account} AND hour >= ${hours[0]} AND hour < ${hours.at(-1)}
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

type StatusUpdate = StatusCounts & Pick<Usage, "account" | "hour" | "key" | "endpoint">;

const STATUS_ROWS = createJsonRows(
  "account hour key endpoint ok not_modified not_found failed".split(" "),
  (counts: StatusUpdate) => [
    counts.account,
    counts.hour,
    counts.key,
    counts.endpoint,
    counts.ok,
    counts.notModified,
    counts.notFound,
    counts.failed,
  ],
);

const ADD_STATUSES = `
  INSERT INTO usage (
    account, hour, key, endpoint, requests, credits, ok, not_modified, not_found, failed
  )
  SELECT account, hour, key, endpoint, 0, 0, ok, not_modified, not_found, failed
  FROM (${STATUS_ROWS.selectSql}) AS added
  WHERE true
  ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET
    ok = ok + excluded.ok,
    not_modified = not_modified + excluded.not_modified,
    not_found = not_found + excluded.not_found,
    failed = failed + excluded.failed`;

/** Adds to the usage how requests ended that were debited. */
export async function addStatuses(
  { write }: Database,
  updates: readonly StatusUpdate[],
): Promise<void> {
  await write([{ sql: ADD_STATUSES, args: [STATUS_ROWS.serialize(updates)] }]);
}

/** A grant, or of an hour the refunds with one reason, or the debits of one key and endpoint. */
interface StatementLine {
  readonly hour: number;
  readonly kind: "grant" | "refund" | "debit";
  /** The instant of a grant; of debits and refunds the start of their hour. */
  readonly at: number;
  /** The key of debits, its first characters and its label. */
  readonly key: number | null;
  readonly beginsWith: string | null;
  readonly label: string | null;
  readonly endpoint: string | null;
  readonly requests: number | null;
  readonly amount: number;
  readonly balance: number;
  readonly reference: string | null;
  readonly reason: string | null;
}

const CREDITED = sql.raw(CREDIT_ENTRIES);
const USED = sql.raw(USAGE);

type HourRange = Readonly<Record<"since" | "until", number>>;

/** Reads the first whole hours of a statement, about `limit` lines, and the next page's start. */
export async function readStatement(
  database: Database,
  account: number,
  range: HourRange,
  limit: number,
) {
  const page = await readLines(database, account, range, limit + 1);
  const last = page.lines.at(limit);
  if (last === undefined) return { lines: addBalances(page), nextHour: undefined };
  // The hour of the line behind the limit is cut off. It is read whole if it is the only one.
  const first = page.lines[0]?.hour ?? range.since;
  const nextHour = last.hour === first ? first + 1 : last.hour;
  const whole = await readLines(database, account, { since: range.since, until: nextHour });
  return { lines: addBalances(whole), nextHour };
}

/** Reads lines in order, and the balance before them, as they are at one instant. */
async function readLines(
  { query }: Database,
  account: number,
  { since, until }: HourRange,
  limit = -1,
) {
  const [[opening], lines] = await query((drizzle) =>
    drizzle.batch([
      drizzle.all<{ balance: number }>(sql`
        SELECT
          (
            SELECT ifnull(sum(amount), 0)
            FROM ${CREDITED}
            WHERE account = ${account} AND hour < ${since}
          ) - (
            SELECT ifnull(sum(credits), 0)
            FROM ${USED}
            WHERE account = ${account} AND hour < ${since}
          ) AS balance`),
      drizzle.all<Omit<StatementLine, "balance">>(sql`
        WITH credited AS (
          SELECT *
          FROM ${CREDITED}
          WHERE account = ${account} AND hour >= ${since} AND hour < ${until}
        ),
        lines (hour, kind, at, key, endpoint, requests, amount, reference, reason, uid) AS (
          SELECT hour, kind, at, NULL, NULL, NULL, amount, reference, reason, uid
          FROM credited
          WHERE kind = 'grant'
          UNION ALL
          SELECT
            hour, kind, hour * ${HOUR_MS}, NULL, NULL,
            sum(requests), sum(amount), NULL, reason, NULL
          FROM credited
          WHERE kind = 'refund'
          GROUP BY hour, reason
          UNION ALL
          SELECT
            hour, 'debit', hour * ${HOUR_MS}, key, endpoint,
            sum(requests), sum(credits), NULL, NULL, NULL
          FROM ${USED}
          WHERE account = ${account} AND hour >= ${since} AND hour < ${until}
          GROUP BY hour, key, endpoint
        )
        SELECT
          hour, kind, at, key, begins_with AS beginsWith, label,
          endpoint, requests, amount, reference, reason
        FROM lines
        LEFT JOIN keys ON keys.id = lines.key
        ORDER BY hour, kind = 'debit', kind = 'refund', at, uid, key, endpoint, reason
        LIMIT ${limit}`),
    ]),
  );
  return { opening: opening?.balance ?? 0, lines };
}

function addBalances({ opening, lines }: Awaited<ReturnType<typeof readLines>>): StatementLine[] {
  let balance = opening;
  return lines.map((line) => {
    balance += line.kind === "debit" ? -line.amount : line.amount;
    return Object.assign(line, { balance });
  });
}
