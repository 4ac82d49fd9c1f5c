/** Computes gains of counts over a day, a week and a month, and changes of follower counts. */
import { findNewestCounts, type Entity } from "./entities.ts";
import { KINDS, mapKinds, type EntityKind, type KindDeclaration, type OwnerKind } from "./kinds.ts";
import { DAY_MS } from "./time.ts";

/** A range of instants, both ends included, in milliseconds since 1970 UTC. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** How many days each gain looks back. */
export const GAIN_PERIOD_DAYS = { daily: 1, weekly: 7, monthly: 30 } as const;

const GAIN_PERIODS = ["daily", "weekly", "monthly"] as const;

/** A gain: the count that it compares, and its period. */
export interface GainDefinition {
  readonly count: string;
  readonly period: keyof typeof GAIN_PERIOD_DAYS;
}

/** The names of the gains of a kind. */
export type GainName<Kind extends OwnerKind> =
  `${keyof typeof GAIN_PERIOD_DAYS}${keyof (typeof KINDS)[Kind]["gains"] & string}`;

/** The names of the gains of a kind that its lists can be sorted by. */
export type SortedGainName<Kind extends OwnerKind> =
  `${keyof typeof GAIN_PERIOD_DAYS}${(typeof KINDS)[Kind]["sortedGains"][number]}`;

/** The gains of each kind, by name: the same names in details, lists and sorts. */
export const GAIN_DEFINITIONS: Readonly<
  Record<EntityKind, Readonly<Record<string, GainDefinition>>>
> = mapKinds((kind) => {
  const { gains = {} }: KindDeclaration = KINDS[kind];
  const definitions = Object.entries(gains).flatMap(([end, count]) =>
    GAIN_PERIODS.map((period) => [`${period}${end}`, { count, period }]),
  );
  return Object.fromEntries(definitions);
});

/** Lists the gains of a kind that its lists can be sorted by. Stores keep them; others are computed. */
export function listSortedGains<Kind extends EntityKind>(
  kind: Kind,
): SortedGainName<Kind & OwnerKind>[] {
  const { sortedGains = [] }: KindDeclaration = KINDS[kind];
  // The types of the periods and endings are lost in the loops.
  return sortedGains.flatMap((end) =>
    GAIN_PERIODS.map((period) => `${period}${end}` as SortedGainName<Kind & OwnerKind>),
  );
}

/** The range of a gain's past count. A gain over more than twice its days would be a guess. */
export function computeGainBaseline(newestAt: number, days: number): TimeRange {
  return { from: newestAt - 2 * days * DAY_MS, to: newestAt - days * DAY_MS };
}

/** The gain from a past count to the newest; a loss is negative; `null` if either is unknown. */
export function computeGain(newest: number | null, past: number | null): number | null {
  return newest === null || past === null ? null : newest - past;
}

/** The gains of an entity by name, as `GAIN_DEFINITIONS` has them; `null` is unknown. */
export type EntityGains = Readonly<Record<string, number | null>>;

/**
 * The gains of an entity: how much its newest counts exceed those a day, a week and a month before.
 *
 * @example
 * const at = (day, followers_count) => [Date.UTC(2026, 10, day), { followers_count }];
 * const points = new Map([at(1, 5), at(2, 7)]);
 * computeEntityGains("user", { attributes: {}, points }).dailyFollowerGain; // 2
 */
export function computeEntityGains(kind: EntityKind, entity: Entity): EntityGains {
  const newest = findNewestCounts(entity);
  const gains: Record<string, number | null> = {};
  for (const [name, { count, period }] of Object.entries(GAIN_DEFINITIONS[kind])) {
    const range = computeGainBaseline(newest?.at ?? 0, GAIN_PERIOD_DAYS[period]);
    const past = findNewestKnown(entity, count, range);
    gains[name] = computeGain(newest?.counts[count] ?? null, past);
  }
  return gains;
}

/** The newest known value of a count within a range; `null` if there is none. */
function findNewestKnown({ points }: Entity, name: string, range: TimeRange): number | null {
  let newestAt = -Infinity;
  for (const [at, counts] of points) {
    const isKnown = typeof counts[name] === "number";
    if (isKnown && at >= range.from && at <= range.to) newestAt = Math.max(newestAt, at);
  }
  return points.get(newestAt)?.[name] ?? null;
}

/** Lists the first `count` points, newest first, each with its change from the older point or 0. */
export function computeFollowerChanges(
  points: readonly { readonly at: number; readonly followers: number }[],
  count: number,
): { readonly at: number; readonly followers: number; readonly change: number }[] {
  return points.slice(0, count).map(({ at, followers }, index) => {
    const change = followers - (points[index + 1]?.followers ?? followers);
    return { at, followers, change };
  });
}
