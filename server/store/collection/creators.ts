/**
 * Stores the monitoring list. Each operation is one transaction, also among several processes, so
 * the conditions of core's `addCreator()` and `removeCreator()` are in SQL;
 * `tests/store/collection/creators.test.ts` compares both.
 */
import { createCreatorError, createCreatorListFullError } from "../../../core/creators.ts";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { INTEGER_MAX } from "../../../core/limits.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant } from "../../../core/time.ts";
import type { CreatorRequest, ListedCreator } from "../../../core/resources/generated/types.ts";
import { writeNamed, type Database } from "../database/database.ts";
import {
  selectTargetStatusesSql,
  toCollectionStatus,
  type TargetStatus,
} from "./collection-status.ts";

const COUNT_CREATORS = { sql: "SELECT count(*) AS total FROM creators", args: [] };

const INSERT_CREATOR = `
  INSERT INTO creators (platform, creator_folded, creator, added_at)
  SELECT ?, ?, ?, ?
  WHERE (SELECT count(*) FROM creators) < ?
  ON CONFLICT DO NOTHING
  RETURNING creator`;

const SELECT_CREATOR = `
  SELECT creator
  FROM creators
  WHERE platform = ? AND creator_folded = ?`;

const DELETE_CREATOR = `
  DELETE FROM creators
  WHERE platform = ? AND creator_folded = ?
  RETURNING creator`;

/** Creators that are read at once. */
const PAGE_CREATORS = 100;

const SELECT_PAGE = `
  SELECT json_group_array(json_object(
    'platform', platform,
    'creatorFolded', creator_folded,
    'creator', creator,
    'addedAt', added_at,
    'targets', ${selectTargetStatusesSql("listed.platform", "listed.creator_folded")}
  ))
  FROM (
    SELECT *
    FROM creators
    WHERE (platform, creator_folded) > (?1, ?2)
    ORDER BY platform, creator_folded
    LIMIT ?3
  ) AS listed`;

interface CreatorRow extends Pick<ListedCreator, "platform" | "creator"> {
  readonly creatorFolded: string;
  readonly addedAt: number;
  readonly targets: readonly TargetStatus[];
}

// Each poll of a creator moves the due time of its target.
const SELECT_VERSION = `
  SELECT json_quote(
    count(*) || ' ' || ifnull(sum(added_at), 0) || ' ' || (
      SELECT ifnull(sum(due_at), 0)
      FROM targets
      WHERE platform = 'microblog' AND task IN ('profile', 'items')
    )
  )
  FROM creators`;

interface CreatorStoreOptions {
  /** How many creators the list holds at most. */
  readonly max?: number | undefined;
  /** Why the active source cannot have a creator; `undefined` if it can. */
  explainUncollectable?(username: string): string | undefined;
  /** Why no creator is collected; `undefined` if they are. */
  readonly idleReason?: string | undefined;
}

export type MonitoringListStore = ReturnType<typeof createCreatorStore>;

export function createCreatorStore(database: Database, options: CreatorStoreOptions = {}) {
  const { max = INTEGER_MAX, explainUncollectable, idleReason } = options;
  // Part of the version, because an addition and a removal in one millisecond can cancel out there.
  let changeCount = 0;

  function toListedCreator({ platform, creator, addedAt, targets }: CreatorRow): ListedCreator {
    const status = toCollectionStatus(targets, idleReason);
    // No attempt has to find out that the source cannot have the creator.
    const failure = status.failure ?? explainUncollectable?.(creator) ?? null;
    return { creator, platform, added_at: formatInstant(addedAt), ...status, failure };
  }

  return {
    async add(creator: CreatorRequest, now: number) {
      const identity = [creator.platform, foldCase(creator.creator)];
      const { added, counted, listed } = await writeNamed(database, {
        added: { sql: INSERT_CREATOR, args: [...identity, creator.creator, now, max] },
        counted: COUNT_CREATORS,
        listed: { sql: SELECT_CREATOR, args: identity },
      });
      const spelling = listed[0]?.["creator"];
      if (spelling === undefined) throw createCreatorListFullError(max);
      if (added.length === 0) {
        const existing = { ...creator, creator: String(spelling) };
        throw createCreatorError("Creator Already Exists", existing);
      }
      changeCount++;
      return { creator: String(spelling), total: Number(counted[0]?.["total"]) };
    },

    async remove(creator: CreatorRequest) {
      const { removed, counted } = await writeNamed(database, {
        removed: { sql: DELETE_CREATOR, args: [creator.platform, foldCase(creator.creator)] },
        counted: COUNT_CREATORS,
      });
      const spelling = removed[0]?.["creator"];
      if (spelling === undefined) throw createCreatorError("Creator Not Found", creator);
      changeCount++;
      return { creator: String(spelling), total: Number(counted[0]?.["total"]) };
    },

    /** Other requests are served between pages: a creator that they add or remove may be missing. */
    async *pages() {
      let last: CreatorRow | undefined;
      do {
        if (last !== undefined) await yieldToEventLoop();
        const after = [last?.platform ?? "", last?.creatorFolded ?? ""];
        const args = [...after, PAGE_CREATORS];
        const rows = (await database.queryJson<CreatorRow[]>(SELECT_PAGE, args)) ?? [];
        if (rows.length > 0) yield rows.map(toListedCreator);
        last = rows.length === PAGE_CREATORS ? rows.at(-1) : undefined;
      } while (last !== undefined);
    },

    /** Differs from an earlier value when creators were added, removed or observed since. */
    async version() {
      return `${changeCount} ${await database.queryJson<string>(SELECT_VERSION, [])}`;
    },
  };
}
