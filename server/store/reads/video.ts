/**
 * The reads of the video interface: the SQL that finds channels, the fields of channels and shorts,
 * and the pages of shorts. With these, other files read details, histories and lists.
 */
import { Type } from "@sinclair/typebox";
import type { EntityGains } from "../../../core/growth.ts";
import * as schema from "../../../core/resources/video.ts";
import type { ListedChannel, ShortDetails } from "../../../core/resources/generated/types.ts";
import type { KnownFields } from "../../../core/responses/entity-fields.ts";
import { createChannelMetrics, createShortMetrics } from "../../../core/responses/metrics.ts";
import { createChannelDetails, createShortsPage } from "../../../core/responses/video.ts";
import { formatInstant, LAST_INSTANT } from "../../../core/time.ts";
import type { DatabaseReads } from "../database/database.ts";
import { createOwnerTag, LIST_TAGS } from "../history/change-log.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { readChannelList } from "./lists/channel-list.ts";
import { createListRead } from "./lists/entity-lists.ts";
import { createTableRead } from "./lists/list-tables.ts";
import { createItemReads } from "./item-reads.ts";
import { createItemMetricsRead, createOwnerMetricsRead } from "./metrics.ts";
import { createOwnerRead, createOwnerReads, type Owner } from "./owners.ts";
import type { VideoReads } from "./read-types.ts";

/** `fromSql` restates core's `findChannel()`: see `tests/store/reads/channel-names.test.ts`. */
const CHANNELS: Owner<"channel", { channel: string }> = {
  kind: "channel",
  fromSql: (name, foldedName) => `
    FROM channels AS owner
    WHERE owner.key = coalesce(
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
    )`,
  nameSql: "ifnull(owner.username, owner.id)",
  createNameField: (channel) => ({ channel }),
  // Each change of a channel can give a username to another channel, but never an identifier.
  listTags: (name, id) => [
    ...(id === undefined ? [] : [createOwnerTag("channel", id)]),
    ...(name === id ? [] : [LIST_TAGS.channel]),
  ],
};

export function createVideoReads(database: DatabaseReads): VideoReads {
  const channels = createOwnerReads(database, CHANNELS, {
    fieldsSql: `json_object(
      'channel', ${fieldsJsonSql(Type.Omit(schema.ChannelDetails, ["statistics"]))},
      'gains', ${fieldsJsonSql(schema.ChannelDetails.properties.statistics)}
    )`,
    create: (fields: { readonly channel: KnownFields<"channel">; readonly gains: EntityGains }) =>
      createChannelDetails(fields.channel, fields.gains),
  });
  const shorts = createShortReads(database);
  return {
    channels: () => readChannelList(database),
    channelPage: createListRead(
      database,
      { owner: CHANNELS, summary: schema.ChannelSummary },
      (listed: ListedChannel[], pagination) => ({ channels: listed, pagination }),
    ),
    channelTable: createTableRead(database, "channel", CHANNELS, (rows, pagination) => ({
      channels: rows,
      pagination,
    })),
    channel: channels.details,
    channelBatch: channels.batch,
    channelComparison: channels.comparison,
    shorts: createShortsRead(database),
    shortTable: createTableRead(database, "short", CHANNELS, (rows, pagination) => ({
      shorts: rows,
      pagination,
    })),
    shortBatch: shorts.batch,
    shortComparison: shorts.comparison,
    short: shorts.details,
    channelHistory: channels.history,
    shortHistory: shorts.history,
    channelMetrics: createOwnerMetricsRead(database, CHANNELS, createChannelMetrics),
    shortMetrics: createItemMetricsRead(database, {
      kind: "short",
      owner: CHANNELS,
      createMetrics: createShortMetrics,
    }),
  };
}

interface ShortsRow {
  readonly channelId: string;
  readonly name: string;
  /** Arrays, because SQLite and JSON.parse() take 1.5 times as long for a page of objects. */
  readonly shorts: readonly (readonly [
    id: string,
    title: string | null,
    thumbnail: string | null,
    publishedAt: number,
    views: number | null,
    likes: number | null,
    comments: number | null,
  ])[];
}

/**
 * The SQL restates the selection and order of shorts in core;
 * `tests/store/reads/shorts-selection.test.ts` compares both.
 */
function createShortsRead(database: DatabaseReads): VideoReads["shorts"] {
  const readShorts = createOwnerRead<ShortsRow>(
    database,
    CHANNELS,
    `json_object(
      'channelId', owner.id,
      'name', ${CHANNELS.nameSql},
      'shorts', (
        SELECT json_group_array(json_array(
          id, title, thumbnail, published_at, views, likes, comments
        ))
        FROM (
          SELECT *
          FROM shorts
          WHERE channel_key = owner.key AND published_at < ?3 AND (published_at, id) < (?4, ?5)
          ORDER BY published_at DESC, id DESC
          LIMIT ?6
        )
      )
    )`,
  );
  return async (channel, request) => {
    const { limit, before = LAST_INSTANT + 1, after } = request;
    const { publishedAt: lastAt = LAST_INSTANT + 1, id: lastId = "" } = after ?? {};
    const row = await readShorts(channel, before, lastAt, lastId, limit + 1);
    const shorts = row.shorts.map((short) => {
      const [id, title, thumbnail, publishedAt, views, likes, comments] = short;
      return { id, title, thumbnail, publishedAt, views, likes, comments };
    });
    return {
      body: createShortsPage(row.name, shorts, request),
      tags: CHANNELS.listTags(channel, row.channelId),
    };
  };
}

type StoredShort = Omit<ShortDetails, "publishedAt" | "history"> & { readonly publishedAt: number };

const createShortReads = (database: DatabaseReads) =>
  createItemReads(database, {
    kind: "short",
    owner: CHANNELS,
    createIdField: (id) => ({ short_id: id }),
    fieldsSql: `json_object(
      'id', id,
      'title', title,
      'description', description,
      'publishedAt', published_at,
      'metrics', ${fieldsJsonSql(schema.ShortDetails.properties.metrics)}
    )`,
    pointFields: { timestamp: "at", views: "views", likes: "likes", comments: "comments" },
    createDetails: (short: StoredShort, history: ShortDetails["history"]): ShortDetails => ({
      ...short,
      publishedAt: formatInstant(short.publishedAt),
      history,
    }),
  });
