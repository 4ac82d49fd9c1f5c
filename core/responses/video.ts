/** Creates the responses for channels and shorts, and finds a channel by its name. */
import type { HistoryPoint } from "../buckets.ts";
import type { EntityGains } from "../growth.ts";
import { HISTORY_MAX_POINTS } from "../limits.ts";
import type {
  ChannelDetails,
  ShortDetails,
  ShortsPage,
  ShortSummary,
} from "../resources/generated/types.ts";
import { compareShortPositions, pageAfter, type ShortsRequest } from "../shorts.ts";
import { compareText, foldCase } from "../text.ts";
import { thinHistory } from "../thinning.ts";
import { formatInstant, formatInstantOrNull } from "../time.ts";
import { nameCounts, pickCounts, type KnownFields } from "./entity-fields.ts";

/**
 * Finds the channel that a name means: the one with this identifier, else one with this username in
 * any case. Of several, it is the one observed last, then the one with the smaller identifier.
 *
 * @param channels All observed channels; `observedAt` is the instant of the newest observation.
 *
 * @example
 * const channels = [{ id: "UC1", username: "NASA", observedAt: 0 }];
 * findChannel("nasa", channels)?.id; // "UC1"
 */
export function findChannel<
  Channel extends {
    readonly id: string;
    readonly username: string | null;
    readonly observedAt: number;
  },
>(name: string, channels: Iterable<Channel>): Channel | undefined {
  const folded = foldCase(name);
  let found: Channel | undefined;
  for (const channel of channels) {
    const { id, username, observedAt } = channel;
    if (id === name) return channel;
    if (username === null || foldCase(username) !== folded) continue;
    const isNewer =
      found === undefined ||
      observedAt > found.observedAt ||
      // Stryker disable next-line EqualityOperator: no two channels have one identifier.
      (observedAt === found.observedAt && compareText(id, found.id) < 0);
    if (isNewer) found = channel;
  }
  return found;
}

/**
 * Creates the resource of a channel.
 *
 * @param fields From `readFields()`.
 * @param gains From `computeEntityGains()`.
 *
 * @example
 * const fields = readFields("channel", "UC1", EMPTY_ENTITY);
 * createChannelDetails(fields, { dailySubscriberGain: 7 }).statistics.dailySubscriberGain; // 7
 */
export function createChannelDetails(
  fields: KnownFields<"channel">,
  gains: EntityGains,
): ChannelDetails {
  return {
    ...fields,
    joinedAt: formatInstantOrNull(fields.joinedAt),
    statistics: {
      dailySubscriberGain: gains["dailySubscriberGain"] ?? null,
      weeklySubscriberGain: gains["weeklySubscriberGain"] ?? null,
      monthlySubscriberGain: gains["monthlySubscriberGain"] ?? null,
    },
  };
}

/** The known fields of a short. A short without an instant of publication is not listed. */
export type ShortFields = KnownFields<"short"> & { readonly publishedAt: number };

/**
 * Creates a page of shorts, newest first.
 *
 * @param channel The username of the channel, or its identifier if no source reported a username.
 * @param shorts All shorts of the channel that the page may list, in any order.
 * @throws {RangeError} If `limit` is no whole number from 1.
 *
 * @example
 * const short = { ...readFields("short", "s1", EMPTY_ENTITY), publishedAt: 0 };
 * createShortsPage("nasa", [short], { limit: 5 }).shorts[0].id; // "s1"
 */
export function createShortsPage(
  channel: string,
  shorts: Iterable<Pick<ShortFields, keyof ShortSummary>>,
  request: ShortsRequest,
): ShortsPage {
  const sorted = Array.from(shorts).toSorted(compareShortPositions);
  const { items, hasMore, nextCursor } = pageAfter(sorted, request);
  return { channel, shorts: items.map(summarizeShort), pagination: { hasMore, nextCursor } };
}

function summarizeShort(short: Pick<ShortFields, keyof ShortSummary>): ShortSummary {
  const { id, title, thumbnail, publishedAt, views, likes, comments } = short;
  return { id, title, thumbnail, publishedAt: formatInstant(publishedAt), views, likes, comments };
}

/**
 * Creates the resource of a short. A long history is thinned to 1,000 points.
 *
 * @param fields From `readFields()`.
 * @param points Oldest first, from `listHistoryPoints()`.
 *
 * @example
 * const fields = { ...readFields("short", "s1", EMPTY_ENTITY), publishedAt: 0 };
 * createShortDetails(fields, [{ at: 5, counts: [7] }]).history[0].views; // 7
 */
export function createShortDetails(
  { id, title, description, publishedAt, ...fields }: ShortFields,
  points: readonly HistoryPoint[],
): ShortDetails {
  return {
    id,
    title,
    description,
    publishedAt: formatInstant(publishedAt),
    metrics: pickCounts("short", fields),
    history: thinHistory(points, HISTORY_MAX_POINTS).map(({ at, counts }) => {
      const { views, likes, comments } = nameCounts("short", counts);
      return { timestamp: formatInstant(at), views, likes, comments };
    }),
  };
}
