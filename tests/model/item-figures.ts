/** A naive model of the figures of items: each is computed from all points of all items. */
import { HOUR_MS } from "../../core/time.ts";
import type { CountPoint } from "./gains.ts";

/** An item with all its points, in any order. */
export interface ModelItem {
  readonly id: string;
  readonly owner: string;
  readonly publishedAt: number;
  readonly points: readonly CountPoint[];
}

const round = (value: number) => Math.round(value * 10_000) / 10_000;

/** Computes the figures of one of the items. */
export function modelItemFigures(items: readonly ModelItem[], item: ModelItem) {
  const points = item.points.toSorted((a, b) => a.at - b.at);
  const newest = points.at(-1);
  const rate = (minHours: number, maxHours: number, unitHours: number) => {
    if (newest === undefined || newest.count === null) return null;
    const past = points.findLast(
      ({ at, count }) =>
        count !== null &&
        at <= newest.at - minHours * HOUR_MS &&
        at >= newest.at - maxHours * HOUR_MS,
    );
    if (past === undefined) return null;
    const hours = (newest.at - past.at) / HOUR_MS;
    return round(((newest.count - (past.count ?? 0)) / hours) * unitHours);
  };
  return {
    views: newest?.count ?? null,
    perHour: rate(1, 24, 1),
    perDay: rate(24, 7 * 24, 24),
    ageMultiple: modelAgeMultiple(items, item),
  };
}

function modelAgeMultiple(items: readonly ModelItem[], item: ModelItem): number | null {
  const compared = listKnown(item).at(-1);
  if (compared === undefined || compared.at < item.publishedAt) return null;
  const earlier = items
    .filter(({ owner, publishedAt, id }) => {
      if (owner !== item.owner) return false;
      return publishedAt < item.publishedAt || (publishedAt === item.publishedAt && id < item.id);
    })
    .toSorted((a, b) => b.publishedAt - a.publishedAt || (a.id < b.id ? 1 : -1))
    .slice(0, 100);
  const views = earlier
    .map((other) => viewsAt(other, other.publishedAt + compared.at - item.publishedAt))
    .filter((count) => count !== null)
    .toSorted((a, b) => a - b);
  if (views.length < 5) return null;
  const at = (index: number) => views[index] ?? 0;
  const half = Math.floor(views.length / 2);
  const median = views.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  return median === 0 ? null : round(compared.count / median);
}

const listKnown = ({ points }: ModelItem) =>
  points
    .flatMap(({ at, count }) => (count === null ? [] : [{ at, count }]))
    .toSorted((a, b) => a.at - b.at);

function viewsAt(item: ModelItem, at: number): number | null {
  const known = listKnown(item).filter((point) => point.at >= item.publishedAt);
  const before = known.findLast((point) => point.at <= at);
  const after = known.find((point) => point.at >= at);
  if (before === undefined || after === undefined) return null;
  if (before.at === after.at) return before.count;
  return before.count + ((after.count - before.count) * (at - before.at)) / (after.at - before.at);
}
