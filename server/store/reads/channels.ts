/** Reads what describes a channel, and finds which channel a name means. */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../../core/errors.ts";
import {
  GAIN_DAYS,
  computeBaselineRange,
  computeSubscriberGains,
  type TimeRange,
} from "../../../core/growth.ts";
import type { VideoReads } from "../../ports/reads.ts";
import { ChannelDetails } from "../../../core/schema/video.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { createChannelTag, CHANNELS_TAG } from "../history/change-log.ts";
import { decodeChunks, type Chunk } from "../history/chunk-codec.ts";
import { selectChunksSql, selectChunkStartSql } from "../history/chunk-sql.ts";
import { fieldsJsonSql, KIND_TABLES } from "../tables/entity-sql.ts";

/**
 * Finds the channel whose identifier is `?1` or whose folded username is `?2`: an identifier wins,
 * then the channel observed last, then the smaller identifier.
 */
export const FROM_CHANNEL = `
  FROM (
    SELECT *
    FROM channels
    WHERE (id = ?1 OR username_folded = ?2) AND observed_at IS NOT NULL
    ORDER BY id = ?1 DESC, observed_at DESC, id
    LIMIT 1
  ) AS named`;

export function createChannelNotFoundError(name: string): DomainError {
  return new DomainError("Channel Not Found", `Channel ${name} not found`);
}

/** Any channel that changes can change what a username means, but not what an identifier means. */
export function createChannelTags(name: string, id: string): string[] {
  return name === id ? [createChannelTag(id)] : [createChannelTag(id), CHANNELS_TAG];
}

// The history that the gains need, as offsets from the newest observation.
const BASELINE_RANGES = Object.values(GAIN_DAYS).map((days) => computeBaselineRange(0, days));
const BASELINE_FROM = Math.min(...BASELINE_RANGES.map(({ from }) => from));
const BASELINE_TO = Math.max(...BASELINE_RANGES.map(({ to }) => to));

const BASELINE_START = `named.observed_at + ${BASELINE_FROM}`;
const SELECT_BASELINE_CHUNKS = selectChunksSql(
  KIND_TABLES.channel,
  "named.key",
  `start BETWEEN ${selectChunkStartSql(KIND_TABLES.channel, "named.key", BASELINE_START)}
    AND named.observed_at + ${BASELINE_TO}`,
);

const SELECT_CHANNEL = `
  SELECT json_object(
    'observedAt', observed_at,
    'baselineChunks', ${SELECT_BASELINE_CHUNKS},
    'channel', ${fieldsJsonSql(Type.Omit(ChannelDetails, ["statistics"]))}
  )
  ${FROM_CHANNEL}`;

interface ChannelRow {
  readonly observedAt: number;
  readonly baselineChunks: readonly Chunk[];
  readonly channel: Omit<ChannelDetails, "joinedAt" | "statistics"> & {
    readonly joinedAt: number | null;
  };
}

export function createChannelRead(database: Database): VideoReads["channel"] {
  return async (name) => {
    const row = await database.queryJson<ChannelRow>(SELECT_CHANNEL, [name, foldCase(name)]);
    if (row === undefined) throw createChannelNotFoundError(name);
    const { observedAt, baselineChunks, channel } = row;
    const points = decodeChunks(baselineChunks, KIND_TABLES.channel.counts.length);
    // The first count of a channel is its subscribers.
    const findNewestCount = ({ from, to }: TimeRange) =>
      points.findLast(({ at, counts: [count] }) => at >= from && at <= to && count !== null)
        ?.counts[0] ?? null;
    const newest = { at: observedAt, count: channel.subscribers };
    return {
      body: {
        ...channel,
        joinedAt: formatInstantOrNull(channel.joinedAt),
        statistics: computeSubscriberGains(newest, findNewestCount),
      },
      tags: createChannelTags(name, channel.id),
    };
  };
}
