/**
 * Computes the demo's counts as functions of the instant.
 *
 * Counts that never fall are rising functions of audience time: a clock that runs faster in the
 * evening and at the weekend, and never backwards.
 */
import { HOUR_MS } from "../../core/time.ts";
import { draw, drawNormal, drawBetween, logistic, valueNoise, steppedNoise } from "./random.ts";

/** The start of the schedule, a Monday. Nothing is published or observed before it. */
export const EPOCH = Date.UTC(2024, 0, 1);

// The amplitudes of the speed of audience time. Together with the slope of the noise (2 * 0.6 / 5)
// they stay below 1, so that the speed stays above 0.
const DAILY_SWING = 0.55;
const WEEKLY_SWING = 0.15;
const NOISE_HOURS = 0.6;
const NOISE_EVERY_HOURS = 5;

const WEEKLY_PEAK_HOUR = 6 * 24; // Saturday night, counted from a Monday.

/** The audience of a creator. */
export interface Audience {
  /** The hour of the day, in UTC, when most people watch. */
  readonly peakHour: number;
}

/**
 * Converts an instant to audience time: the hours since `EPOCH`, with a daily and a weekly wave and
 * noise.
 *
 * @param seed The seed of the noise.
 */
export function toAudienceHours(audience: Audience, seed: number, instant: number): number {
  const hours = (instant - EPOCH) / HOUR_MS;
  const radiansPerHour = (2 * Math.PI) / 24;
  const daily =
    (DAILY_SWING / radiansPerHour) * Math.sin(radiansPerHour * (hours - audience.peakHour));
  const weekly =
    ((WEEKLY_SWING * 7) / radiansPerHour) *
    Math.sin((radiansPerHour / 7) * (hours - WEEKLY_PEAK_HOUR));
  return hours + daily + weekly + NOISE_HOURS * valueNoise(seed, hours / NOISE_EVERY_HOURS);
}

/** How the views of a post grow. */
export interface Reach {
  /** The final number of views, without a burst. */
  readonly total: number;
  /** How long the first wave of views lasts, and the later one. */
  readonly fastHours: number;
  readonly slowHours: number;
  /** Of a viral post: the views of the burst as a multiple of the total, its time and duration. */
  readonly burst?: { readonly factor: number; readonly atHours: number; readonly hours: number };
}

const VIRAL_SHARE = 0.05;
const FAST_SHARE = 0.65;

/**
 * Draws how the views of a post grow.
 *
 * @param typical The final number of views of the median post, without a burst.
 * @param fastHours How long the first wave of views typically lasts.
 */
export function drawReach(seed: number, typical: number, fastHours: number): Reach {
  const reach = {
    total: typical * Math.exp(0.7 * drawNormal(seed, 10)),
    fastHours: fastHours * drawBetween(seed, 14, 0.7, 1.4),
    slowHours: fastHours * drawBetween(seed, 15, 6, 12),
  };
  if (draw(seed, 16) >= VIRAL_SHARE) return reach;
  const burst = {
    factor: drawBetween(seed, 17, 5, 25),
    atHours: fastHours * drawBetween(seed, 18, 0.8, 4),
    hours: fastHours * drawBetween(seed, 19, 0.08, 0.25),
  };
  return { ...reach, burst };
}

/** Returns a count of a post at an instant. */
export type Counter = (instant: number) => number;

/**
 * Creates the counters of one post. Each counts a share of the views, and has noise of its own, so
 * that it runs a little ahead of or behind the others. A counter never falls.
 */
export function createCounterFactory(reach: Reach, audience: Audience, publishedAt: number) {
  return (share: number, noise: number): Counter => {
    const start = toAudienceHours(audience, noise, publishedAt);
    return (instant) =>
      Math.floor(share * countViews(reach, toAudienceHours(audience, noise, instant) - start));
  };
}

function countViews({ total, fastHours, slowHours, burst }: Reach, hours: number): number {
  const age = Math.max(0, hours);
  const fast = 1 - Math.exp(-age / fastHours);
  const slow = 1 - Math.exp(-age / slowHours);
  const calm = FAST_SHARE * fast + (1 - FAST_SHARE) * slow;
  return total * (calm + (burst === undefined ? 0 : burst.factor * computeBurstShare(burst, age)));
}

function computeBurstShare({ atHours, hours }: NonNullable<Reach["burst"]>, age: number): number {
  return logistic((age - atHours) / hours) - logistic(-atHours / hours);
}

/** How the number of followers changes. */
export interface Following {
  /** At `EPOCH`. */
  readonly base: number;
  /** The gain of each day; negative for a creator in decline. */
  readonly perDay: number;
  /** The size of sudden rises and falls. */
  readonly swing: number;
}

const STEP_EVERY_HOURS = 12 * 24;
const FLUTTER_SHARE = 0.006;
const FLUTTER_EVERY_HOURS = 1.7;
const FOLLOWING_MIN = 1000;

/** Computes the number of followers at an instant. It can fall. */
export function computeFollowing(
  { base, perDay, swing }: Following,
  audience: Audience,
  seed: number,
  instant: number,
): number {
  const hours = (instant - EPOCH) / HOUR_MS;
  const trend = (perDay / 24) * toAudienceHours(audience, seed, instant);
  const steps = swing * steppedNoise(seed, hours / STEP_EVERY_HOURS);
  const flutter =
    FLUTTER_SHARE * swing * valueNoise(seed ^ 0x2c1b3c6d, hours / FLUTTER_EVERY_HOURS);
  return Math.max(FOLLOWING_MIN, Math.floor(base + trend + steps + flutter));
}

/** Rounds a count down to three significant digits, as platforms show large ones. */
export function roundDownToThreeDigits(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 3);
  return Math.floor(count / unit) * unit;
}
