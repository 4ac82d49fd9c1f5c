/**
 * A naive model of metrics: each is computed from all observations of an entity by searching them
 * one by one. The library is compared with it.
 */

/** What a source said at an instant, in milliseconds since 1970 UTC. */
export interface ModelObservation {
  readonly observedAt: number;
  /** By name; `null` is unknown. */
  readonly counts: Readonly<Record<string, number | null>>;
}

/** An item of a creator. */
export interface ModelItem {
  readonly id: string;
  readonly publishedAt: number;
  readonly observations: readonly ModelObservation[];
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const round = (value: number): number => Math.round(value * 10_000) / 10_000 + 0;

function findNewestInstant(observations: readonly ModelObservation[]): number {
  return Math.max(...observations.map(({ observedAt }) => observedAt));
}

/** The greatest value that an observation of this instant has. */
function findCount(observations: readonly ModelObservation[], name: string, at: number) {
  const same = observations.filter(({ observedAt }) => observedAt === at);
  const known = same.map(({ counts }) => counts[name]).filter((count) => typeof count === "number");
  return known.length === 0 ? null : Math.max(...known);
}

/** All known values of a count, oldest first. */
export function listKnown(observations: readonly ModelObservation[], name: string) {
  const instants = [...new Set(observations.map(({ observedAt }) => observedAt))];
  return instants
    .toSorted((a, b) => a - b)
    .flatMap((at) => {
      const count = findCount(observations, name, at);
      return count === null ? [] : [{ at, count }];
    });
}

/** The newest known value from `most` to `least` milliseconds before the newest observation. */
function findPast(
  observations: readonly ModelObservation[],
  name: string,
  least: number,
  most: number,
) {
  const newest = findNewestInstant(observations);
  return listKnown(observations, name).findLast(
    ({ at }) => newest - at >= least && newest - at <= most,
  );
}

/** The gains of counts of an owner: `counts` by the middle of the names of its gains. */
export function modelOwnerMetrics(
  counts: Readonly<Record<string, string>>,
  observations: readonly ModelObservation[],
): Record<string, number | null> {
  const metrics: Record<string, number | null> = {};
  for (const [end, name] of Object.entries(counts)) {
    for (const [period, days] of [
      ["daily", 1],
      ["weekly", 7],
      ["monthly", 30],
    ] as const) {
      const now = findCount(observations, name, findNewestInstant(observations));
      const past = findPast(observations, name, days * DAY, 2 * days * DAY)?.count;
      const isKnown = now !== null && past !== undefined;
      metrics[`${period}${end}`] = isKnown ? now - past : null;
      metrics[`${period}${end}Percent`] =
        isKnown && past !== 0 ? round((100 * (now - past)) / past) : null;
    }
  }
  return metrics;
}

/** The metrics of an item, by name, and the comparison with earlier items. */
export function modelItemMetrics(
  names: { readonly views: string; readonly reactions: readonly string[] },
  item: ModelItem,
  creatorItems: readonly ModelItem[],
): Record<string, number | null> {
  const { observations, publishedAt } = item;
  const newest = findNewestInstant(observations);
  const getCount = (name: string) => findCount(observations, name, newest);
  const views = getCount(names.views);
  const ratio = (counts: readonly (number | null)[]) =>
    views === null || views === 0 || counts.includes(null)
      ? null
      : round(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0) / views);
  const rate = (unit: number, least: number, most: number) => {
    const past = findPast(observations, names.views, least, most);
    if (views === null || past === undefined) return null;
    return round(((views - past.count) * unit) / (newest - past.at));
  };
  return {
    ageHours: newest < publishedAt ? null : round((newest - publishedAt) / HOUR),
    [`${names.views}PerHour`]: rate(HOUR, HOUR, 24 * HOUR),
    [`${names.views}PerDay`]: rate(DAY, DAY, 7 * DAY),
    engagement: ratio(names.reactions.map(getCount)),
    likeRate: ratio([getCount("likes")]),
    ...modelAgeMultiple(names.views, item, creatorItems),
  };
}

/** The views at an instant: known, or on the straight line between the two known ones around it. */
function findViewsAt(
  { observations, publishedAt }: ModelItem,
  name: string,
  at: number,
): number | null {
  const known = listKnown(observations, name).filter((point) => point.at >= publishedAt);
  for (const [index, point] of known.entries()) {
    if (point.at === at) return point.count;
    const next = known[index + 1];
    if (next === undefined || point.at > at || next.at <= at) continue;
    return point.count + ((next.count - point.count) * (at - point.at)) / (next.at - point.at);
  }
  return null;
}

function modelAgeMultiple(name: string, item: ModelItem, creatorItems: readonly ModelItem[]) {
  const last = listKnown(item.observations, name).at(-1);
  const unknown = { ageMultiple: null, comparedItems: 0, median: null };
  if (last === undefined || last.at < item.publishedAt) return unknown;
  const age = last.at - item.publishedAt;
  const compared = creatorItems
    .filter(
      ({ publishedAt, id }) =>
        publishedAt < item.publishedAt || (publishedAt === item.publishedAt && id < item.id),
    )
    .toSorted((a, b) => b.publishedAt - a.publishedAt || (a.id < b.id ? 1 : -1))
    .slice(0, 100)
    .map((earlier) => findViewsAt(earlier, name, earlier.publishedAt + age))
    .filter((views) => views !== null)
    .toSorted((a, b) => a - b);
  const comparedItems = compared.length;
  if (comparedItems < 5) return { ...unknown, comparedItems };
  const [low = 0, high = 0] = [
    compared[Math.ceil(comparedItems / 2) - 1],
    compared[Math.floor(comparedItems / 2)],
  ];
  const median = (low + high) / 2;
  const ageMultiple = median === 0 ? null : round(last.count / median);
  return { ageMultiple, comparedItems, median: round(median) };
}
