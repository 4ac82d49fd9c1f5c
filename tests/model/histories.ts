/**
 * A naive model of histories and comparisons: it groups all points, whatever the range, and finds
 * buckets by the calendar of `Date`. The library and the queries of the store are compared with it.
 */
import type { HistoryInterval } from "../../core/buckets.ts";

/** What was counted at an instant. */
export interface ModelPoint {
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** By name; `null` is unknown. */
  readonly counts: Readonly<Record<string, number | null>>;
}

/** Which buckets are listed. Instants are milliseconds since 1970 UTC. */
export interface ModelRange {
  readonly interval: HistoryInterval;
  readonly from: number;
  /** The instant after the last one. */
  readonly to: number;
}

/** The start of the bucket of an instant, as a response writes it. */
export function findModelStart(at: number, interval: HistoryInterval): string {
  const date = new Date(at);
  if (interval !== "raw") date.setUTCMinutes(0, 0, 0);
  if (interval !== "raw" && interval !== "hour") date.setUTCHours(0);
  if (interval === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (interval === "month") date.setUTCDate(1);
  const text = date.toISOString();
  // The first week begins with the year 0: no earlier instant can be written.
  return text.startsWith("-") ? "0000-01-01T00:00:00.000Z" : text;
}

/** All points by the start of their bucket, oldest first. */
function groupPoints(points: readonly ModelPoint[], interval: HistoryInterval) {
  const oldestFirst = points.toSorted((a, b) => a.at - b.at);
  return groupBy(oldestFirst, ({ at }) => findModelStart(at, interval));
}

/** Groups items by a key, like `Map.groupBy()`, which Node 20 does not have. */
export function groupBy<Item, Key>(items: readonly Item[], getKey: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = getKey(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

/** Whether a bucket overlaps a range. */
function createRangeFilter({ interval, from, to }: ModelRange) {
  const [first, last] = [findModelStart(from, interval), findModelStart(to - 1, interval)];
  return (start: string) => start >= first && start <= last;
}

/** The newest known value of a count; `null` if no point knows it. */
const findNewestKnown = (points: readonly ModelPoint[], name: string): number | null =>
  points.findLast(({ counts }) => typeof counts[name] === "number")?.counts[name] ?? null;

/**
 * The buckets of a history as a response lists them, oldest first.
 *
 * @param points In any order, no two at one instant.
 * @param names The counts of the kind.
 */
export function modelHistory(
  points: readonly ModelPoint[],
  names: readonly string[],
  range: ModelRange,
): object[] {
  const isSelected = createRangeFilter(range);
  const known: Record<string, number | null> = {};
  const items: object[] = [];
  for (const [timestamp, inside] of groupPoints(points, range.interval)) {
    const counts = names.map((name) => [name, findNewestKnown(inside, name)] as const);
    const changes = counts.map(([name, count]) => {
      const previous = known[name] ?? null;
      return [name, count === null || previous === null ? null : count - previous];
    });
    if (isSelected(timestamp)) {
      const observedAt = new Date(Math.max(...inside.map(({ at }) => at))).toISOString();
      const change = Object.fromEntries(changes);
      items.push({ timestamp, observedAt, ...Object.fromEntries(counts), change });
    }
    for (const [name, count] of counts) known[name] = count ?? known[name] ?? null;
  }
  return items;
}

/**
 * The rows of a comparison of one count as a response lists them, oldest first.
 *
 * @param histories The points of each entity; none for one that is not found.
 */
export function modelComparison(
  histories: readonly (readonly ModelPoint[])[],
  name: string,
  range: ModelRange,
): { timestamp: string; values: (number | null)[] }[] {
  const grouped = histories.map((points) => groupPoints(points, range.interval));
  const starts = new Set(grouped.flatMap((groups) => [...groups.keys()]));
  const selected = [...starts].filter(createRangeFilter(range)).toSorted();
  return selected.map((timestamp) => ({
    timestamp,
    values: grouped.map((groups) => findNewestKnown(groups.get(timestamp) ?? [], name)),
  }));
}
