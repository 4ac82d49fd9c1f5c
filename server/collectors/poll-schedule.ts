/**
 * When what is observed again. Counts of what is young change fast, of what is old slowly: an item
 * is observed whenever it has become a twenty-fourth older, so each observation tells about as much
 * as the one before, and a fixed quota buys the most history.
 *
 * Profiles are observed every hour, many with one request. They tell how many items there are, so a
 * list of items is looked through when that number has changed. Should the number be late or hide
 * something (one came, one went), the list is looked through all the same, by the age of the newest
 * item: who publishes often is looked at often.
 *
 * Where a quota does not reach, the intervals of what draws on it grow by the same factor, all but
 * those of profiles.
 */
import type { TokenBucket } from "../../core/token-bucket.ts";
import type { AgeRange } from "../ports/targets.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/time.ts";

/** How often what describes an entity, and its own counts, are observed. */
export const PROFILE_INTERVAL_MS = HOUR_MS;

/** What is due within so long is observed with what is due now, where a batch has room. */
export const LOOK_AHEAD_MS = HOUR_MS / 4;

/** How long until an item that is gone is asked for again, at most. */
const GONE_INTERVAL_MAX_MS = 30 * DAY_MS;

/** By which part of its age an item has become older when it is observed again. */
const AGE_DIVISOR = 24;

/** Between which intervals an item is observed, and a list of items looked through. */
const ITEM_INTERVAL_BOUNDS = { shortestMs: HOUR_MS / 2, longestMs: 14 * DAY_MS };
const LIST_INTERVAL_BOUNDS = { shortestMs: 6 * HOUR_MS, longestMs: DAY_MS };

/** The part of a day's quota that is left alone: for questions by hand, and for miscounts. */
export const QUOTA_RESERVE_RATIO = 0.1;

/** How long after a failure it is tried again, for the first time; each further one doubles it. */
const RETRY_BASE_MS = 5 * MINUTE_MS;

/** How many units may be used at once: what the pace gives in so many minutes. */
const BURST_WINDOW_MS = 10 * MINUTE_MS;
const BURST_MIN_UNITS = 20;

/**
 * How long until an item is observed again.
 *
 * @param ageMs Milliseconds since it was published.
 *
 * @example
 * computeItemIntervalMs(7 * 86_400_000); // 25_200_000, seven hours
 */
export function computeItemIntervalMs(ageMs: number): number {
  return computeIntervalByAgeMs(ageMs, ITEM_INTERVAL_BOUNDS);
}

/**
 * How long until a list of items is looked through again where nothing tells that it has changed.
 *
 * @param ageMs Milliseconds since the newest of them was published; `Infinity` where there is none.
 *
 * @example
 * computeListIntervalMs(7 * 86_400_000); // 25_200_000, seven hours
 */
export function computeListIntervalMs(ageMs: number): number {
  return computeIntervalByAgeMs(ageMs, LIST_INTERVAL_BOUNDS);
}

function computeIntervalByAgeMs(
  ageMs: number,
  { shortestMs, longestMs }: { readonly shortestMs: number; readonly longestMs: number },
): number {
  return Math.min(longestMs, Math.max(shortestMs, ageMs / AGE_DIVISOR));
}

/**
 * The spans of age by which items and lists are counted, to know what a day of them costs: each ends
 * a tenth later than it begins, the first where intervals begin to grow, the last with time.
 */
export const AGE_RANGES: readonly AgeRange[] = createAgeRanges();

function createAgeRanges(): AgeRange[] {
  const ranges: AgeRange[] = [];
  let from = 0;
  let to = ITEM_INTERVAL_BOUNDS.shortestMs * AGE_DIVISOR;
  while (to < ITEM_INTERVAL_BOUNDS.longestMs * AGE_DIVISOR) {
    ranges.push({ from, to });
    from = to;
    to = Math.floor(to * 1.1);
  }
  return [...ranges, { from, to: Infinity }];
}

/**
 * How often a day something is observed, all of it together; at most a tenth too much.
 *
 * @param counts How many there are of each of {@link AGE_RANGES}.
 * @param computeIntervalMs How long until one of an age is observed again: {@link computeItemIntervalMs} or
 * {@link computeListIntervalMs}.
 */
