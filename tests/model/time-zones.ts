/**
 * A naive model of time zones, without `Intl`: it reads the files of the time zone database (TZif, RFC
 * 9636) that operating systems have, and lists all transitions up to the year 2100.
 */
import type { HistoryInterval } from "../../core/buckets.ts";
import { findModelStart } from "./histories.ts";

/** An offset from an instant on. Both are milliseconds. */
export interface ModelTransition {
  readonly at: number;
  readonly offset: number;
}

const HEADER_BYTES = 44;
const LAST_YEAR = 2100;

/** Reads the transitions of a file, oldest first. The first one is infinitely long ago. */
export function readTransitions(bytes: Uint8Array): ModelTransition[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const readCounts = (start: number) =>
    Array.from({ length: 6 }, (_, index) => view.getUint32(start + 20 + 4 * index));
  // The data with 32 bits comes first. It is as long as its header says.
  const [utcs = 0, standards = 0, leaps = 0, times = 0, types = 0, letters = 0] = readCounts(0);
  const start = HEADER_BYTES + 5 * times + 6 * types + letters + 8 * leaps + standards + utcs;
  const [utcs2 = 0, standards2 = 0, leaps2 = 0, count = 0, types2 = 0, letters2 = 0] =
    readCounts(start);
  const data = start + HEADER_BYTES;
  const typesAt = data + 9 * count;
  const readOffset = (type: number) => view.getInt32(typesAt + 6 * type) * 1000;
  const listed = Array.from({ length: count }, (_, index) => ({
    at: Number(view.getBigInt64(data + 8 * index)) * 1000,
    offset: readOffset(view.getUint8(data + 8 * count + index)),
  }));
  const footerAt = typesAt + 6 * types2 + letters2 + 12 * leaps2 + standards2 + utcs2;
  const rule = new TextDecoder().decode(bytes.subarray(footerAt)).trim();
  const last = listed.at(-1)?.at ?? -Infinity;
  const later = listRuleTransitions(rule).filter(({ at }) => at > last);
  const all = [{ at: -Infinity, offset: readOffset(0) }, ...listed, ...later];
  return all.filter(({ offset }, index) => offset !== all[index - 1]?.offset);
}

const NAME = "(?:<[^>]+>|[A-Za-z]+)";
const TIME = "[+-]?\\d+(?::\\d+){0,2}";
const RULE = new RegExp(`^${NAME}(${TIME})(?:${NAME}(${TIME})?,([^,]+),([^,]+))?$`);

/** Lists the transitions of a rule of POSIX, such as `WET0WEST,M3.5.0/1,M10.5.0`. */
function listRuleTransitions(rule: string): ModelTransition[] {
  const [, standardText, summerText, from, to] = RULE.exec(rule) ?? [];
  if (standardText === undefined) throw new Error(`No rule of POSIX: ${rule}`);
  if (from === undefined || to === undefined) return [];
  // POSIX counts offsets westwards.
  const standard = -parseTime(standardText);
  const summer = summerText === undefined ? standard + 3_600_000 : -parseTime(summerText);
  const years = Array.from({ length: LAST_YEAR - 1969 }, (_, index) => 1970 + index);
  return years
    .flatMap((year) => [
      { at: findRuleTime(from, year) - standard, offset: summer },
      { at: findRuleTime(to, year) - summer, offset: standard },
    ])
    .toSorted((a, b) => a.at - b.at);
}

/** Hours, or hours, minutes and seconds, in milliseconds. */
function parseTime(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(/^[+-]/, "").split(":").map(Number);
  return (text.startsWith("-") ? -1 : 1) * ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** The local time of `M3.5.0/1` (month, week, day of the week), `J60` or `59` (day of the year). */
function findRuleTime(text: string, year: number): number {
  const [dayText = "", timeText = "2"] = text.split("/");
  return findRuleDay(dayText, year) + parseTime(timeText);
}

function findRuleDay(text: string, year: number): number {
  const day = Number(text.replace(/^J/, ""));
  if (!text.startsWith("M")) {
    // J never counts the 29th of February.
    const first = text.startsWith("J") ? 1 : 0;
    const isLater = first === 1 && day > 59 && new Date(Date.UTC(year, 1, 29)).getUTCDate() === 29;
    return Date.UTC(year, 0, day + 1 - first + (isLater ? 1 : 0));
  }
  const [month = 1, week = 1, weekday = 0] = text.slice(1).split(".").map(Number);
  const firstWeekday = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  const date = 1 + ((weekday - firstWeekday + 7) % 7) + 7 * (week - 1);
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return Date.UTC(year, month - 1, date > days ? date - 7 : date);
}

/** Finds the offset at an instant. */
export const findOffset = (transitions: readonly ModelTransition[], at: number): number =>
  transitions.findLast((transition) => transition.at <= at)?.offset ?? Number.NaN;

/**
 * Names the bucket of an instant: its hour and the offset that this has, or the start of its day,
 * week or month in local time. Clocks that are set back past midnight stay on the later date.
 */
export function nameLocalBucket(
  transitions: readonly ModelTransition[],
  at: number,
  interval: HistoryInterval,
): string {
  const index = transitions.findLastIndex((transition) => transition.at <= at);
  const local = at + findOffset(transitions, at);
  if (interval === "hour") return `${findModelStart(local, "hour")} ${index}`;
  // The local times just before the transitions of the last two days.
  const reached = transitions.flatMap((transition, next) =>
    transition.at <= at && transition.at > at - 2 * 86_400_000
      ? [transition.at - 1 + (transitions[next - 1]?.offset ?? 0)]
      : [],
  );
  return findModelStart(Math.max(local, ...reached), interval);
}
