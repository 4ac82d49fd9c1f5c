/** Computes all metrics of an entity from its points. */
import type { HistoryPoint } from "../buckets.ts";
import { GAIN_DEFINITIONS, GAIN_PERIOD_DAYS } from "../growth.ts";
import {
  ENTITY_FIELDS,
  MAIN_COUNTS,
  type EntityKind,
  type ItemKind,
  type OwnerKind,
} from "../kinds.ts";
import { HOUR_MS } from "../time.ts";
import {
  computeAgeMultiple,
  findViewsAtAge,
  type AgeComparison,
  type ItemViews,
} from "./age-multiple.ts";
import { ITEM_REACTIONS, PERCENT_SUFFIX, type MetricName } from "./catalog.ts";
import { listCountPoints } from "./count-points.ts";
import { computeEngagement } from "./engagement.ts";
import {
  computeProjection,
  findPassedMilestone,
  type PassedMilestone,
  type Projection,
} from "./milestones.ts";
import { computeCountGain, computeRate, type CountHistory } from "./rates.ts";
import { roundMetric } from "./round.ts";
import { findRoundingStep } from "./rounded-counts.ts";
import { computeTrend, listWindowPoints, type Trend } from "./trend.ts";

/** The metrics of an entity, by the names of `METRICS`; `null` is unknown. */
export type EntityMetrics<Kind extends EntityKind> = Readonly<
  Record<MetricName<Kind>, number | null>
>;

/**
 * Computes the gains of an owner's counts over a day, a week and a month, in numbers and in percent.
 *
 * @param points Oldest first, no two at one instant, as `listHistoryPoints()` lists them. Those of
 * the 60 days before the newest are enough.
 *
 * @example
 * const points = [{ at: 0, counts: [200] }, { at: 86_400_000, counts: [205] }];
 * const { dailyFollowerGain, dailyFollowerGainPercent } = computeOwnerMetrics("user", points);
 * [dailyFollowerGain, dailyFollowerGainPercent]; // [5, 2.5]
 */
export function computeOwnerMetrics<Kind extends OwnerKind>(
  kind: Kind,
  points: readonly HistoryPoint[],
): EntityMetrics<Kind> {
  const histories = listCountHistories(kind, points);
  const gains: Record<string, number | null> = {};
  const percents: Record<string, number | null> = {};
  for (const [name, { count, period }] of Object.entries(GAIN_DEFINITIONS[kind])) {
    const history = histories[count] ?? EMPTY_HISTORY;
    const { gain, percent } = computeCountGain(history, GAIN_PERIOD_DAYS[period]);
    gains[name] = gain;
    percents[name + PERCENT_SUFFIX] = percent;
  }
  // The types of the names are lost in the loop.
  return { ...gains, ...percents } as EntityMetrics<Kind>;
}

/** What is estimated of the main count of an owner, and how its source rounds it. */
export interface OwnerEstimates {
  /** The step of the source's rounding; `null` if the counts are exact. */
  readonly roundingStep: number | null;
  /** The trend of a rounded count. */
  readonly trend: Trend | null;
  /** When the count reaches the next milestone. */
  readonly projection: Projection | null;
  /** The milestone that it has passed last. */
  readonly milestone: PassedMilestone | null;
}

/**
 * Computes the rounding step, the trend, the projection and the milestone of an owner's main count:
 * the subscribers of a channel, the followers of a user.
 *
 * @param points As for {@link computeOwnerMetrics}. Those of the 30 days before the newest are
 * enough.
 *
 * @example
 * const points = [{ at: 5, counts: [990] }, { at: 6, counts: [1_001] }];
 * computeOwnerEstimates("user", points).milestone; // { milestone: 1_000, at: 6 }
 */
export function computeOwnerEstimates(
  kind: OwnerKind,
  points: readonly HistoryPoint[],
): OwnerEstimates {
  const counts = listCountPoints(kind, MAIN_COUNTS[kind], points);
  const newestAt = points.at(-1)?.at ?? 0;
  const window = listWindowPoints(counts, newestAt).map(({ count }) => count);
  return {
    roundingStep: findRoundingStep(window) || null,
    trend: computeTrend(counts, newestAt),
    projection: computeProjection(counts, newestAt),
    milestone: findPassedMilestone(counts, newestAt),
  };
}