export function estimatePollsPerDay(
  counts: readonly number[],
  computeIntervalMs: (ageMs: number) => number,
): number {
  return AGE_RANGES.reduce(
    (sum, { from }, index) => sum + ((counts[index] ?? 0) * DAY_MS) / computeIntervalMs(from),
    0,
  );
}

/**
 * By which factor intervals grow so that a day's quota reaches: 1 where it does anyway.
 *
 * @param needed Units a day that can be stretched.
 * @param fixed Units a day that cannot.
 * @param available Units of a day.
 *
 * @example
 * createRange({ needed: 12_000, fixed: 240, available: 9000 }); // 1.37, about
 */
export function computeSlowdownFactor({
  needed,
  fixed,
  available,
}: {
  readonly needed: number;
  readonly fixed: number;
  readonly available: number;
}): number {
  // Where even what is fixed takes all, a tenth is kept for the rest.
  const remaining = Math.max(available - fixed, available / 10);
  return needed <= remaining ? 1 : needed / remaining;
}

/**
 * When something is due next.
 *
 * What was never observed before comes again anywhere within its interval, so that what was added
 * together is spread at once; later it moves by up to a tenth, so that it stays spread.
 *
 * @param chance From 0 to below 1; see {@link computeJitter}.
 */
export function computeNextDueAt({
  now,
  everyMs,
  isFirst,
  chance,
}: {
  readonly now: number;
  readonly everyMs: number;
  readonly isFirst: boolean;
  readonly chance: number;
}): number {
  const fraction = isFirst ? 0.1 + 0.9 * chance : 0.9 + 0.2 * chance;
  return Math.round(now + everyMs * fraction);
}

/**
 * When something is tried again that failed: soon, then later and later, but no later than it is
 * due anyway.
 *
 * @param failures Failures since the last success, this one included.
 */
export function computeRetryDueAt({
  now,
  everyMs,
  failures,
  chance,
}: {
  readonly now: number;
  readonly everyMs: number;
  readonly failures: number;
  readonly chance: number;
}): number {
  const backoffMs = RETRY_BASE_MS * 2 ** (failures - 1);
  return Math.round(now + Math.min(everyMs, backoffMs) * (0.9 + 0.2 * chance));
}

/**
 * How long until an item that is gone is asked for again, in case it comes back or was missing by
 * mistake: a day, then twice as long each time.
 *
 * @param failures How often in a row it was gone, this time included.
 *
 * @example
 * computeGoneItemIntervalMs(1); // 86_400_000, a day
 */
export function computeGoneItemIntervalMs(failures: number): number {
  return Math.min(GONE_INTERVAL_MAX_MS, DAY_MS * 2 ** (failures - 1));
}

/**
 * A number from 0 to below 1 that a text decides, and that looks like chance.
 *
 * @example
 * computeJitter("nasa 1763640000000") === computeJitter("nasa 1763640000000"); // true
 */
export function computeJitter(text: string): number {
  // FNV-1a, then a mix: neighbours among texts are no neighbours among numbers.
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

/** How fast a source may be asked, so that a day's quota lasts the day and a stop brings no burst. */
export interface PollRate {
  /** Units a millisecond. */
  readonly unitsPerMs: number;
  /** Units that may be used at once. */
  readonly burst: number;
}

/** The pace of a quota. */
export function computePollRate(unitsPerDay: number): PollRate {
  const unitsPerMs = (unitsPerDay * (1 - QUOTA_RESERVE_RATIO)) / DAY_MS;
  return { unitsPerMs, burst: Math.max(BURST_MIN_UNITS, unitsPerMs * BURST_WINDOW_MS) };
}

/** What is in a pace's bucket at an instant; it is full at first. */
export function countAvailableTokens(
  bucket: TokenBucket | undefined,
  rate: PollRate,
  now: number,
): number {
  if (bucket === undefined) return rate.burst;
  const refilled = Math.max(0, now - bucket.at) * rate.unitsPerMs;
  return Math.min(rate.burst, bucket.tokens + refilled);
}
