/**
 * The watch lists: the monitored creators and the tracked channels, with the collecting status of
 * each. An operation is one transaction, because several processes may use the database. So the
 * conditions of core's `addCreator()` and `removeCreator()` are in SQL;
 * `tests/store/collection/creators.test.ts` compares both.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { createCreatorError, createCreatorListFullError } from "../../../core/creators.ts";
import { DomainError } from "../../../core/errors.ts";
import { INTEGER_MAX } from "../../../core/limits.ts";
import type { CreatorRequest, ListedCreator } from "../../../core/resources/generated/types.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant, formatInstantOrNull } from "../../../core/time.ts";
import type { SourceState } from "../../collectors/collector.ts";
import { writeNamed, type Database } from "../database/database.ts";

/** A target, as {@link selectTargetStatusesSql} selects it. */
interface TargetStatus {
  readonly succeededAt: number | null;
  readonly failedAt: number | null;
  readonly failure: string | null;
  /** Since the last success. */
  readonly failures: number;
  readonly dueAt: number;
  readonly sourceState: SourceState;
}

/** A scalar subquery of the JSON array of {@link TargetStatus}, for the platform and id as SQL. */
const selectTargetStatusesSql = (platform: string, id: string) => `(
    SELECT json_group_array(json_object(
      'succeededAt', succeeded_at, 'failedAt', failed_at, 'failure', failure,
      'failures', failures, 'dueAt', due_at, 'sourceState', json(source_state)
    ))
    FROM (
      SELECT *
      FROM targets
      WHERE platform = ${platform} AND task IN ('profile', 'items') AND targets.id = ${id}
      ORDER BY task
    )
  )`;

/** Creators that are read at once. */
const PAGE_CREATORS = 100;
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
  readonly max?: number | undefined;
  explainUncollectable?(username: string): string | undefined;
  /** Why no creator is collected; `undefined` if creators are collected. */
  readonly idleReason?: string | undefined;
}

export type MonitoringListStore = ReturnType<typeof createCreatorStore>;

export function createCreatorStore(database: Database, options: CreatorStoreOptions = {}) {
  const { max = INTEGER_MAX, explainUncollectable, idleReason } = options;
  // Part of the version: in SQL, an addition and a removal in one millisecond can cancel out.
  let changeCount = 0;

  function toListedCreator({ platform, creator, addedAt, targets }: CreatorRow): ListedCreator {
    const status = toCollectionStatus(targets, idleReason);
    // Known without a poll: that the source cannot have the creator.
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

    /** Other requests run between pages: a creator that they add or remove may be missing. */
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

const INSERT_CHANNEL = `
  INSERT INTO tracked_channels (key, channel, added_at)
  VALUES (?, ?, ?)
  ON CONFLICT DO NOTHING
  RETURNING channel`;

const SELECT_TRACKED_CHANNELS = `
  SELECT json_group_array(json_object(
    'channel', channel,
    'addedAt', added_at,
    'targets', ${selectTargetStatusesSql("'video'", "tracked.channel")}
  ))
  FROM (SELECT * FROM tracked_channels ORDER BY key) AS tracked`;

const isHandle = (channel: string) => channel.startsWith("@");

/** Equal for two spellings of one handle. The case of an identifier counts. */
const getKey = (channel: string) => (isHandle(channel) ? foldCase(channel) : channel);

export function createTrackedChannelStore(database: Database, idleReason?: string) {
  return {
    async track(channel: string, now: number) {
      const key = getKey(channel);
      const { added, listed } = await writeNamed(database, {
        added: { sql: INSERT_CHANNEL, args: [key, channel, now] },
        listed: { sql: "SELECT channel FROM tracked_channels WHERE key = ?", args: [key] },
      });
      if (added.length === 1) return;
      const storedChannel = listed[0]?.["channel"] ?? channel;
      throw new DomainError("Conflict", `Channel ${storedChannel} is tracked already`);
    },

    async untrack(channel: string) {
      const sql = "DELETE FROM tracked_channels WHERE key = ? RETURNING channel";
      const [removed] = await database.write([{ sql, args: [getKey(channel)] }]);
      const storedChannel = removed?.rows[0]?.["channel"];
      if (storedChannel !== undefined) return String(storedChannel);
      throw new DomainError("Channel Not Found", `Channel ${channel} is not tracked`);
    },

    async list() {
      const rows = await database.queryJson<TrackedChannelRow[]>(SELECT_TRACKED_CHANNELS, []);
      return (rows ?? []).map((row) => toTrackedChannel(row, idleReason));
    },
  };
}

type TrackedChannelRow = Pick<CreatorRow, "addedAt" | "targets"> & { readonly channel: string };

function toTrackedChannel(
  { channel, addedAt, targets }: TrackedChannelRow,
  idleReason: string | undefined,
) {
  // The source state of a handle's targets holds the identifier that the handle was resolved to.
  const [resolved = null] = targets.flatMap(({ sourceState }) => sourceState["channel"] ?? []);
  return {
    /** A handle or an identifier, as it was given. */
    channel,
    /** Its identifier, once it is known. */
    channel_id: isHandle(channel) ? resolved : channel,
    added_at: formatInstant(addedAt),
    ...toCollectionStatus(targets, idleReason),
  };
}

/** Summarizes the targets of a creator or channel; without any, `idleReason` is the failure. */
function toCollectionStatus(targets: readonly TargetStatus[], idleReason: string | undefined) {
  // The order of the tasks puts the profile last: if both failed at one instant, its reason says
  // more.
  const lastFailing = targets
    .filter(({ failures }) => failures > 0)
    .toSorted((a, b) => (a.failedAt ?? 0) - (b.failedAt ?? 0))
    .at(-1);
  const successes = targets.flatMap(({ succeededAt }) => succeededAt ?? []);
  const dueTimes = targets.map(({ dueAt }) => dueAt);
  const failure = lastFailing?.failure ?? (targets.length === 0 ? idleReason : undefined);
  return {
    last_success: formatInstantOrNull(successes.length === 0 ? null : Math.max(...successes)),
    last_failure: formatInstantOrNull(lastFailing?.failedAt ?? null),
    failure: failure ?? null,
    next_due: formatInstantOrNull(dueTimes.length === 0 ? null : Math.min(...dueTimes)),
  };
}
