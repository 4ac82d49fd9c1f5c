/** Creates the responses with the metrics of entities, and the list of all metrics. */
import type { HistoryPoint } from "../buckets.ts";
import { ENTITY_KINDS, type ItemKind, type OwnerKind } from "../kinds.ts";
import { findViewsAtAge, listViewsAtAge, type ItemViews } from "../metrics/age-multiple.ts";
import { METRICS } from "../metrics/catalog.ts";
import {
  computeItemMetrics,
  computeOwnerEstimates,
  computeOwnerMetrics,
  getItemViews,
  type MeasuredItem,
} from "../metrics/entity-metrics.ts";
import { ESTIMATES } from "../metrics/estimate-catalog.ts";
import type {
  ChannelMetrics,
  MetricList,
  ShortMetrics,
  TweetMetrics,
  UserMetrics,
} from "../resources/generated/types.ts";
import { formatInstant, formatInstantOrNull } from "../time.ts";

/**
 * Creates the resource with the metrics of a channel.
 *
 * @param channel Its username, or its identifier if no source reported a username.
 * @param points Oldest first, no two at one instant, at least those of the 60 days before the
 * newest.
 *
 * @example
 * createChannelMetrics("nasa", [{ at: 0, counts: [7, 1, 9] }]).metrics.dailySubscriberGain; // null
 */
export function createChannelMetrics(
  channel: string,
  points: readonly HistoryPoint[],
): ChannelMetrics {
  const { observedAt, ...estimates } = describeOwner("channel", points);
  return { channel, observedAt, metrics: computeOwnerMetrics("channel", points), ...estimates };
}

/**
 * Creates the resource with the metrics of a user.
 *
 * @param username From `findUsername()`.
 * @param points As for {@link createChannelMetrics}; none for a user who was never observed.
 *
 * @example
 * createUserMetrics("nasa", []).observedAt; // null
 */
export function createUserMetrics(username: string, points: readonly HistoryPoint[]): UserMetrics {
  const { observedAt, ...estimates } = describeOwner("user", points);
  return { username, observedAt, metrics: computeOwnerMetrics("user", points), ...estimates };
}

function describeOwner(kind: OwnerKind, points: readonly HistoryPoint[]) {
  const { roundingStep, trend, projection, milestone } = computeOwnerEstimates(kind, points);
  return {
    observedAt: formatInstantOrNull(points.at(-1)?.at ?? null),
    roundingStep,
    trend,
    projection: projection && {
      milestone: projection.milestone,
      from: formatInstant(projection.from),
      to: formatInstant(projection.to),
    },
    milestone: milestone && {
      milestone: milestone.milestone,
      at: formatInstant(milestone.at),
    },
  };
}

/** An item with its identifier and the name of its owner. */
export interface NamedItem extends MeasuredItem {
  /** The name of the owner. */
  readonly owner: string;
  /** Its identifier. */
  readonly id: string;
}

/**
 * Creates the resource with the metrics of a short.
 *
 * @param earlier The views of the newest 100 shorts of its channel that were published before it,
 * or at the same instant with a smaller identifier.
 *
 * @example
 * const short = { owner: "nasa", id: "s1", publishedAt: 0, points: [{ at: 5, counts: [7] }] };
 * createShortMetrics(short, []).metrics.ageMultiple; // null
 */
export function createShortMetrics(item: NamedItem, earlier: Iterable<ItemViews>): ShortMetrics {
  const { owner: channel, id: short_id } = item;
  return { channel, short_id, ...measureItem("short", item, earlier) };
}

/**
 * Creates the resource with the metrics of a tweet.
 *
 * @param earlier As for {@link createShortMetrics}.
 *
 * @example
 * const tweet = { owner: "nasa", id: "7", publishedAt: 0, points: [{ at: 5, counts: [7] }] };
 * createTweetMetrics(tweet, []).metrics.impressionsPerHour; // null
 */
export function createTweetMetrics(item: NamedItem, earlier: Iterable<ItemViews>): TweetMetrics {
  const { owner: username, id: tweet_id } = item;
  return { username, tweet_id, ...measureItem("tweet", item, earlier) };
}

function measureItem<Kind extends ItemKind>(
  kind: Kind,
  item: MeasuredItem,
  earlier: Iterable<ItemViews>,
) {
  const age = findViewsAtAge(getItemViews(kind, item));
  const earlierViews = age === null ? [] : listViewsAtAge(earlier, age.ageMs);
  return {
    observedAt: formatInstantOrNull(item.points.at(-1)?.at ?? null),
    ...computeItemMetrics(kind, item, earlierViews),
  };
}

/**
 * Creates the list of all metrics.
 *
 * @param derivedMetrics The platforms whose derived figures are given.
 *
 * @example
 * createMetricList(["video"]).metrics[0].name; // "dailySubscriberGain"
 */
export function createMetricList(derivedMetrics: MetricList["derivedMetrics"]): MetricList {
  return {
    metrics: ENTITY_KINDS.flatMap((kind) =>
      Object.entries(METRICS[kind]).map(
        ([name, { unit, formula, window, limits, isDerived, isSort }]) => ({
          kind,
          name,
          unit,
          formula,
          window,
          limits,
          isDerived,
          isSort,
        }),
      ),
    ),
    estimates: (["channel", "user"] as const).flatMap((kind) =>
      Object.entries(ESTIMATES).map(([name, { unit, formula, window, limits, isDerived }]) => ({
        kind,
        name,
        unit,
        formula,
        window,
        limits,
        isDerived,
      })),
    ),
    derivedMetrics,
  };
}
