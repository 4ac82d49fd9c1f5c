/** Retention: which observations of a history are kept, and for how long. */
import { ENTITY_KINDS, type EntityKind } from "./entity-kinds.ts";
import { parseInteger } from "./parameters.ts";
import { DAY_MS, FIRST_INSTANT } from "./time.ts";

/**
 * Days that a rule can name. No fewer than 40 are raw: the answers look back 30 days for a gain,
 * and count in whole histories what is newer.
 */
export const RETENTION_DAYS = { min: 40, max: 36_500 } as const;

/** What is kept of a history. The newest observation always is. */
export interface RetentionRule {
  /** Days of which every observation is kept. */
  readonly rawDays: number;
  /**
   * Days of which, past the raw ones, the newest observation of each UTC day is kept: as many as
   * `rawDays` where nothing older is, `Infinity` where it is for good.
   */
  readonly dailyDays: number;
}

/** The rules of the kinds. What has none keeps everything. */
export type RetentionPolicy = Readonly<Partial<Record<EntityKind, RetentionRule>>>;

/** What {@link parseRetentionPolicy} takes, for messages. */
export const RETENTION_SYNTAX =
  "KIND=90d, KIND=90d/day or KIND=90d/day/365d, separated by commas, " +
  `each kind (${ENTITY_KINDS.join(", ")}) once, days rising from ${RETENTION_DAYS.min} to ` +
  `${RETENTION_DAYS.max}`;

const RULE_PATTERN = /^ *([a-z]+)=(\d+)d(?:(\/day)(?:\/(\d+)d)?)? *$/;

/**
 * Reads a policy: `KIND=RULE`, separated by commas. A rule is `90d` (every observation of 90 days,
 * then none), `90d/day` (then one a UTC day) or `90d/day/365d` (then one a UTC day, up to 365
 * days).
 *
 * @returns The policy, or `undefined` where the text is none.
 *
 * @example
 * parseRetentionPolicy("channel=90d/day"); // { channel: { rawDays: 90, dailyDays: Infinity } }
 */
export function parseRetentionPolicy(text: string): RetentionPolicy | undefined {
  const policy: Partial<Record<EntityKind, RetentionRule>> = {};
  for (const part of text.split(",")) {
    const [, name, rawText = "", daily, lastText] = RULE_PATTERN.exec(part) ?? [];
    const kind = ENTITY_KINDS.find((kindName) => kindName === name);
    const rawDays = parseDays(rawText);
    if (kind === undefined || rawDays === undefined || policy[kind] !== undefined) return undefined;
    const defaultDailyDays = daily === undefined ? rawDays : Infinity;
    const dailyDays = lastText === undefined ? defaultDailyDays : parseDays(lastText);
    if (dailyDays === undefined || (lastText !== undefined && dailyDays <= rawDays)) {
      return undefined;
    }
    policy[kind] = { rawDays, dailyDays };
  }
  return policy;
}

function parseDays(text: string): number | undefined {
  const days = parseInteger(text);
  if (days === undefined || days < RETENTION_DAYS.min || days > RETENTION_DAYS.max) {
    return undefined;
  }
  return days;
}

/**
 * Writes a rule as a policy has it; `all` where there is none.
 *
 * @example
 * formatRetentionRule({ rawDays: 90, dailyDays: 365 }); // "90d/day/365d"
 */
export function formatRetentionRule(rule: RetentionRule | undefined): string {
  if (rule === undefined) return "all";
  const { rawDays, dailyDays } = rule;
  if (dailyDays === rawDays) return `${rawDays}d`;
  return dailyDays === Infinity ? `${rawDays}d/day` : `${rawDays}d/day/${dailyDays}d`;
}

/** Where the parts of a history begin that a rule treats each in its way. */
export interface RetentionBounds {
  /** From here on every observation is kept; a midnight UTC, in milliseconds since 1970 UTC. */
  readonly rawFrom: number;
  /** From here to there the newest of each day is; before it none. */
  readonly dailyFrom: number;
}

/**
 * The bounds that a rule has now. They move at midnight UTC only, so a day is treated as a whole,
 * and what is left does not depend on how often or when a rule is applied before.
 *
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * const now = Date.parse("2026-11-20T12:00:00Z");
 * retentionBounds({ rawDays: 90, dailyDays: 90 }, now).rawFrom; // 2026-08-22, in milliseconds
 */
export function retentionBounds(
  { rawDays, dailyDays }: RetentionRule,
  now: number,
): RetentionBounds {
  const today = Math.floor(now / DAY_MS);
  const daysAgo = (days: number) => Math.max(FIRST_INSTANT, (today - days) * DAY_MS);
  return { rawFrom: daysAgo(rawDays), dailyFrom: daysAgo(dailyDays) };
}

/**
 * What a rule keeps of a history: all that is raw, the newest of each UTC day that is kept, and the
 * newest of all.
 *
 * @param points Oldest first, no two at one instant.
 * @param now Milliseconds since 1970 UTC.
 *
 * @example
 * retain(points, { rawDays: 90, dailyDays: 90 }, now).at(-1) === points.at(-1); // true
 */
export function applyRetentionRule<Point extends { readonly at: number }>(
  points: readonly Point[],
  rule: RetentionRule,
  now: number,
): Point[] {
  return applyRetentionBounds(points, retentionBounds(rule, now));
}

/**
 * What bounds leave of a part of a history, by the same rule.
 *
 * @param points Oldest first, no two at one instant.
 * @param nextAt The instant of the first observation after the part; none where it is the last part.
 *
 * @example
 * const day = Date.parse("2026-11-20");
 * applyRetentionBounds([{ at: day }], { rawFrom: Infinity, dailyFrom: day }, day + 1); // []
 */
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