/** An item whose metrics are computed. */
export interface MeasuredItem {
  /** When it was published, in milliseconds since 1970 UTC. */
  readonly publishedAt: number;
  /** Its points, as for {@link computeOwnerMetrics}; those of the last 7 days, and the newest one that tells the views. */
  readonly points: readonly HistoryPoint[];
}

/**
 * The views of an item, for comparisons with other items.
 *
 * @example
 * getItemViews("short", { publishedAt: 0, points: [{ at: 5, counts: [7] }] }).points;
 * // [{ at: 5, count: 7 }]
 */
export function getItemViews(kind: ItemKind, { publishedAt, points }: MeasuredItem): ItemViews {
  return { publishedAt, points: listCountPoints(kind, MAIN_COUNTS[kind], points) };
}

/** The metrics of an item, and the comparison that its age multiple is from. */
export interface MeasuredMetrics<Kind extends ItemKind> {
  readonly metrics: EntityMetrics<Kind>;
  /** What `ageMultiple` compares with. */
  readonly ageComparison: Omit<AgeComparison, "ageMultiple">;
}

/**
 * Computes the metrics of an item: age, rates, engagement and age multiple.
 *
 * @param earlierViews The views that earlier items of its creator had at its age, from
 * `listViewsAtAge()` for the age from `findViewsAtAge()`.
 *
 * @example
 * const item = { publishedAt: 0, points: [{ at: 3_600_000, counts: [100, 5] }] };
 * const { metrics } = computeItemMetrics("short", item, [50, 40, 50, 60, 70]);
 * [metrics.ageHours, metrics.likeRate, metrics.ageMultiple]; // [1, 0.05, 2]
 */
export function computeItemMetrics<Kind extends ItemKind>(
  kind: Kind,
  item: MeasuredItem,
  earlierViews: readonly number[],
): MeasuredMetrics<Kind> {
  const viewsName = MAIN_COUNTS[kind];
  const views = getItemViews(kind, item);
  const newest = item.points.at(-1);
  const history = { newestAt: newest?.at ?? 0, points: views.points };
  const age = findViewsAtAge(views);
  const { ageMultiple, ...ageComparison } = computeAgeMultiple(
    age?.views ?? null,
    age === null ? [] : earlierViews,
  );
  const names: readonly string[] = ENTITY_FIELDS[kind].counts;
  const getCount = (name: string) => newest?.counts[names.indexOf(name)] ?? null;
  const metrics: Record<string, number | null> = { ageHours: computeAgeHours(item) };
  for (const suffix of ["PerHour", "PerDay"] as const) {
    metrics[viewsName + suffix] = computeRate(history, suffix);
  }
  const present = getCount(viewsName);
  metrics["engagement"] = computeEngagement(ITEM_REACTIONS[kind].map(getCount), present);
  metrics["likeRate"] = computeEngagement([getCount("likes")], present);
  metrics["ageMultiple"] = ageMultiple;
  // The types of the names are lost where they are composed.
  return { metrics: metrics as EntityMetrics<Kind>, ageComparison };
}

/**
 * Computes the age of an item in hours: the newest observation minus the publication, with 4
 * decimals.
 *
 * @returns `null` if the item was not observed, or before it was published.
 *
 * @example
 * computeAgeHours({ publishedAt: 0, points: [{ at: 5_400_000, counts: [] }] }); // 1.5
 */
export function computeAgeHours({ publishedAt, points }: MeasuredItem): number | null {
  const newest = points.at(-1);
  if (newest === undefined || newest.at < publishedAt) return null;
  return roundMetric((newest.at - publishedAt) / HOUR_MS);
}

const EMPTY_HISTORY: CountHistory = { newestAt: 0, points: [] };

/** The known values of each count of a kind. */
function listCountHistories(
  kind: EntityKind,
  points: readonly HistoryPoint[],
): Record<string, CountHistory> {
  const newestAt = points.at(-1)?.at ?? 0;
  const histories: Record<string, CountHistory> = {};
  for (const name of ENTITY_FIELDS[kind].counts) {
    histories[name] = { newestAt, points: listCountPoints(kind, name, points) };
  }
  return histories;
}
