/**
 * What is kept of the collection between two starts. Each write is one transaction and conditional
 * in SQL, so that it is exact with several services on one server as well.
 */
import type { Statement } from "./connection.ts";
import type { Database } from "./database.ts";
import { sourceStore } from "./sources.ts";
import { targetStore } from "./targets.ts";

/** Who is watched, by platform: a query of the identifiers that their targets have. */
const LISTS = [
  ["microblog", "SELECT folded AS id FROM creators WHERE platform = 'microblog'"],
  ["video", "SELECT channel AS id FROM tracked_channels"],
] as const;

/** What a database keeps of the collection. */
export function collectionStore(database: Database) {
  return {
    /**
     * Makes the targets follow the monitoring list and the tracked channels. It writes only where
     * they differ.
     *
     * @param now Milliseconds since 1970 UTC.
     */
    async followLists(now: number): Promise<void> {
      const [difference] = await database.select(DIFFERENCE);
      if (Number(difference?.["differs"]) === 0) return;
      const statements = LISTS.flatMap(([platform, list]) => followList(platform, list, now));
      await database.write(statements, { isRelaxed: true, isRepeatable: true });
    },

    ...targetStore(database),
    ...sourceStore(database),
  };
}

/** The targets of `items` are who is observed now. */
const ownersOf = (platform: string) =>
  `SELECT id FROM targets WHERE platform = '${platform}' AND errand = 'items'`;

const DIFFERENCE = `SELECT ${LISTS.flatMap(([platform, list]) => [
  `EXISTS (${list} EXCEPT ${ownersOf(platform)})`,
  `EXISTS (${ownersOf(platform)} EXCEPT ${list})`,
]).join(" OR ")} AS differs`;

function followList(platform: string, list: string, now: number): Statement[] {
  return [
    {
      sql:
        "INSERT INTO targets (platform, errand, id, due_at) " +
        `SELECT '${platform}', errand, id, ? FROM (${list}) CROSS JOIN ` +
        "(SELECT 'profile' AS errand UNION ALL SELECT 'items') WHERE true ON CONFLICT DO NOTHING",
      args: [now],
    },
    {
      sql:
        `DELETE FROM targets WHERE platform = '${platform}' ` +
        `AND owner IN (${ownersOf(platform)} AND id NOT IN (${list}))`,
      args: [],
    },
    {
      sql:
        `DELETE FROM targets WHERE platform = '${platform}' ` +
        `AND errand IN ('profile', 'items') AND id NOT IN (${list})`,
      args: [],
    },
  ];
}
