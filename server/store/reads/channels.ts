/** Reads what describes a channel, and finds which channel a name means. */
import { Type } from "@sinclair/typebox";
import { createChannelNotFoundError } from "../../../core/errors.ts";
import type { EntityGains } from "../../../core/growth.ts";
import type { VideoReads } from "./read-types.ts";
import * as schema from "../../../core/schema/video.ts";
import {
  createChannelDetails,
  type ChannelFields,
} from "../../../core/resources/video-resources.ts";
import { foldCase } from "../../../core/text.ts";
import type { Database } from "../database/database.ts";
import { createChannelTag, CHANNELS_TAG } from "../history/change-log.ts";
import { fieldsJsonSql, jsonExtractSql } from "../tables/entity-sql.ts";

/**
 * Finds the channel of a name. It restates core's `findChannel()`;
 * `tests/store/reads/channel-names.test.ts` compares both.
 */
const fromChannelSql = (name: string, foldedName: string) => `
  FROM channels AS named
  WHERE named.key = coalesce(
    (
      SELECT key
      FROM channels
      WHERE id = ${name} AND observed_at IS NOT NULL
    ),
    (
      SELECT key
      FROM channels
      WHERE username_folded = ${foldedName} AND observed_at IS NOT NULL
      ORDER BY observed_at DESC, id
      LIMIT 1
    )
  )`;

/** The channel of the name `?1`, folded `?2`. */
export const FROM_CHANNEL = fromChannelSql("?1", "?2");

/**
 * Selects a JSON value for each name of `?1`, a JSON array of pairs of a name and that name folded;
 * `null` for a name without a channel. One statement takes a fraction of the time of many.
 */
export const selectChannelsSql = (jsonSql: string) => `
  SELECT json_group_array((
    SELECT ${jsonSql}
    ${fromChannelSql(jsonExtractSql(0, "pair.value"), jsonExtractSql(1, "pair.value"))}
  ))
  FROM json_each(?1) AS pair`;

/** Serializes names for the argument of {@link selectChannelsSql}. */
export function serializeChannelNames(names: readonly string[]): string {
  return JSON.stringify(names.map((name) => [name, foldCase(name)]));
}

/** Any channel that changes can change what a username means, but not what an identifier means. */
export function createChannelTags(name: string, id: string): string[] {
  return name === id ? [createChannelTag(id)] : [createChannelTag(id), CHANNELS_TAG];
}

const CHANNEL_JSON = `
  json_object(
    'observedAt', observed_at,
    'channel', ${fieldsJsonSql(Type.Omit(schema.ChannelDetails, ["statistics"]))},
    'gains', json_object(
      'dailyGain', daily_gain,
      'weeklyGain', weekly_gain,
      'monthlyGain', monthly_gain
    )
  )`;

const SELECT_CHANNEL = `SELECT ${CHANNEL_JSON} ${FROM_CHANNEL}`;

const SELECT_CHANNELS = selectChannelsSql(CHANNEL_JSON);

interface ChannelRow {
  readonly observedAt: number;
  readonly channel: ChannelFields;
  readonly gains: EntityGains;
}

export function createChannelRead(database: Database): VideoReads["channel"] {
  return async (name) => {
    const row = await database.queryJson<ChannelRow>(SELECT_CHANNEL, [name, foldCase(name)]);
    if (row === undefined) throw createChannelNotFoundError(name);
    return {
      body: createChannelDetails(row.channel, row.gains),
      tags: createChannelTags(name, row.channel.id),
      observedAt: row.observedAt,
    };
  };
}

export function createChannelBatchRead(database: Database): VideoReads["channelBatch"] {
  return async (names) => {
    type Rows = readonly (ChannelRow | null)[];
    const rows = await database.queryJson<Rows>(SELECT_CHANNELS, [serializeChannelNames(names)]);
    return names.map((name, index) => {
      const row = rows?.[index] ?? null;
      return row === null
        ? createChannelNotFoundError(name)
        : createChannelDetails(row.channel, row.gains);
    });
  };
}
