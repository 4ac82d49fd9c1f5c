/** Reads of the video interface. Each is one SQL statement that returns one JSON text. */
import { cutPage, encodeShortsCursor } from "../../../core/cursor.ts";
import { createChannelNotFoundError, createShortNotFoundError } from "../../../core/errors.ts";
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import * as schema from "../../../core/schema/video.ts";
import type { ShortDetails } from "../../../core/resources/mod.ts";
import { createShortSummary } from "../../../core/resources/video-resources.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant, LAST_INSTANT } from "../../../core/time.ts";
import type { VideoReads } from "./read-types.ts";
import type { Database } from "../database/database.ts";
import { createHistoryReader, type HistoryRow } from "../history/thinned-history.ts";
import { fieldsJsonSql } from "../tables/entity-sql.ts";
import { createChannelComparisonRead } from "./comparisons.ts";
import { readChannelList } from "./channel-list.ts";
import { createChannelPageRead } from "./entity-lists.ts";
import { createChannelHistoryRead, createShortHistoryRead } from "./histories.ts";
import {
  createChannelTags,
  FROM_CHANNEL,
  createChannelRead,
  createChannelBatchRead,
} from "./channels.ts";

export function createVideoReads(database: Database): VideoReads {
  return {
    channels: () => readChannelList(database),
    channelPage: createChannelPageRead(database),
    channel: createChannelRead(database),
    channelBatch: createChannelBatchRead(database),
    channelComparison: createChannelComparisonRead(database),
    shorts: createShortsRead(database),
    short: createShortRead(database),
    channelHistory: createChannelHistoryRead(database),
    shortHistory: createShortHistoryRead(database),
  };
}

/**
 * Restates core's `compareShortPositions()` and `isShortSelected()`;
 * `tests/store/reads/shorts-selection.test.ts` compares both.
 */
// The shorts are arrays: as objects, SQLite and JSON.parse() take half as long again for a page.
const SELECT_SHORTS = `
  SELECT json_object(
    'channelId', named.id,
    'username', named.username,
    'shorts', (
      SELECT json_group_array(json_array(
        id, title, thumbnail, published_at, views, likes, comments
      ))
      FROM (
        SELECT *
        FROM shorts
        WHERE channel_key = named.key AND published_at < ?3 AND (published_at, id) < (?4, ?5)
        ORDER BY published_at DESC, id DESC
        LIMIT ?6
      )
    )
  )
  ${FROM_CHANNEL}`;

interface ShortsRow {
  readonly channelId: string;
  readonly username: string | null;
  readonly shorts: readonly ShortRow[];
}

type ShortRow = readonly [
  id: string,
  title: string | null,
  thumbnail: string | null,
  publishedAt: number,
  views: number | null,
  likes: number | null,
  comments: number | null,
];

function toShortFields(row: ShortRow) {
  const [id, title, thumbnail, publishedAt, views, likes, comments] = row;
  return { id, title, thumbnail, publishedAt, views, likes, comments };
}

function createShortsRead(database: Database): VideoReads["shorts"] {
  return async (name, { limit, before = LAST_INSTANT + 1, after }) => {
    const row = await database.queryJson<ShortsRow>(SELECT_SHORTS, [
      name,
      foldCase(name),
      before,
      after?.publishedAt ?? LAST_INSTANT + 1,
      after?.id ?? "",
      limit + 1,
    ]);
    if (row === undefined) throw createChannelNotFoundError(name);
    const { channelId, username, shorts } = row;
    const { items, hasMore, nextCursor } = cutPage(
      shorts.map(toShortFields),
      limit,
      encodeShortsCursor,
    );
    return {
      body: {
        channel: username ?? channelId,
        shorts: items.map(createShortSummary),
        pagination: { hasMore, nextCursor },
      },
      tags: createChannelTags(name, channelId),
    };
  };
}

const shortHistory = createHistoryReader<ShortDetails["history"][number]>({
  kind: "short",
  fields: { timestamp: "at", views: "views", likes: "likes", comments: "comments" },
  zoneSuffix: "Z",
  maxPoints: HISTORY_MAX_POINTS,
});

const SELECT_SHORT = `
  SELECT json_object(
    'channelId', named.id,
    'observedAt', (SELECT observed_at FROM shorts WHERE id = ?3),
    'short', (
      SELECT json_object(
        'id', id,
        'title', title,
        'description', description,
        'publishedAt', published_at,
        'metrics', ${fieldsJsonSql(schema.ShortDetails.properties.metrics)},
        'history', ${shortHistory.selectSql("shorts.key")}
      )
      FROM shorts
      WHERE id = ?3 AND channel_key = named.key AND published_at IS NOT NULL
    )
  )
  ${FROM_CHANNEL}`;

interface ShortDetailsRow {
  readonly channelId: string;
  readonly observedAt: number | null;
  readonly short:
    | (Omit<ShortDetails, "publishedAt" | "history"> & {
        readonly publishedAt: number;
        readonly history: HistoryRow;
      })
    | null;
}

function createShortRead(database: Database): VideoReads["short"] {
  return async (name, id) => {
    const args = [name, foldCase(name), id];
    const row = await database.queryJson<ShortDetailsRow>(SELECT_SHORT, args);
    if (row === undefined) throw createChannelNotFoundError(name);
    const { channelId, observedAt, short } = row;
    if (short === null) throw createShortNotFoundError(name, id);
    const { points, isThinned } = shortHistory.format(short.history);
    return {
      body: { ...short, publishedAt: formatInstant(short.publishedAt), history: points },
      tags: createChannelTags(name, channelId),
      observedAt,
      isThinned,
    };
  };
}
