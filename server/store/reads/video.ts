/**
 * Reads of the video interface. Each is one statement that makes one JSON text of the numbers and
 * texts that an answer needs.
 */
import { encodeCursor, type ShortsRequest } from "../../../core/cursor.ts";
import { DomainError } from "../../../core/errors.ts";
import {
  GAIN_DAYS,
  computeBaselineRange,
  computeSubscriberGains,
  type CountPoint,
  type TimeRange,
} from "../../../core/growth.ts";
import { HISTORY_MAX_POINTS } from "../../../core/limits.ts";
import type { CacheableResult } from "../../ports/caching.ts";
import type { ChannelDetails, ShortDetails, ShortsPage } from "../../../core/schema/video.ts";
import { foldCase } from "../../../core/text.ts";
import { formatInstant, formatInstantOrNull, LAST_INSTANT } from "../../../core/time.ts";
import { readChannelList } from "./channel-list.ts";
import { decodeChunks, type Chunk } from "../history/chunk-codec.ts";
import type { VideoReads } from "../../ports/reads.ts";
import type { Database } from "../database/database.ts";
import {
  selectHistorySql,
  createHistoryFormatter,
  type HistoryFormat,
  type HistoryRow,
} from "../history/thinned-history.ts";
import { selectChunksSql, KIND_TABLES, selectChunkStartSql } from "../tables/entity-sql.ts";
import { createChannelTag, CHANNELS_TAG } from "../history/cache-tags.ts";

/** Reads of the video interface on a database. */
export function createVideoReads(database: Database): VideoReads {
  return {
    /** All channels: most subscribers first, unknown counts last, then by identifier. */
    channels: () => readChannelList(database),

    /** @throws {DomainError} `Channel Not Found`. */
    channel: (name: string) => readChannel(database, name),

    /** @throws {DomainError} `Channel Not Found`. */
    shorts: (name: string, request: ShortsRequest) => readShorts(database, name, request),

    /** @throws {DomainError} `Channel Not Found`, `Short Not Found`. */
    short: (name: string, id: string) => readShort(database, name, id),
  };
}

/**
 * The channel that a name means, by its identifier or by its username regardless of case: an
 * identifier wins, then the channel observed last, then the smaller identifier.
 */
const FROM_CHANNEL =
  "FROM (SELECT * FROM channels WHERE (id = ?1 OR username_folded = ?2) " +
  "AND observed_at IS NOT NULL ORDER BY id = ?1 DESC, observed_at DESC, id LIMIT 1) AS named";

function channelNotFoundError(name: string): DomainError {
  return new DomainError("Channel Not Found", `Channel ${name} not found`);
}

/** What an answer under a channel's name depends on: whom the name means as well, unless it is
 * the identifier. */
function createTags(name: string, id: string): string[] {
  return name === id ? [createChannelTag(id)] : [createChannelTag(id), CHANNELS_TAG];
}

/** How far a gain looks back from the newest observation, at most and at least. */
const BASELINE_RANGES = Object.values(GAIN_DAYS).map((days) => computeBaselineRange(0, days));
const BASELINE_BOUNDS = {
  from: Math.min(...BASELINE_RANGES.map(({ from }) => from)),
  to: Math.max(...BASELINE_RANGES.map(({ to }) => to)),
};

const BASELINE_START = selectChunkStartSql(
  KIND_TABLES.channel,
  "named.key",
  `named.observed_at + ${BASELINE_BOUNDS.from}`,
);
const SELECT_BASELINE_CHUNKS = selectChunksSql(
  KIND_TABLES.channel,
  "named.key",
  `start BETWEEN ${BASELINE_START} AND named.observed_at + ${BASELINE_BOUNDS.to}`,
);

const SELECT_CHANNEL =
  "SELECT json_array(id, username, display_name, description, subscribers, video_count, " +
  `view_count, joined_at, country, thumbnail, banner_image, observed_at, ${SELECT_BASELINE_CHUNKS}) ` +
  FROM_CHANNEL;

/** The newest known count of a span. */
function findNewestCount(points: readonly CountPoint[], { from, to }: TimeRange): number | null {
  const known = points.findLast(({ at, count }) => at >= from && at <= to && count !== null);
  return known?.count ?? null;
}

type ChannelRow = [
  id: string,
  username: string | null,
  displayName: string | null,
  description: string | null,
  subscribers: number | null,
  videoCount: number | null,
  viewCount: number | null,
  joinedAt: number | null,
  country: string | null,
  thumbnail: string | null,
  bannerImage: string | null,
  observedAt: number,
  past: Chunk[],
];

