/** The monitoring list in the database; each operation is one transaction. */
import {
  creatorExists,
  creatorListFull,
  creatorNotFound,
  type Creator,
} from "../../core/creators.ts";
import { MAX_WHOLE } from "../../core/limits.ts";
import type { CreatorList } from "../../core/schema/creators.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { standingColumn, standingOf } from "./standing.ts";

/** What an operation made of the list. */
export interface CreatorChange {
  /** As the list spells it. */
  readonly creator: string;
  /** Size of the list after the operation. */
  readonly total: number;
}

/**
 * The monitoring list of a database; `now` is in milliseconds since 1970 UTC.
 *
 * @param max How many creators it holds at most. `core`'s `addCreator()` has the same rule; the
 * test of this file holds both together.
 */
export function creatorStore(database: Database, max: number = MAX_WHOLE) {
  const total = { sql: "SELECT count(*) AS total FROM creators", args: [] };
  return {
    /** @throws {DomainError} `Creator Already Exists`, `Creator List Full`. */
    async add(creator: Creator, now: number): Promise<CreatorChange> {
      const identity = [creator.platform, foldCase(creator.creator)];
      const [added, counted, listed] = await database.write([
        {
          sql:
            "INSERT INTO creators (platform, folded, creator, added_at) SELECT ?, ?, ?, ? " +
            "WHERE (SELECT count(*) FROM creators) < ? ON CONFLICT DO NOTHING RETURNING creator",
          args: [...identity, creator.creator, now, max],
        },
        total,
        { sql: "SELECT creator FROM creators WHERE platform = ? AND folded = ?", args: identity },
      ]);
      const spelt = listed?.rows[0]?.["creator"];
      if (spelt === undefined) throw creatorListFull(max);
      if (added?.rows.length !== 1) throw creatorExists({ ...creator, creator: String(spelt) });
      return { creator: String(spelt), total: Number(counted?.rows[0]?.["total"]) };
    },

    /** @throws {DomainError} `Creator Not Found`. */
    async remove(creator: Creator): Promise<CreatorChange> {
      const [removed, counted] = await database.write([
        {
          sql: "DELETE FROM creators WHERE platform = ? AND folded = ? RETURNING creator",
          args: [creator.platform, foldCase(creator.creator)],
        },
        total,
      ]);
      const spelt = removed?.rows[0]?.["creator"];
      if (spelt === undefined) throw creatorNotFound(creator);
      return { creator: String(spelt), total: Number(counted?.rows[0]?.["total"]) };
    },

    /** The whole list, by platform and username, and how the collection of each stands. */
    async list(): Promise<CreatorList> {
      const rows = await database.select(LIST);
      return {
        creators: rows.map((row) => ({
          creator: String(row["creator"]),
          platform: String(row["platform"]),
          added_at: formatInstant(Number(row["added_at"])),
          ...standingOf(row["standing"]).told,
        })),
        total_creators: rows.length,
      };
    },
  };
}

const LIST =
  "SELECT creator, platform, added_at, " +
  `${standingColumn("creators.platform", "creators.folded")} AS standing ` +
  "FROM creators ORDER BY platform, folded";
