/** The points of a whole history that a retention rule keeps. */
import { applyRetentionBounds, computeRetentionBounds } from "../../core/retention.ts";

/** @param points Oldest first, no two at one instant. */
export const applyRetentionRule = <Point extends { readonly at: number }>(
  points: readonly Point[],
  rule: Parameters<typeof computeRetentionBounds>[0],
  now: number,
): Point[] => applyRetentionBounds(points, computeRetentionBounds(rule, now));
