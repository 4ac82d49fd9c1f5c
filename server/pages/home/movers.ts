/**
 * Movers of the week and milestones. A page of rows costs a credit, so home reads few, and computes
 * from them what it can.
 */
import { MetricsError, type Client } from "../../../core/client/mod.ts";
import { GAIN_PERIOD_DAYS } from "../../../core/growth.ts";
import { findLastMilestone, findNextMilestone } from "../../../core/metrics/milestones.ts";
import { isChangeRounding } from "../../../core/metrics/rounded-counts.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { readOnce, useRead } from "../hooks.ts";
import { getMainGain, getPercentName } from "../labels.ts";
import { readCount, type OwnerPages, type OwnerRow } from "../owners/owner-pages.ts";
import type { Read } from "../state-hooks.ts";

/** What home costs at most, unless a visitor asks for more. */
export const HOME_PRICE_MAX = 5;

/** The least count of those that are compared by percent: each step of a small count is large. */
export const PERCENT_COUNT_MIN = 1000;

/** The rows by number, in which milestones are looked for too. */
const NUMBER_ROWS = 50;

/** The rows by percent: more than are shown, for those whose gain is a step of rounding. */
const PERCENT_ROWS = 15;

interface Rows {
  readonly items: readonly OwnerRow[];
  readonly hasMore: boolean;
}

interface PercentRows {
  readonly items: readonly OwnerRow[];
  readonly credits: number;
}

export interface Movers {
  /** The rows with the greatest gains, by number. */
  readonly byNumber: Read<Rows>;
  /** The rows with the greatest gains in percent. */
  readonly byPercent: Read<PercentRows>;
  /** All rows that were read, each once. */
  readonly rows: readonly OwnerRow[];
  /** What was paid; unknown while it is read. */
  readonly credits: number | undefined;
}

/** Reads a page of rows, and a second one by percent if there are more than the page has. */
export function useMovers(owner: OwnerPages, list: string): Movers {
  const number = useRead(...createNumberRead(owner, list));
  const byPercent = useRead(["movers by percent", owner.kind, list], (client) =>
    readPercentRows(owner, client, list),
  );
  const all = [...(number.value?.items ?? []), ...(byPercent.value?.items ?? [])];
  return {
    // The rows by percent need those by number.
    byNumber: {
      ...number,
      reload() {
        number.reload();
        byPercent.reload();
      },
    },
    byPercent,
    rows: [...new Map(all.map((row) => [row.id, row])).values()],
    credits: countCredits(number, byPercent),
  };
}

/** The name and the request of the rows by number, which two reads share. */
const createNumberRead = (owner: OwnerPages, list: string) =>
  [
    ["movers by number", owner.kind, list],
    (client: Client) => readRows(owner, client, list),
  ] as const;

function countCredits(number: Read<Rows>, percent: Read<PercentRows>): number | undefined {
  if (number.error !== undefined) return getCost(number.error);
  if (number.value === undefined) return undefined;
  if (percent.error !== undefined) return 1 + getCost(percent.error);
  return percent.value && 1 + percent.value.credits;
}

/** What a failed read cost. One without a response may have been paid. */
const getCost = (error: unknown): number => (error instanceof MetricsError ? (error.cost ?? 0) : 1);

/** Reads the rows with the greatest gains, by number unless another sort is given. */
async function readRows(
  { kind, openList, listedCounts: [main = ""] }: OwnerPages,
  client: Client,
  list: string,
  query: Readonly<{ sort?: string; limit?: number; min?: number }> = {},
): Promise<Rows> {
  const gain = getMainGain(kind, "weekly");
  const percents = hasDerivedFigures(kind) ? [getPercentName(gain)] : [];
  const readPage = openList(client, {
    sort: gain,
    limit: NUMBER_ROWS,
    ...query,
    fields: [main, gain, getMainGain(kind, "monthly"), ...percents],
    list: list || undefined,
  });
  return (await readPage()) ?? { items: [], hasMore: false };
}

async function readPercentRows(
  owner: OwnerPages,
  client: Client,
  list: string,
): Promise<PercentRows> {
  const { kind, listedCounts } = owner;
  const [main = ""] = listedCounts;
  if (!hasDerivedFigures(kind)) return { items: [], credits: 0 };
  const { items, hasMore } = await readOnce(client, ...createNumberRead(owner, list));
  const sort = getPercentName(getMainGain(kind, "weekly"));
  const min = list === "" ? PERCENT_COUNT_MIN : 0;
  if (hasMore) {
    const query = { sort, limit: PERCENT_ROWS, min };
    return { items: (await readRows(owner, client, list, query)).items, credits: 1 };
  }
  const compared = items
    .filter(({ counts }) => (readCount(counts, main) ?? 0) >= min)
    .toSorted((a, b) => compareCounts(b, a, sort));
  return { items: compared, credits: 0 };
}

/** Selects the rows with a gain that is more than a step of rounding. */
export const selectMovers = (owner: OwnerPages, rows: readonly OwnerRow[], field: string) =>
  rows.filter((row) => (readCount(row.counts, field) ?? 0) > 0 && !isRounding(owner, row));

const compareCounts = (a: OwnerRow, b: OwnerRow, name: string): number =>
  (readCount(a.counts, name) ?? -Infinity) - (readCount(b.counts, name) ?? -Infinity) || 0;

/** Whether a gain is one step of a source that rounds: then it can be next to nothing. */
function isRounding({ kind, listedCounts: [main = ""] }: OwnerPages, { counts }: OwnerRow) {
  const [count, gain] = [main, getMainGain(kind, "weekly")].map((name) => readCount(counts, name));
  return count != null && gain != null && isChangeRounding([count - gain, count]);
}

export interface Milestone {
  readonly owner: OwnerPages;
  readonly row: OwnerRow;
  readonly milestone: number;
  readonly count: number;
  /** In how many days it is reached, at the pace of the last 30 days; `null` for a passed one. */
  readonly days: number | null;
}

/** Finds the milestones that were passed in the week, the greatest first. */
export function findPassedMilestones(owner: OwnerPages, rows: readonly OwnerRow[]): Milestone[] {
  return rows.flatMap((row): Milestone[] => {
    const { count, weekly } = readGains(owner, row);
    const milestone = findLastMilestone(count);
    const isPassed = milestone > 0 && count - weekly < milestone;
    return isPassed ? [{ owner, row, milestone, count, days: null }] : [];
  });
}

/** Estimates which milestones are reached within 30 days, at the pace of the last 30 days. */
export function findNearMilestones(owner: OwnerPages, rows: readonly OwnerRow[]): Milestone[] {
  if (!hasDerivedFigures(owner.kind)) return [];
  return rows.flatMap((row): Milestone[] => {
    const { count, monthly } = readGains(owner, row);
    const milestone = findNextMilestone(count);
    const days = ((milestone - count) * GAIN_PERIOD_DAYS.monthly) / monthly;
    const isNear = monthly > 0 && days <= GAIN_PERIOD_DAYS.monthly;
    if (!isNear || isChangeRounding([count - monthly, count])) return [];
    return [{ owner, row, milestone, count, days }];
  });
}

/** The main count of a row and its gains; an unknown one is 0, which is no milestone. */
function readGains({ kind, listedCounts: [main = ""] }: OwnerPages, { counts }: OwnerRow) {
  const read = (name: string) => readCount(counts, name) ?? 0;
  const [weekly, monthly] = [getMainGain(kind, "weekly"), getMainGain(kind, "monthly")];
  return { count: read(main), weekly: read(weekly), monthly: read(monthly) };
}
