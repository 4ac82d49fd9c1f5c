/** The part of the time that charts show: its text in the address, zooming and moving. */
import { HOUR_MS, MINUTE_MS, parseInstant } from "../../../core/time.ts";
import type { TimeScale } from "../format.ts";

/** A part of the time, in milliseconds like the instants of a time axis. */
export type View = Readonly<Record<"from" | "to", number>>;

/** The least length of a view: the address has whole minutes, so a shorter view could be empty. */
const VIEW_MIN_MS = 2 * MINUTE_MS;

/** How many values the shortest view has, if they are evenly spaced. */
const SHOWN_MIN = 3;

/** Formats a view for the address: `2026-11-05..2026-11-12T12:30Z`, or of ages, hours: `6..48`. */
export function formatView({ from, to }: View, timeScale: TimeScale): string {
  const format = timeScale === "age" ? formatHours : formatMinute;
  return `${format(from)}..${format(to)}`;
}

const formatHours = (ms: number): string => String(Math.round((ms / HOUR_MS) * 100) / 100);

const formatMinute = (at: number): string =>
  `${new Date(Math.round(at / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16)}Z`.replace(
    "T00:00Z",
    "",
  );

/** Parses a view of the address; `undefined` for all, also if the text is no view of `whole`. */
export function parseView(text: string, timeScale: TimeScale, whole: View): View | undefined {
  const [from = NaN, to = NaN, ...others] = text.split("..").map((end) => {
    if (timeScale !== "age") return parseInstant(end);
    return /^\d+(\.\d+)?$/.test(end) ? Number(end) * HOUR_MS : NaN;
  });
  return others.length > 0 || !(from < to) ? undefined : clampView({ from, to }, whole);
}

/** Cuts a view to the known time; `undefined` if that is all of it, or nothing. */
export function clampView(view: View, whole: View): View | undefined {
  const [from, to] = [Math.max(view.from, whole.from), Math.min(view.to, whole.to)];
  const isAll = from === whole.from && to === whole.to;
  return isAll || from >= to ? undefined : { from, to };
}

/**
 * Zooms or moves a view. Widens a view that is too short around its centre.
 *
 * @param factor Scales the length.
 * @param shift Moves the view by this part of its length; earlier if negative.
 * @param count How many instants `whole` has.
 */
export function changeView(
  whole: View,
  view: View | undefined,
  { factor, shift = 0, count }: Readonly<{ factor: number; shift?: number; count: number }>,
): View | undefined {
  const { from, to } = view ?? whole;
  const wholeMs = whole.to - whole.from;
  const least = Math.min(wholeMs, Math.max(VIEW_MIN_MS, (wholeMs / count) * SHOWN_MIN));
  const length = Math.min(wholeMs, Math.max(least, (to - from) * factor));
  const centre = (from + to) / 2 + shift * (to - from);
  const start = Math.max(whole.from, Math.min(whole.to - length, centre - length / 2));
  return length === wholeMs ? undefined : clampView({ from: start, to: start + length }, whole);
}
