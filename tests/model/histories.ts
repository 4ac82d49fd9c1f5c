/**
 * A naive model of histories and comparisons: it groups all points, whatever the range, and finds
 * buckets by the calendar of `Date`, or by the dates that `Intl` writes in a time zone. The library
 * and the queries of the store are compared with it.
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
  readonly zone?: string;
  readonly from: number;
  /** The instant after the last one. */
  readonly to: number;
}

/**
 * The start of the bucket of an instant, as a response writes it. In a zone, it is searched; clocks
 * that are set back past midnight are not modelled.
 */
export function findModelStart(at: number, interval: HistoryInterval, zone?: string): string {
  if (zone !== undefined && interval !== "raw") {
    const key = `${zone} ${interval} ${at}`;
    const start = localStarts.get(key) ?? searchLocalStart(at, interval, zone);
    localStarts.set(key, start);
    return start;
  }
  const date = new Date(at);
  if (interval !== "raw") date.setUTCMinutes(0, 0, 0);
  if (interval !== "raw" && interval !== "hour") date.setUTCHours(0);
  if (interval === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (interval === "month") date.setUTCDate(1);
  const text = date.toISOString();
  // The first week begins with the year 0: no earlier instant can be written.
  return text.startsWith("-") ? "0000-01-01T00:00:00.000Z" : text;
}

/** A search takes 0.1 ms, and tests find many points again and again. */
const localStarts = new Map<string, string>();

const formats = new Map<string, Intl.DateTimeFormat>();

/** Writes a date, hour and offset, such as `2026-11-20 08 GMT+01:00`. */
function writeLocalHour(at: number, zone: string): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      timeZoneName: "longOffset",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
    });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const [year, month, day, hour, offset] = ["year", "month", "day", "hour", "timeZoneName"].map(
    (type) => parts.get(type as Intl.DateTimeFormatPartTypes),
  );
  return `${year}-${month}-${day} ${hour} ${offset}`;
}

/** Finds the first instant of the same hour and offset, or with the first date or a later one. */
function searchLocalStart(at: number, interval: HistoryInterval, zone: string): string {
  const text = writeLocalHour(at, zone);
  const firstDate = findModelStart(Date.parse(text.slice(0, 10)), interval).slice(0, 10);
  const isInside = (instant: number) =>
    interval === "hour"
      ? writeLocalHour(instant, zone) === text
      : writeLocalHour(instant, zone).slice(0, 10) >= firstDate;
  let [before, inside] = [at - 33 * 86_400_000, at];
  while (inside - before > 1) {
    const middle = Math.floor((before + inside) / 2);
    if (isInside(middle)) inside = middle;
    else before = middle;
  }
  return new Date(inside).toISOString();
}

/** All points by the start of their bucket, oldest first. */
function groupPoints(points: readonly ModelPoint[], { interval, zone }: ModelRange) {
  const oldestFirst = points.toSorted((a, b) => a.at - b.at);
  return groupBy(oldestFirst, ({ at }) => findModelStart(at, interval, zone));
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
function createRangeFilter({ interval, zone, from, to }: ModelRange) {
  // In some zones, the last instant is in the year 10000.
  const [first, last] = [from, Math.min(to - 1, Date.UTC(9999, 0))].map((at) =>
    findModelStart(at, interval, zone),
  );
  return (start: string) => start >= String(first) && start <= String(last);
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
  for (const [timestamp, inside] of groupPoints(points, range)) {
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
  const grouped = histories.map((points) => groupPoints(points, range));
  const starts = new Set(grouped.flatMap((groups) => [...groups.keys()]));
  const selected = [...starts].filter(createRangeFilter(range)).toSorted();
  return selected.map((timestamp) => ({
    timestamp,
    values: grouped.map((groups) => findNewestKnown(groups.get(timestamp) ?? [], name)),
  }));
}
