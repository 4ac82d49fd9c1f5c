/** Declares what is estimated of the main count of channels and users, besides the metrics. */
import type { MetricDefinition } from "./catalog.ts";
import {
  MILESTONE_MIN,
  PROJECTION_MAX_DAYS,
  PROJECTION_MIN_DAYS,
  PROJECTION_MIN_R_SQUARED,
} from "./milestones.ts";
import { TREND_DAYS, TREND_MIN_CHANGES } from "./trend.ts";

/** What a field consists of, and how it is computed. Its parts have units of their own. */
export type EstimateDefinition = Pick<
  MetricDefinition,
  "formula" | "window" | "limits" | "isDerived"
> & { readonly unit: string };

const WINDOW = `The last ${TREND_DAYS} days before the newest observation`;
const COUNTED = "null if the newest observation does not tell the count";

/** The estimates of channels and users, by the names of their fields. */
export const ESTIMATES: Readonly<
  Record<"roundingStep" | "trend" | "projection" | "milestone", EstimateDefinition>
> = {
  roundingStep: {
    unit: "count",
    formula: "The step between counts of three digits and zeros, at the greatest count",
    window: WINDOW,
    limits:
      "null unless all counts from 1,000 on have three digits and zeros, and there are two different " +
      "ones or one from 10,000 on",
    isDerived: false,
  },
  trend: {
    unit: "count; perDay: counts per day",
    formula:
      "A line is fitted by least squares through the instants at which the rounded count changed: after a " +
      "rise the count had reached it, after a fall it was just below the next step. perDay is its slope. " +
      "estimate is the mean of its value at the newest observation and of the middle of the range that " +
      "the rounded count allows, weighted by the inverse of their variances",
    window: WINDOW,
    limits: `null for exact counts and with fewer than ${TREND_MIN_CHANGES} changes; ${COUNTED}. An estimate, no count that a source told`,
    isDerived: true,
  },
  projection: {
    unit: "instants",
    formula:
      "(milestone - count) / pace. The milestone is the least number above the count, from " +
      `${MILESTONE_MIN} on, that has one digit other than 0. The pace is the slope of the line through the ` +
      "newest known count of each day; of a rounded count, that of its trend. from and to are for the " +
      "ends of the range that has the pace with a probability of 95 %, if the gains of the days are " +
      "independent and go on as in the window; of a rounded count also for the greatest and the least " +
      "count that it can be",
    window: WINDOW,
    limits:
      `${COUNTED}, with known counts of fewer than ${PROJECTION_MIN_DAYS} days, for a rounded count ` +
      "without a trend, if the lower end of the pace is not positive, if R² of the line is below " +
      `${PROJECTION_MIN_R_SQUARED}, and if to is more than ${PROJECTION_MAX_DAYS} days away`,
    isDerived: true,
  },
  milestone: {
    unit: "count; at: an instant",
    formula:
      "The last milestone that an observation is at or above after one below it, and the first such " +
      "observation",
    window: WINDOW,
    limits: "A milestone that the newest known count is below is left out; null if none is left",
    isDerived: true,
  },
};
