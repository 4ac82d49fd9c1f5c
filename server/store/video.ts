/**
 * Reads of the video interface. Each is one statement that makes one JSON text of the numbers and
 * texts that an answer needs.
 */
import { encodeCursor, type ShortsRequest } from "../../core/cursor.ts";
import { DomainError } from "../../core/errors.ts";
import {
  GAIN_DAYS,
  gainSpan,
  subscriberGains,
  type CountPoint,
  type Span,
} from "../../core/growth.ts";
import { HISTORY_MAX_POINTS } from "../../core/limits.ts";
import type { Reading } from "../../core/reading.ts";
import type { ChannelDetails, ShortDetails, ShortsPage } from "../../core/schema/video.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant, formatInstantOrNull, LAST_INSTANT } from "../../core/time.ts";
import { readChannelList } from "./channel-list.ts";
import { unpack, type Chunk } from "./chunks.ts";
import type { Database } from "./database.ts";
import { historyColumn, historyLister, type HistoryKind, type ReadHistory } from "./history.ts";
import { chunksWhere, LAYOUTS, startBefore } from "./layout.ts";
import { channelSubject, CHANNELS_SUBJECT } from "./subjects.ts";

/** Reads of the video interface on a database. */
export function videoStore(database: Database) {
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
const OF_CHANNEL =
  "FROM (SELECT * FROM channels WHERE (id = ?1 OR username_folded = ?2) " +
  "AND observed_at IS NOT NULL ORDER BY id = ?1 DESC, observed_at DESC, id LIMIT 1) AS named";

function channelNotFound(name: string): DomainError {
  return new DomainError("Channel Not Found", `Channel ${name} not found`);
}

/** What an answer under a channel's name depends on: whom the name means as well, unless it is
 * the identifier. */
function subjectsOf(name: string, id: string): string[] {
  return name === id ? [channelSubject(id)] : [channelSubject(id), CHANNELS_SUBJECT];
}

/** How far a gain looks back from the newest observation, at most and at least. */
const GAIN_SPANS = Object.values(GAIN_DAYS).map((days) => gainSpan(0, days));
const PAST = {
  from: Math.min(...GAIN_SPANS.map(({ from }) => from)),
  to: Math.max(...GAIN_SPANS.map(({ to }) => to)),
};

const PAST_START = startBefore(LAYOUTS.channel, "named.key", `named.observed_at + ${PAST.from}`);
const PAST_CHUNKS = chunksWhere(
  LAYOUTS.channel,
  "named.key",
  `start BETWEEN ${PAST_START} AND named.observed_at + ${PAST.to}`,
);

const CHANNEL =
  "SELECT json_array(id, username, display_name, description, subscribers, video_count, " +
  `view_count, joined_at, country, thumbnail, banner_image, observed_at, ${PAST_CHUNKS}) ` +
  OF_CHANNEL;

/** The newest known count of a span. */
function newestKnownIn(points: readonly CountPoint[], { from, to }: Span): number | null {
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

async function readChannel(database: Database, name: string): Promise<Reading<ChannelDetails>> {
  const channel = await database.document<ChannelRow>(CHANNEL, [name, foldCase(name)]);
  if (channel === undefined) throw channelNotFound(name);
  const [id, username, displayName, description, subscribers, videoCount, viewCount] = channel;
  const [, , , , , , , joinedAt, country, thumbnail, bannerImage, observedAt, past] = channel;
  const points = unpack(past, LAYOUTS.channel.counts.size).map(
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
      statistics: subscriberGains({ at: observedAt, count: subscribers }, (span) =>
        newestKnownIn(points, span),
      ),
    },
    subjects: subjectsOf(name, id),
  };
}

const SHORTS =
  "SELECT json_array(named.id, named.username, (SELECT json_group_array(json_array(" +
  "id, title, thumbnail, published_at, views, likes, comments)) FROM (SELECT * FROM shorts " +
  "WHERE channel = named.key AND published_at < ?3 AND (published_at, id) < (?4, ?5) " +
  `ORDER BY published_at DESC, id DESC LIMIT ?6))) ${OF_CHANNEL}`;

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
): Promise<Reading<ShortsPage>> {
  const found = await database.document<[string, string | null, ShortRow[]]>(SHORTS, [
    name,
    foldCase(name),
    before,
    after?.publishedAt ?? LAST_INSTANT + 1,
    after?.id ?? "",
    limit + 1,
  ]);
  if (found === undefined) throw channelNotFound(name);
  const [channel, username, rows] = found;
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
    subjects: subjectsOf(name, channel),
  };
}

const HISTORY: HistoryKind = {
  kind: "short",
  form: { timestamp: "at", views: "views", likes: "likes", comments: "comments" },
  zone: "Z",
  maxPoints: HISTORY_MAX_POINTS,
};

const listHistory = historyLister<ShortDetails["history"][number]>(HISTORY);

const SHORT =
  "SELECT json_array(named.id, (SELECT json_array(id, title, description, published_at, " +
  `views, likes, comments, shares, ${historyColumn(HISTORY, "shorts.key")}) FROM shorts ` +
  `WHERE id = ?3 AND channel = named.key AND published_at IS NOT NULL)) ${OF_CHANNEL}`;

type ShortDetailsRow = [
  id: string,
  title: string | null,
  description: string | null,
  publishedAt: number,
  views: number | null,
  likes: number | null,
  comments: number | null,
  shares: number | null,
  history: ReadHistory,
];

async function readShort(
  database: Database,
  name: string,
  id: string,
): Promise<Reading<ShortDetails>> {
  const found = await database.document<[string, ShortDetailsRow | null]>(SHORT, [
    name,
    foldCase(name),
    id,
  ]);
  if (found === undefined) throw channelNotFound(name);
  const [channel, short] = found;
  if (short === null) {
    throw new DomainError("Short Not Found", `Short ${id} not found for channel ${name}`);
  }
  const [shortId, title, description, publishedAt, views, likes, comments, shares, history] = short;
  const { points, isThinned } = listHistory(history);
  return {
    body: {
      id: shortId,
      title,
      description,
      publishedAt: formatInstant(publishedAt),
      metrics: { views, likes, comments, shares },
      history: points,
    },
    subjects: subjectsOf(name, channel),
    isThinned,
  };
}
