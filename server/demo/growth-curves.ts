/**
 * Computes the demo's counts at an instant: counts of posts, which never fall, and followers. They
 * follow audience time, a clock that runs faster in the evening and at weekends, never backwards.
 */
import { HOUR_MS } from "../../core/time.ts";
import { EPOCH, type DemoCreator } from "./creators.ts";
import { draw, drawBetween, hashSeed } from "./random.ts";

// The amplitudes of the speed of audience time. Together with the slope of the noise (2 * 0.6 / 5)
// they stay below 1, so that the speed stays above 0.
const DAILY_SWING = 0.55;
const WEEKLY_SWING = 0.15;
const NOISE_HOURS = 0.6;
const NOISE_EVERY_HOURS = 5;

const WEEKLY_PEAK_HOUR = 6 * 24; // Saturday night, counted from a Monday.

const RADIANS_PER_HOUR = (2 * Math.PI) / 24;

/**
 * Converts an instant to audience time: hours since `EPOCH`, with daily and weekly waves and noise.
 */
export function toAudienceHours({ peakHour }: DemoCreator, seed: number, instant: number): number {
  const hours = (instant - EPOCH) / HOUR_MS;
  const daily = (DAILY_SWING / RADIANS_PER_HOUR) * Math.sin(RADIANS_PER_HOUR * (hours - peakHour));
  const weekly =
    ((WEEKLY_SWING * 7) / RADIANS_PER_HOUR) *
    Math.sin((RADIANS_PER_HOUR / 7) * (hours - WEEKLY_PEAK_HOUR));
  return hours + daily + weekly + NOISE_HOURS * valueNoise(seed, hours / NOISE_EVERY_HOURS);
}

const VIRAL_SHARE = 0.05;
const FAST_SHARE = 0.65;

/**
 * Creates the counts of a post as a function of the instant: its views, and for each of `shares` a
 * share of the views; a count whose share is `undefined` is left out. Each count has noise of its
 * own, so that it runs a little ahead of or behind the others. No count ever falls, or exceeds the
 * views. The first wave of views typically lasts `interestHours`.
 */
export function createCounts(
  creator: DemoCreator,
  seed: number,
  publishedAt: number,
  interestHours: number,
  shares: Readonly<Record<string, number | undefined>>,
) {
  const total = creator.typicalReach * Math.exp(0.7 * drawNormal(seed, 10));
  const fastHours = interestHours * drawBetween(seed, 14, 0.7, 1.4);
  const slowHours = interestHours * drawBetween(seed, 15, 6, 12);
  const burstFactor = draw(seed, 16) < VIRAL_SHARE ? drawBetween(seed, 17, 5, 25) : 0;
  const burstAtHours = interestHours * drawBetween(seed, 18, 0.8, 4);
  const burstHours = interestHours * drawBetween(seed, 19, 0.08, 0.25);
  const beforeBurst = logistic(-burstAtHours / burstHours);

  /** The views at an age in audience time: two waves, and the burst of a viral post. */
  const countViews = (hours: number) => {
    const age = Math.max(0, hours);
    const fast = 1 - Math.exp(-age / fastHours);
    const slow = 1 - Math.exp(-age / slowHours);
    const burst = logistic((age - burstAtHours) / burstHours) - beforeBurst;
    return total * (FAST_SHARE * fast + (1 - FAST_SHARE) * slow + burstFactor * burst);
  };

  const createCounter = (share: number, noise: number) => {
    const start = toAudienceHours(creator, noise, publishedAt);
    return (instant: number) =>
      Math.floor(share * countViews(toAudienceHours(creator, noise, instant) - start));
  };
  const see = createCounter(1, seed);
  const counters = Object.entries(shares).flatMap(([name, share], index) =>
    share === undefined ? [] : [{ name, count: createCounter(share, seed + 1 + index) }],
  );
  return (instant: number) => {
    const views = see(instant);
    const counts = Object.fromEntries(
      counters.map(({ name, count }) => [name, Math.min(views, count(instant))]),
    );
    return { views, counts };
  };
}

const STEP_EVERY_HOURS = 12 * 24;
const FLUTTER_SHARE = 0.006;
const FLUTTER_EVERY_HOURS = 1.7;
const FOLLOWERS_MIN = 1000;

export function countFollowers(creator: DemoCreator, instant: number): number {
  const { base, perDay, swing } = creator.followers;
  const seed = hashSeed(creator.username);
  const hours = (instant - EPOCH) / HOUR_MS;
  const trend = (perDay / 24) * toAudienceHours(creator, seed, instant);
  const steps = swing * steppedNoise(seed, hours / STEP_EVERY_HOURS);
  const flutter =
    FLUTTER_SHARE * swing * valueNoise(seed ^ 0x2c1b3c6d, hours / FLUTTER_EVERY_HOURS);
  return Math.max(FOLLOWERS_MIN, Math.floor(base + trend + steps + flutter));
}

/**
 * Draws from an approximate normal distribution, of mean 0 and deviation 1: the sum of the uniform
 * draws at four indexes from `index` on, which is never beyond 3.5.
 */
function drawNormal(seed: number, index: number): number {
  const sum = [0, 1, 2, 3].reduce((total, step) => total + draw(seed, index + step), -2);
  return sum * Math.sqrt(3);
}

/** Noise between -1 and 1, linear between whole positions: the slope is 2 at most for each unit. */
function valueNoise(seed: number, position: number): number {
  const index = Math.floor(position);
  return mixNoise(seed, index, position - index);
}

/** Rises from 0 to 1, and is 1/2 at 0. */
const logistic = (position: number): number => 1 / (1 + Math.exp(-position));

const STEEPNESS = 40;

/**
 * Noise between -1 and 1 in steps: between two whole positions it rises or falls once, along a
 * logistic function, at a random position.
 */
function steppedNoise(seed: number, position: number): number {
  const index = Math.floor(position);
  const moment = drawBetween(seed ^ 0x5bd1e995, index, 0.3, 0.7);
  const start = logistic(-moment * STEEPNESS);
  const end = logistic((1 - moment) * STEEPNESS);
  const now = logistic((position - index - moment) * STEEPNESS);
  return mixNoise(seed, index, (now - start) / (end - start));
}

function mixNoise(seed: number, index: number, progress: number): number {
  const before = draw(seed, index);
  return 2 * (before + (draw(seed, index + 1) - before) * progress) - 1;
}
