/**
 * What is kept of the collection between two starts. Each write is one transaction and conditional
 * in SQL, so that it is exact with several services on one server as well.
 */
import { MINUTE_MS } from "../../../core/time.ts";
import type { CollectionState } from "../../ports/collection.ts";
import type { Database, Statement } from "../database/database.ts";
import { createSourceLimits } from "./source-limits.ts";
import { createTargetStore } from "./targets.ts";

/** Who is watched, by platform: a query of the identifiers that their targets have. */
const WATCH_LISTS = [
  ["microblog", "SELECT creator_folded AS id FROM creators WHERE platform = 'microblog'"],
  ["video", "SELECT channel AS id FROM tracked_channels"],
] as const;

/** What a database keeps of the collection. */
export function createCollectionState(database: Database): CollectionState {
  return {
    /**
     * Makes the targets follow the monitoring list, the tracked channels, and the clock where it
     * was ahead and was set right. It writes only where they differ.
     *
     * @param now Milliseconds since 1970 UTC.
     */
    async syncTargets(now: number): Promise<void> {
      const [difference] = await database.queryRows({ sql: SELECT_DIFFERENCE, args: [now] });
      if (Number(difference?.["differs"]) === 0) return;
      const statements = WATCH_LISTS.flatMap(([platform, list]) => [
        ...createSyncStatements(platform, list, now),
        { sql: CORRECT_DUE_TIMES, args: [platform, now] },
      ]);
      await database.write(statements, { durability: "configured", idempotent: true });
    },

    ...createTargetStore(database),
    ...createSourceLimits(database),
  };
}

/** The targets of `items` are who is observed now. */
const selectOwnersSql = (platform: string) =>
  `SELECT id FROM targets WHERE platform = '${platform}' AND task = 'items'`;

/**
 * By how much the clock was ahead, as far as profiles tell: they are asked for the most often, and
 * are due at once when they are added.
 */
const selectClockLeadSql = (platform: string, now: string) =>
  "SELECT max(max(ifnull(succeeded_at, iif(failed_at IS NULL, due_at, 0)), " +
  `ifnull(failed_at, 0))) - ${now} AS ms FROM targets ` +
  `WHERE platform = ${platform} AND task = 'profile'`;

/** Less than this is what the clocks of two services differ by, and delays nothing for long. */
const CLOCK_LEAD_MIN_MS = 10 * MINUTE_MS;

/**
 * Where the clock was ahead, what it made due is due earlier by as much, and by as much again: it
 * made items older than they are too, and their intervals longer. Done again it changes nothing
 * more: nothing was settled later than now any longer.
 */
const CORRECT_DUE_TIMES =
  "UPDATE targets SET due_at = due_at - 2 * ahead.ms, succeeded_at = min(succeeded_at, ?2), " +
  `failed_at = min(failed_at, ?2) FROM (${selectClockLeadSql("?1", "?2")}) AS ahead ` +
  `WHERE platform = ?1 AND ahead.ms > ${CLOCK_LEAD_MIN_MS}`;

const SELECT_DIFFERENCE = `SELECT ${WATCH_LISTS.flatMap(([platform, list]) => [
  `ifnull((${selectClockLeadSql(`'${platform}'`, "?1")}), 0) > ${CLOCK_LEAD_MIN_MS}`,
  `EXISTS (${list} EXCEPT ${selectOwnersSql(platform)})`,
  `EXISTS (${selectOwnersSql(platform)} EXCEPT ${list})`,
]).join(" OR ")} AS differs`;

function createSyncStatements(platform: string, list: string, now: number): Statement[] {
  return [
    {
      sql:
        "INSERT INTO targets (platform, task, id, due_at) " +
        `SELECT '${platform}', task, id, ? FROM (${list}) CROSS JOIN ` +
        "(SELECT 'profile' AS task UNION ALL SELECT 'items') WHERE true ON CONFLICT DO NOTHING",
      args: [now],
    },
    {
      sql:
        `DELETE FROM targets WHERE platform = '${platform}' ` +
        `AND owner IN (${selectOwnersSql(platform)} AND id NOT IN (${list}))`,
      args: [],
    },
    {
      sql:
        `DELETE FROM targets WHERE platform = '${platform}' ` +
        `AND task IN ('profile', 'items') AND id NOT IN (${list})`,
      args: [],
    },
  ];
}
