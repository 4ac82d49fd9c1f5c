/** Parses, formats and applies retention rules: how long each kind's observations are stored. */
import { ENTITY_KINDS, type EntityKind } from "./kinds.ts";
import { parseInteger } from "./parameters.ts";
import { DAY_MS, FIRST_INSTANT } from "./time.ts";

/** The least is more than the 30 days that the monthly gain looks back. */
const RETENTION_DAYS_RANGE = { min: 40, max: 36_500 } as const;

/** A rule for a kind of entity. The newest observation of an entity is never removed. */
interface RetentionRule {
  readonly rawDays: number;
  /** Up to this age, each UTC day's newest is kept: `rawDays` for none, `Infinity` for no end. */
  readonly dailyDays: number;
}

/** A kind without a rule keeps everything. */
export type RetentionPolicy = Readonly<Partial<Record<EntityKind, RetentionRule>>>;

/** The syntax that {@link parseRetentionPolicy} accepts, for messages. */
export const RETENTION_SYNTAX: string =
  "KIND=90d, KIND=90d/day or KIND=90d/day/365d, separated by commas, " +
  `each kind (${ENTITY_KINDS.join(", ")}) once, days from ${RETENTION_DAYS_RANGE.min} to ` +
  `${RETENTION_DAYS_RANGE.max}, the second more than the first`;

const RULE_PATTERN = /^ *([a-z]+)=(\d+)d(?:(\/day)(?:\/(\d+)d)?)? *$/;

/** Parses rules: `90d`, `90d/day` (then one a UTC day), `90d/day/365d` (until 365 days). */
export function parseRetentionPolicy(text: string): RetentionPolicy | undefined {
  const policy: Partial<Record<EntityKind, RetentionRule>> = {};
  for (const part of text.split(",")) {
    const match = RULE_PATTERN.exec(part);
    if (match === null) return undefined;
    // Stryker disable next-line StringLiteral: only the type needs the default.
    const [, name, rawText = "", daily, lastText] = match;
    const kind = ENTITY_KINDS.find((kindName) => kindName === name);
    const rawDays = parseInteger(rawText, RETENTION_DAYS_RANGE);
    if (kind === undefined || rawDays === undefined || policy[kind] !== undefined) return undefined;
    const defaultDailyDays = daily === undefined ? rawDays : Infinity;
    const dailyDays =
      lastText === undefined
        ? defaultDailyDays
        : parseInteger(lastText, { min: rawDays + 1, max: RETENTION_DAYS_RANGE.max });
    if (dailyDays === undefined) return undefined;
    policy[kind] = { rawDays, dailyDays };
  }
  return policy;
}

/** Formats a rule as {@link parseRetentionPolicy} reads it; `all` for none. */
export function formatRetentionRule(rule: RetentionRule | undefined): string {
  if (rule === undefined) return "all";
  const { rawDays, dailyDays } = rule;
  if (dailyDays === rawDays) return `${rawDays}d`;
  return dailyDays === Infinity ? `${rawDays}d/day` : `${rawDays}d/day/${dailyDays}d`;
}

/** The instants at which a rule changes its treatment, in milliseconds since 1970 UTC. */
export interface RetentionBounds {
  /** From this midnight UTC on, every observation is kept. */
  readonly rawFrom: number;
  /** From this midnight to `rawFrom`, the newest of each UTC day is kept; before it, none. */
  readonly dailyFrom: number;
}

/** Bounds move only at midnight UTC, so it makes no difference how often a rule is applied. */
export function computeRetentionBounds(
  { rawDays, dailyDays }: RetentionRule,
  now: number,
): RetentionBounds {
  const today = Math.floor(now / DAY_MS);
  const daysAgo = (days: number) => Math.max(FIRST_INSTANT, (today - days) * DAY_MS);
  return { rawFrom: daysAgo(rawDays), dailyFrom: daysAgo(dailyDays) };
}

/** Filters a part of a history, oldest first. `nextAt` is the instant of the point after it. */
export function applyRetentionBounds<Point extends { readonly at: number }>(
  points: readonly Point[],
  { rawFrom, dailyFrom }: RetentionBounds,
  nextAt?: number,
): Point[] {
  return points.filter(({ at }, index) => {
    const newerAt = points[index + 1]?.at ?? nextAt;
    if (at >= rawFrom || newerAt === undefined) return true;
    return at >= dailyFrom && Math.floor(newerAt / DAY_MS) > Math.floor(at / DAY_MS);
  });
}
