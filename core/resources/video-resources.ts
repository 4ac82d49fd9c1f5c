/**
 * Creates the resources of the video interface from entities.
 *
 * `server/store/reads` restates in SQL which fields a resource has and which are known;
 * `tests/examples/memory-service.test.ts` compares both.
 */
import type { HistoryPoint } from "../buckets.ts";
import type { Entity } from "../entities.ts";
import type { EntityGains } from "../growth.ts";
import { thinHistory } from "../history.ts";
import { HISTORY_MAX_POINTS } from "../limits.ts";
import { formatInstant, formatInstantOrNull } from "../time.ts";
import { createFieldReader } from "./entity-fields.ts";
import type { ChannelDetails, ChannelSummary, ShortDetails, ShortSummary } from "./video.ts";

/** What is known of a channel; `null` is unknown. */
export interface ChannelFields extends Omit<ChannelDetails, "joinedAt" | "statistics"> {
  /** Milliseconds since 1970 UTC. */
  readonly joinedAt: number | null;
}

/**
 * Reads what is known of a channel.
 *
 * @param entity Its observations, merged.
 *
 * @example
 * readChannelFields("UC1", { attributes: {}, points: new Map() }).subscribers; // null
 */
export function readChannelFields(id: string, entity: Entity): ChannelFields {
  const { readText, readInstant, readCount } = createFieldReader(entity);
  return {
    id,
    username: readText("username"),
    displayName: readText("displayName"),
    description: readText("description"),
    subscribers: readCount("subscribers"),
    videoCount: readCount("videoCount"),
    viewCount: readCount("viewCount"),
    joinedAt: readInstant("joinedAt"),
    country: readText("country"),
    thumbnail: readText("thumbnail"),
    bannerImage: readText("bannerImage"),
  };
}

/**
 * Creates the resource of a channel in a list.
 *
 * @param fields From {@link readChannelFields}; others than those of a summary are left out.
 *
 * @example
 * createChannelSummary(readChannelFields("UC1", EMPTY_ENTITY)).id; // "UC1"
 */
export function createChannelSummary(fields: ChannelSummary): ChannelSummary {
  const { id, username, displayName, subscribers, videoCount, thumbnail } = fields;
  return { id, username, displayName, subscribers, videoCount, thumbnail };
}

/**
 * Creates the resource of a channel.
 *
 * @param fields From {@link readChannelFields}.
 * @param gains From `computeEntityGains()`.
 *
 * @example
 * const fields = readChannelFields("UC1", { attributes: {}, points: new Map() });
 * createChannelDetails(fields, { dailyGain: 7 }).statistics.dailySubscriberGain; // 7
 */
export function createChannelDetails(fields: ChannelFields, gains: EntityGains): ChannelDetails {
  return {
    ...fields,
    joinedAt: formatInstantOrNull(fields.joinedAt),
    statistics: {
      dailySubscriberGain: gains["dailyGain"] ?? null,
      weeklySubscriberGain: gains["weeklyGain"] ?? null,
      monthlySubscriberGain: gains["monthlyGain"] ?? null,
    },
  };
}

/** What is known of a short; `null` is unknown. */
export interface ShortFields {
  /** Identifier on the platform. */
  readonly id: string;
  /** Title of the short. */
  readonly title: string | null;
  /** Text about itself. */
  readonly description: string | null;
  /** URL of the image, as the source reported it. */
  readonly thumbnail: string | null;
  /** Milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  /** Views. */
  readonly views: number | null;
  /** Likes. */
  readonly likes: number | null;
  /** Comments. */
  readonly comments: number | null;
  /** Shares. */
  readonly shares: number | null;
}

/**
 * Reads what is known of a short.
 *
 * @param entity Its observations, merged.
 * @returns `undefined` while it is not known when the short was published: it is not listed yet.
 *
 * @example
 * readShortFields("s1", EMPTY_ENTITY); // undefined
 */
export function readShortFields(id: string, entity: Entity): ShortFields | undefined {
  const { readText, readInstant, readCount } = createFieldReader(entity);
  const publishedAt = readInstant("publishedAt");
  if (publishedAt === null) return undefined;
  return {
    id,
    title: readText("title"),
    description: readText("description"),
    thumbnail: readText("thumbnail"),
    publishedAt,
    views: readCount("views"),
    likes: readCount("likes"),
    comments: readCount("comments"),
    shares: readCount("shares"),
  };
}

/**
 * Creates the resource of a short in a page.
 *
 * @param fields From {@link readShortFields}.
 *
 * @example
 * const attributes = { publishedAt: { value: 0, at: 5 } };
 * const fields = readShortFields("s1", { attributes, points: new Map() });
 * createShortSummary(fields).publishedAt; // "1970-01-01T00:00:00.000Z"
 */
export function createShortSummary(
  fields: Omit<ShortFields, "description" | "shares">,
): ShortSummary {
  const { id, title, thumbnail, publishedAt, views, likes, comments } = fields;
  return { id, title, thumbnail, publishedAt: formatInstant(publishedAt), views, likes, comments };
}

/**
 * Creates the resource of a short. A long history is thinned to 1,000 points.
 *
 * @param fields From {@link readShortFields}.
 * @param points Oldest first, from `listHistoryPoints()`.
 *
 * @example
 * const attributes = { publishedAt: { value: 0, at: 5 } };
 * const fields = readShortFields("s1", { attributes, points: new Map() });
 * createShortDetails(fields, [{ at: 5, counts: [7] }]).history[0].views; // 7
 */
export function createShortDetails(
  fields: ShortFields,
  points: readonly HistoryPoint[],
): ShortDetails {
  const { id, title, description, publishedAt, views, likes, comments, shares } = fields;
  return {
    id,
    title,
    description,
    publishedAt: formatInstant(publishedAt),
    metrics: { views, likes, comments, shares },
    history: thinHistory(points, HISTORY_MAX_POINTS).map(({ at, counts }) => ({
      timestamp: formatInstant(at),
      views: counts[0] ?? null,
      likes: counts[1] ?? null,
      comments: counts[2] ?? null,
    })),
  };
}
