/** Forecasts when the credits of accounts run out, if they go on as in the last days. */
import { sql } from "drizzle-orm";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { accounts } from "../tables/account-tables.ts";
import { RECENT_HOUR } from "./usage-sql.ts";

/** The use of the last days counts; of a newer account, that since its first debit then. */
const USED_HOURS_MAX = (7 * DAY_MS) / HOUR_MS;
const USED_HOURS_MIN = DAY_MS / HOUR_MS;

export interface CreditForecast {
  readonly account: string;
  /** The time until the balance is 0, in seconds. */
  readonly secondsLeft: number;
}

/** Forecasts the accounts that run out first. One that used nothing lately has no forecast. */
export async function forecastCredits(
  { query }: Database,
  now: number,
  max: number,
): Promise<CreditForecast[]> {
  const hour = Math.floor(now / HOUR_MS);
  const since = hour - USED_HOURS_MAX + 1;
  const recentHour = sql.raw(RECENT_HOUR);
  // Of each account, it reads only the usage of these days: the primary key begins with both.
  const lately = sql`FROM usage WHERE usage.account = accounts.id AND hour >= ${since}`;
  const spent = sql`(
    (SELECT ifnull(sum(credits - refunded), 0) ${lately})
    + iif(${recentHour} >= ${since}, recent_credits, 0)
  )`;
  const firstHour = sql`ifnull((SELECT min(hour) ${lately}), ${recentHour})`;
  const hours = sql`max(${USED_HOURS_MIN}, ${hour} - ${firstHour} + 1)`;
  const secondsLeft = sql<number>`${accounts.balance} * 3600.0 * ${hours} / ${spent}`;
  // A batch is read by another thread: the usage of many accounts can take a while.
  const [rows] = await query((drizzle) =>
    drizzle.batch([
      drizzle
        .select({ account: accounts.name, secondsLeft })
        .from(accounts)
        .where(sql`${spent} > 0`)
        .orderBy(secondsLeft, accounts.name)
        .limit(max),
    ]),
  );
  return rows;
}
