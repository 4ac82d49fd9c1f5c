/** The monitoring list in the database; each operation is one transaction. */
import {
  creatorExistsError,
  creatorListFullError,
  creatorNotFoundError,
  type Creator,
} from "../../../core/creators.ts";
import { MAX_INTEGER } from "../../../core/limits.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import type { CreatorChange, ListedCreator, MonitoringListStore } from "../../ports/collection.ts";
import type { Database } from "../database/database.ts";
import { scanPages } from "../database/paged-scan.ts";
import { selectCollectionStatusSql, parseCollectionStatus } from "./collection-status.ts";

/**
 * The monitoring list of a database; `now` is in milliseconds since 1970 UTC.
 *
 * @param max How many creators it holds at most. `core`'s `addCreator()` has the same rule; the
 * test of this file holds both together.
 */
export function createCreatorStore(
  database: Database,
  max: number = MAX_INTEGER,
): MonitoringListStore {
  /** Those that were made here: two in one millisecond may cancel out in {@link SELECT_VERSION}. */
  let changeCount = 0;
  const countStatement = { sql: "SELECT count(*) AS total FROM creators", args: [] };
  return {
    /** @throws {DomainError} `Creator Already Exists`, `Creator List Full`. */
    async add(creator: Creator, now: number): Promise<CreatorChange> {
      const identity = [creator.platform, foldCase(creator.creator)];
      const [added, counted, listed] = await database.write([
        {
          sql:
            "INSERT INTO creators (platform, creator_folded, creator, added_at) SELECT ?, ?, ?, ? " +
            "WHERE (SELECT count(*) FROM creators) < ? ON CONFLICT DO NOTHING RETURNING creator",
          args: [...identity, creator.creator, now, max],
        },
        countStatement,
        {
          sql: "SELECT creator FROM creators WHERE platform = ? AND creator_folded = ?",
          args: identity,
        },
      ]);
      const spelt = listed?.rows[0]?.["creator"];
      if (spelt === undefined) throw creatorListFullError(max);
      if (added?.rows.length !== 1)
        throw creatorExistsError({ ...creator, creator: String(spelt) });
      changeCount++;
      return { creator: String(spelt), total: Number(counted?.rows[0]?.["total"]) };
    },

    /** @throws {DomainError} `Creator Not Found`. */
    async remove(creator: Creator): Promise<CreatorChange> {
      const [removed, counted] = await database.write([
        {
          sql: "DELETE FROM creators WHERE platform = ? AND creator_folded = ? RETURNING creator",
          args: [creator.platform, foldCase(creator.creator)],
        },
        countStatement,
      ]);
      const spelt = removed?.rows[0]?.["creator"];
      if (spelt === undefined) throw creatorNotFoundError(creator);
      changeCount++;
      return { creator: String(spelt), total: Number(counted?.rows[0]?.["total"]) };
    },

    /** The list in pages, by platform and username, and how the collection of each stands. */
    async *pages(): AsyncGenerator<ListedCreator[]> {
      const pages = scanPages(PAGE_CREATORS, (after: CreatorRow | undefined) =>
        database.queryJson<CreatorRow[]>(SELECT_PAGE, [
          after?.platform ?? "",
          after?.folded ?? "",
          PAGE_CREATORS,
        ]),
      );
      for await (const rows of pages) yield rows.map(toListedCreator);
    },

    /** Differs from an earlier one where creators were added, removed or observed since. */
    async version(): Promise<string> {
      return `${changeCount} ${await database.queryJson<string>(SELECT_VERSION, [])}`;
    },
  };
}

interface CreatorRow {
  readonly platform: string;
  readonly folded: string;
  readonly creator: string;
  readonly addedAt: number;
  /** For {@link parseCollectionStatus}. */
  readonly standing: string;
}

function toListedCreator({ platform, creator, addedAt, standing }: CreatorRow): ListedCreator {
  return {
    creator,
    platform,
    added_at: formatInstant(addedAt),
    ...parseCollectionStatus(standing).status,
  };
}

/** Creators that are read in one step. */
const PAGE_CREATORS = 100;

// The standing is a text within the JSON: joined with another one, it is no JSON to SQLite.
const SELECT_PAGE =
  "SELECT json_group_array(json_object('platform', platform, 'folded', creator_folded, " +
  "'creator', creator, 'addedAt', added_at, 'standing', '' || " +
  `${selectCollectionStatusSql("listed.platform", "listed.creator_folded")})) ` +
  "FROM (SELECT * FROM creators WHERE (platform, creator_folded) > (?1, ?2) " +
  "ORDER BY platform, creator_folded LIMIT ?3) AS listed";

// Every attempt to observe a creator makes a target of it due at another time.
const SELECT_VERSION =
  "SELECT json_quote(count(*) || ' ' || ifnull(sum(added_at), 0) || ' ' || " +
  "(SELECT ifnull(sum(due_at), 0) FROM targets WHERE platform = 'microblog' " +
  "AND task IN ('profile', 'items'))) FROM creators";
