/** Queries of the video interface. */
import { and, asc, desc, eq, isNotNull, lt, or, sql } from "drizzle-orm";
import { encodeCursor, type ShortsRequest } from "../../core/cursor.ts";
import { DomainError } from "../../core/errors.ts";
import { GAIN_DAYS, gainSpan, subscriberGains } from "../../core/growth.ts";
import { HISTORY_MAX_POINTS } from "../../core/limits.ts";
import type {
  ChannelDetails,
  ChannelSummary,
  ShortDetails,
  ShortsPage,
} from "../../core/schema/video.ts";
import { foldCase } from "../../core/text.ts";
import { formatInstant } from "../../core/time.ts";
import type { Database } from "./database.ts";
import { withOwnErrors } from "./guard.ts";
import { readHistories } from "./history.ts";
import { channelObservations, channels, shorts } from "./tables.ts";

/** An answer that may carry a thinned history. */
export interface Thinnable<Body> {
  readonly body: Body;
  readonly isThinned: boolean;
}

/** What the video interface reads. */
export type VideoStore = ReturnType<typeof videoStore>;

/** Queries of the video interface on a database. */
export function videoStore(database: Database) {
  return withOwnErrors({
    /** All channels: most subscribers first, unknown counts last, then by identifier. */
    channels: (): Promise<ChannelSummary[]> =>
      database.query
        .select({
          id: channels.id,
          username: channels.username,
          displayName: channels.displayName,
          subscribers: channels.subscribers,
          videoCount: channels.videoCount,
          thumbnail: channels.thumbnail,
        })
        .from(channels)
        .where(isNotNull(channels.observedAt))
        .orderBy(sql`${channels.subscribers} DESC NULLS LAST`, asc(channels.id)),

    /** @throws {DomainError} `Channel Not Found`. */
    channel: (name: string) => readChannel(database, name),

    /** @throws {DomainError} `Channel Not Found`. */
    shorts: (name: string, request: ShortsRequest) => readShorts(database, name, request),

    /** @throws {DomainError} `Channel Not Found`, `Short Not Found`. */
    short: (name: string, id: string) => readShort(database, name, id),
  });
}

/**
 * Finds a channel by its identifier, or by its username regardless of case: an identifier wins,
 * then the channel observed last, then the smaller identifier.
 */
async function findChannel({ query }: Database, name: string) {
  const [channel] = await query
    .select()
    .from(channels)
    .where(
      and(
        or(eq(channels.id, name), eq(channels.usernameFolded, foldCase(name))),
        isNotNull(channels.observedAt),
      ),
    )
    .orderBy(sql`${channels.id} = ${name} DESC`, desc(channels.observedAt), asc(channels.id))
    .limit(1);
  if (channel === undefined) {
    throw new DomainError("Channel Not Found", `Channel ${name} not found`);
  }
  return channel;
}

async function readChannel(database: Database, name: string): Promise<ChannelDetails> {
  const channel = await findChannel(database, name);
  const newest = { at: channel.observedAt ?? 0, count: channel.subscribers };
  const known = new Map<number, number | null>();
  for (const days of Object.values(GAIN_DAYS)) {
    const { from, to } = gainSpan(newest.at, days);
    const [past] = await database.query
      .select({ subscribers: channelObservations.subscribers })
      .from(channelObservations)
      .where(
        and(
          eq(channelObservations.channel, channel.key),
          sql`${channelObservations.at} BETWEEN ${from} AND ${to}`,
          isNotNull(channelObservations.subscribers),
        ),
      )
      .orderBy(desc(channelObservations.at))
      .limit(1);
    known.set(from, past?.subscribers ?? null);
  }
  return {
    id: channel.id,
    username: channel.username,
    displayName: channel.displayName,
    description: channel.description,
    subscribers: channel.subscribers,
    videoCount: channel.videoCount,
    viewCount: channel.viewCount,
    joinedAt: channel.joinedAt === null ? null : formatInstant(channel.joinedAt),
    country: channel.country,
    thumbnail: channel.thumbnail,
    bannerImage: channel.bannerImage,
    statistics: subscriberGains(newest, ({ from }) => known.get(from) ?? null),
  };
}

async function readShorts(
  database: Database,
  name: string,
  { limit, before, after }: ShortsRequest,
): Promise<ShortsPage> {
  const channel = await findChannel(database, name);
  const { publishedAt, id } = shorts;
  const rows = await database.query
    .select({
      id,
      title: shorts.title,
      thumbnail: shorts.thumbnail,
      publishedAt: sql<number>`${publishedAt}`,
      views: shorts.views,
      likes: shorts.likes,
      comments: shorts.comments,
    })
    .from(shorts)
    .where(
      and(
        eq(shorts.channel, channel.key),
        isNotNull(publishedAt),
        before === undefined ? undefined : lt(publishedAt, before),
        after && sql`(${publishedAt}, ${id}) < (${after.publishedAt}, ${after.id})`,
      ),
    )
    .orderBy(desc(publishedAt), desc(id))
    .limit(limit + 1);
  const hasMore = rows.length > limit;
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    channel: channel.username ?? channel.id,
    shorts: page.map(({ title, thumbnail, views, likes, comments, ...short }) => ({
      id: short.id,
      title,
      thumbnail,
      publishedAt: formatInstant(short.publishedAt),
      views,
      likes,
      comments,
    })),
    pagination: { hasMore, nextCursor: hasMore && last !== undefined ? encodeCursor(last) : null },
  };
}

async function readShort(
  database: Database,
  name: string,
  id: string,
): Promise<Thinnable<ShortDetails>> {
  const channel = await findChannel(database, name);
  const [short] = await database.query
    .select()
    .from(shorts)
    .where(and(eq(shorts.id, id), eq(shorts.channel, channel.key)));
  if (short === undefined || short.publishedAt === null) {
    throw new DomainError("Short Not Found", `Short ${id} not found for channel ${name}`);
  }
  const histories = await readHistories(database, "short", [short.key], HISTORY_MAX_POINTS);
  const history = histories.get(short.key);
  const { views, likes, comments, shares } = short;
  return {
    body: {
      id: short.id,
      title: short.title,
      description: short.description,
      publishedAt: formatInstant(short.publishedAt),
      metrics: { views, likes, comments, shares },
      history: (history?.points ?? []).map(({ at, counts }) => ({
        timestamp: formatInstant(at),
        views: counts["views"] ?? null,
        likes: counts["likes"] ?? null,
        comments: counts["comments"] ?? null,
      })),
    },
    isThinned: history?.isThinned ?? false,
  };
}
