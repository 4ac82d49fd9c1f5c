/** Reads what describes a channel, and finds which channel a name means. */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../../core/errors.ts";
import type { VideoReads } from "../../ports/reads.ts";
import { ChannelDetails } from "../../../core/schema/video.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstantOrNull } from "../../../core/time.ts";
import type { Database } from "../database/database.ts";
import { createChannelTag, CHANNELS_TAG } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";

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

export function createShortNotFoundError(channel: string, id: string): DomainError {
  return new DomainError("Short Not Found", `Short ${id} not found for channel ${channel}`);
}

/** Any channel that changes can change what a username means, but not what an identifier means. */
export function createChannelTags(name: string, id: string): string[] {
  return name === id ? [createChannelTag(id)] : [createChannelTag(id), CHANNELS_TAG];
}

const SELECT_CHANNEL = `
  SELECT json_object(
    'observedAt', observed_at,
    'channel', ${fieldsJsonSql(Type.Omit(ChannelDetails, ["statistics"]))},
    'statistics', json_object(
      'dailySubscriberGain', daily_gain,
      'weeklySubscriberGain', weekly_gain,
      'monthlySubscriberGain', monthly_gain
    )
  )
  ${FROM_CHANNEL}`;

interface ChannelRow extends Pick<ChannelDetails, "statistics"> {
  readonly observedAt: number;
  readonly channel: Omit<ChannelDetails, "joinedAt" | "statistics"> & {
    readonly joinedAt: number | null;
  };
}

export function createChannelRead(database: Database): VideoReads["channel"] {
  return async (name) => {
    const row = await database.queryJson<ChannelRow>(SELECT_CHANNEL, [name, foldCase(name)]);
    if (row === undefined) throw createChannelNotFoundError(name);
    const { observedAt, channel, statistics } = row;
    return {
      body: { ...channel, joinedAt: formatInstantOrNull(channel.joinedAt), statistics },
      tags: createChannelTags(name, channel.id),
      observedAt,
    };
  };
}
