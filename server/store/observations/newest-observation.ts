/** How far the data reaches. */
import type { Database } from "../database/database.ts";

/** The instant of the newest observation, in milliseconds; `undefined` where there is none. */
export async function readNewestObservedAt(database: Database): Promise<number | undefined> {
  const [row] = await database.queryRows(
    "SELECT max(at) AS at FROM (SELECT max(observed_at) AS at FROM channels UNION ALL " +
      "SELECT max(observed_at) FROM shorts UNION ALL SELECT max(observed_at) FROM users " +
      "UNION ALL SELECT max(observed_at) FROM tweets)",
  );
  const at = row?.["at"];
  return typeof at === "number" ? at : undefined;
}
