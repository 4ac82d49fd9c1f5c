/** Reads what accounts used. */
import { and, between, eq, sql } from "drizzle-orm";
import type { UsageDay, DayRange } from "../../ports/ledger.ts";
import type { Database } from "../database/database.ts";
import { usage } from "../tables/account-tables.ts";

/** Reads what an account used by day; days without use are left out. */
export async function readUsage(
  { query }: Database,
  account: number,
  { first, last }: DayRange,
): Promise<UsageDay[]> {
  const day = sql<number>`${usage.hour} / 24`;
  return query((drizzle) =>
    drizzle
      .select({
        day,
        requests: sql<number>`sum(${usage.requests})`,
        credits: sql<number>`sum(${usage.credits})`,
        refunded: sql<number>`sum(${usage.refunded})`,
      })
      .from(usage)
      .where(and(eq(usage.account, account), between(usage.hour, first * 24, last * 24 + 23)))
      .groupBy(day)
      .orderBy(day),
  );
}