async function readChannel(
  database: Database,
  name: string,
): Promise<CacheableResult<ChannelDetails>> {
  const channel = await database.queryJson<ChannelRow>(SELECT_CHANNEL, [name, foldCase(name)]);
  if (channel === undefined) throw channelNotFoundError(name);
  const [id, username, displayName, description, subscribers, videoCount, viewCount] = channel;
  const [, , , , , , , joinedAt, country, thumbnail, bannerImage, observedAt, past] = channel;
  const points = decodeChunks(past, KIND_TABLES.channel.countColumns.size).map(
    ({ at, counts: [count = null] }) => ({
      at,
      count,
    }),
  );
  return {
    body: {
      id,
      username,
      displayName,
      description,
      subscribers,
      videoCount,
      viewCount,
      joinedAt: formatInstantOrNull(joinedAt),
      country,
      thumbnail,
      bannerImage,
      statistics: computeSubscriberGains({ at: observedAt, count: subscribers }, (span) =>
        findNewestCount(points, span),
      ),
    },
    tags: createTags(name, id),
  };
}

const SELECT_SHORTS =
  "SELECT json_array(named.id, named.username, (SELECT json_group_array(json_array(" +
  "id, title, thumbnail, published_at, views, likes, comments)) FROM (SELECT * FROM shorts " +
  "WHERE channel = named.key AND published_at < ?3 AND (published_at, id) < (?4, ?5) " +
  `ORDER BY published_at DESC, id DESC LIMIT ?6))) ${FROM_CHANNEL}`;

type ShortRow = [
  id: string,
  title: string | null,
  thumbnail: string | null,
  publishedAt: number,
  views: number | null,
  likes: number | null,
  comments: number | null,
];

async function readShorts(
  database: Database,
  name: string,
  { limit, before = LAST_INSTANT + 1, after }: ShortsRequest,
): Promise<CacheableResult<ShortsPage>> {
  const row = await database.queryJson<[string, string | null, ShortRow[]]>(SELECT_SHORTS, [
    name,
    foldCase(name),
    before,
    after?.publishedAt ?? LAST_INSTANT + 1,
    after?.id ?? "",
    limit + 1,
  ]);
  if (row === undefined) throw channelNotFoundError(name);
  const [channel, username, rows] = row;
  const hasMore = rows.length > limit;
  const page = rows.slice(0, limit);
  const [lastId, , , lastPublishedAt] = page.at(-1) ?? [];
  const next =
    hasMore && lastId !== undefined && lastPublishedAt !== undefined
      ? encodeCursor({ id: lastId, publishedAt: lastPublishedAt })
      : null;
  return {
    body: {
      channel: username ?? channel,
      shorts: page.map(([id, title, thumbnail, publishedAt, views, likes, comments]) => ({
        id,
        title,
        thumbnail,
        publishedAt: formatInstant(publishedAt),
        views,
        likes,
        comments,
      })),
      pagination: { hasMore, nextCursor: next },
    },
    tags: createTags(name, channel),
  };
}

const SHORT_HISTORY: HistoryFormat = {
  kind: "short",
  fields: { timestamp: "at", views: "views", likes: "likes", comments: "comments" },
  zoneSuffix: "Z",
  maxPoints: HISTORY_MAX_POINTS,
};

const formatShortHistory = createHistoryFormatter<ShortDetails["history"][number]>(SHORT_HISTORY);

const SELECT_SHORT =
  "SELECT json_array(named.id, (SELECT json_array(id, title, description, published_at, " +
  `views, likes, comments, shares, ${selectHistorySql(SHORT_HISTORY, "shorts.key")}) FROM shorts ` +
  `WHERE id = ?3 AND channel = named.key AND published_at IS NOT NULL)) ${FROM_CHANNEL}`;

type ShortDetailsRow = [
  id: string,
  title: string | null,
  description: string | null,
  publishedAt: number,
  views: number | null,
  likes: number | null,
  comments: number | null,
  shares: number | null,
  history: HistoryRow,
];

async function readShort(
  database: Database,
  name: string,
  id: string,
): Promise<CacheableResult<ShortDetails>> {
  const row = await database.queryJson<[string, ShortDetailsRow | null]>(SELECT_SHORT, [
    name,
    foldCase(name),
    id,
  ]);
  if (row === undefined) throw channelNotFoundError(name);
  const [channel, short] = row;
  if (short === null) {
    throw new DomainError("Short Not Found", `Short ${id} not found for channel ${name}`);
  }
  const [shortId, title, description, publishedAt, views, likes, comments, shares, history] = short;
  const { points, isThinned } = formatShortHistory(history);
  return {
    body: {
      id: shortId,
      title,
      description,
      publishedAt: formatInstant(publishedAt),
      metrics: { views, likes, comments, shares },
      history: points,
    },
    tags: createTags(name, channel),
    isThinned,
  };
}
