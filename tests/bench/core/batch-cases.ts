/** Comparisons of the functions that handle a whole list, history or journal at once. */
import { groupIntoBuckets } from "../../../core/buckets.ts";
import { encodeCursor } from "../../../core/cursor.ts";
import { compareShortPositions, pageAfter } from "../../../core/shorts.ts";
import { applyObservation, EMPTY_ENTITY, applyObservations } from "../../../core/entities.ts";
import { thinHistory } from "../../../core/thinning.ts";
import { applyEntries, applyEntry, EMPTY_LEDGER, type LedgerEntry } from "../../../core/ledger.ts";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../core/time.ts";
import type { CoreCase } from "./cases.ts";
import { createId, createList, pick } from "./inputs.ts";

const NOW = Date.UTC(2026, 10, 20);

/** Steps of the forms that copy a map for each: 4 times as many take 16 times as long. */
const STEPS = 1000;

const shorts = createList(20_000, () => ({
  publishedAt: NOW - pick(1e9) * 300,
  id: createId(11),
})).toSorted(compareShortPositions);
const requests = createList(50, () => ({
  limit: 20,
  after: shorts[pick(shorts.length)] ?? { publishedAt: NOW, id: "a" },
}));

const entries = createList(STEPS, (index): LedgerEntry => {
  if (index % 10 === 0) return { kind: "grant", amount: 100, reference: `invoice ${index}` };
  if (index % 10 === 9) return { kind: "refund", debit: `request ${index - 1}` };
  return { kind: "debit", id: `request ${index}`, amount: 1 };
});

const observations = createList(STEPS, (index) => ({
  observedAt: NOW + index * HOUR_MS,
  attributes: { username: "nasa", displayName: `NASA ${index % 7}` },
  counts: { followers_count: 1000 + index, following_count: 3 },
}));

const YEAR_HOURS = 8760;
const points = createList(YEAR_HOURS, (hour) => ({
  at: NOW + hour * HOUR_MS,
  counts: [1000 + hour, null],
}));

const SLICE_MS = ((YEAR_HOURS - 1) * HOUR_MS) / 998;

export const BATCH_CASES: readonly CoreCase[] = [
  {
    what: "pageAfter of 20,000 / filter and slice",
    size: requests.length,
    ours: () => requests.map((request) => pageAfter(shorts, request).nextCursor),
    theirs: () =>
      requests.map(({ after }) => {
        const rest = shorts.filter((short) => compareShortPositions(after, short) < 0);
        const page = rest.slice(0, 21);
        const last = page[19];
        if (page.length <= 20 || last === undefined) return null;
        return encodeCursor(["shorts"], last.publishedAt, last.id);
      }),
    maxRatio: 1,
  },
  {
    what: `applyEntries of ${STEPS} entries / applyEntry for each`,
    size: STEPS,
    ours: () => applyEntries(EMPTY_LEDGER, entries),
    theirs: () => entries.reduce(applyEntry, EMPTY_LEDGER),
    maxRatio: 0.1,
    hasMemory: true,
  },
  {
    what: `applyObservations of ${STEPS} / applyObservation for each`,
    size: STEPS,
    ours: () => applyObservations(EMPTY_ENTITY, observations).entity,
    theirs: () =>
      observations.reduce((entity, next) => applyObservation(entity, next).entity, EMPTY_ENTITY),
    maxRatio: 0.1,
    hasMemory: true,
  },
  {
    what: "groupIntoBuckets, a year of hours by day / Map of day texts",
    size: YEAR_HOURS,
    ours: () => groupIntoBuckets(points, "day"),
    theirs: () => {
      const days = new Map<string, { start: number; observedAt: number; counts: unknown }>();
      for (const { at, counts } of points) {
        const day = formatInstant(at).slice(0, 10);
        days.set(day, { start: Math.floor(at / DAY_MS) * DAY_MS, observedAt: at, counts });
      }
      return [...days.values()];
    },
    maxRatio: 1,
  },
  {
    what: "thinHistory, a year of hours to 1,000 / Map of the newest by slice",
    size: YEAR_HOURS,
    ours: () => thinHistory(points, 1000),
    theirs: () => {
      const slices = new Map(
        points.map((point) => [Math.floor((point.at - NOW) / SLICE_MS), point]),
      );
      return [points[0], ...slices.values()];
    },
  },
];
