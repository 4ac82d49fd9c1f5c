/**
 * How the demo's counts move: functions of the instant alone.
 *
 * What can only rise is a rising function of an audience's time: clock time that runs faster in
 * the evening and at the weekend, never backwards.
 */
import { HOUR_MS } from "../../core/time.ts";
import { draw, drawNormal, drawBetween, logistic, valueNoise, steppedNoise } from "./random.ts";

/** Where the endless schedule starts; the demo knows nothing earlier. A Monday. */
export const EPOCH = Date.UTC(2024, 0, 1);

// The swings of an audience's pace. Their sum with the noise's slope (2 * 0.6 / 5) stays below 1,
// so that the pace stays above 0.
const DAILY_SWING = 0.55;
const WEEKLY_SWING = 0.15;
const NOISE_HOURS = 0.6;
const NOISE_EVERY_HOURS = 5;

const WEEKLY_PEAK_HOUR = 6 * 24; // Saturday night, counted from a Monday.

/** What an audience's time depends on. */
export interface Audience {
  /** The hour of the day, UTC, when most of it watches. */
  readonly peakHour: number;
}

/**
 * Reads an audience's time: hours since `EPOCH`, swinging with the day and the week around the
 * clock's, with noise.
 *
 * @param seed Which noise.
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

/** How a post is seen over its life. */
export interface Reach {
  /** How often it is seen in the end, a burst aside. */
  readonly total: number;
  /** How long the first interest lasts, and the later one. */
  readonly fastHours: number;
  readonly slowHours: number;
  /** A post that goes viral: how many times its total a burst adds, when and how suddenly. */
  readonly burst?: { readonly factor: number; readonly atHours: number; readonly hours: number };
}

const VIRAL_SHARE = 0.05;
const FAST_SHARE = 0.65;

/**
 * Decides the fate of a post.
 *
 * @param typical What the median post reaches, a burst aside.
 * @param fastHours How long the first interest lasts, typically.
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

/** Counts a post at an instant. */
export type Counter = (instant: number) => number;

/**
 * Makes the counters of one post: what a share of those who see it do, each with a noise of its
 * own and hence a small lead or delay on the others. A counter never falls.
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

/** How a following moves. */
export interface Following {
  /** At `EPOCH`. */
  readonly base: number;
  /** What it gains each day; a creator in decline loses. */
  readonly perDay: number;
  /** How far sudden rises and falls carry it, up and down. */
  readonly swing: number;
}

const STEP_EVERY_HOURS = 12 * 24;
const FLUTTER_SHARE = 0.006;
const FLUTTER_EVERY_HOURS = 1.7;
const FOLLOWING_MIN = 1000;

/** The size of a following at an instant: a whole number that may fall. */
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

/** Cuts a count to its first three digits, as a platform shows large ones. */
export function roundDownToThreeDigits(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 3);
  return Math.floor(count / unit) * unit;
}
