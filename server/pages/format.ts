/** Formats numbers, percentages and instants for people, and tables as CSV. */

const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "K"],
] as const;

export function formatCompact(value: number, digits = 3): string {
  const size = Math.abs(value);
  // In three digits, 999,500 is 1.00 M, not 1000 K.
  const unit = UNITS.find(([factor]) => size >= factor * (1 - 0.5 * 10 ** -digits));
  const sign = value < 0 ? "−" : "";
  if (unit === undefined) return `${sign}${Math.round(size * 100) / 100}`;
  const [factor, letter] = unit;
  return `${sign}${Number((size / factor).toPrecision(digits))} ${letter}`;
}

const EXACT_DIGITS = 15;

/** Formats the ticks of an axis without rounding them: 145250 as `145.25 K`. */
export const formatTicks = (values: readonly number[]): string[] =>
  values.map((value) => {
    // Ticks are sums of steps such as 0.1, which are not exact.
    const exact = Number(value.toPrecision(EXACT_DIGITS));
    if (Math.abs(exact) < 1000) return String(exact).replace("-", "−");
    return formatCompact(exact, EXACT_DIGITS);
  });

/** Creates a format at its first use: creating it takes a hundred times as long as using it. */
function createLazily<Format>(create: () => Format): () => Format {
  let format: Format | undefined;
  return () => (format ??= create());
}

const getExactFormat = createLazily(
  () => new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 }),
);

export const formatExact = (value: number): string =>
  getExactFormat().format(value).replace("-", "−");

export const formatNumberOf = (count: number, noun: string): string =>
  `${formatExact(count)} ${noun}${count === 1 ? "" : "s"}`;

export const formatChange = (value: number): string =>
  value > 0 ? `+${formatCompact(value)}` : formatCompact(value);

/** Formats a ratio as a difference in per cent: 12.345 as `+12.3 %`, -0.0123 as `−0.012 %`. */
export function formatPercent(value: number): string {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 1 ? size.toFixed(size >= 100 ? 0 : 1) : size.toPrecision(2);
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  // Thousands are separated; small ratios keep their digits.
  return `${sign}${size >= 1 ? getExactFormat().format(Number(digits)) : String(Number(digits))} %`;
}

export type Measure = "count" | "change" | "percent";

export function formatMeasure(value: number | null | undefined, measure: Measure): string {
  if (value === null || value === undefined) return "unknown";
  if (measure === "percent") return formatPercent(value);
  return measure === "change" && value > 0 ? `+${formatExact(value)}` : formatExact(value);
}

/**
 * How times are written: instants in the local time zone; the dates of days, weeks and months in
 * UTC, in which the service counts them; times since publication as ages. West of Greenwich, a UTC
 * day starts on the local date of the day before.
 */
export type TimeScale = "local" | "utc" | "age";

/** Formats an age: `0 h`, `6 h`, `1 d`, `1 d 6 h`, `30 min`. */
export function formatAge(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const parts = [
    `${Math.floor(minutes / 1440)} d`,
    `${Math.floor(minutes / 60) % 24} h`,
    `${minutes % 60} min`,
  ].filter((part) => !part.startsWith("0 "));
  return parts.length === 0 ? "0 h" : parts.join(" ");
}

function createFormats(zone: Intl.DateTimeFormatOptions) {
  const createFormat = (options: Intl.DateTimeFormatOptions) =>
    createLazily(() => new Intl.DateTimeFormat("en-GB", { ...options, ...zone }));
  return {
    second: createFormat({ timeStyle: "medium" }),
    time: createFormat({ hour: "2-digit", minute: "2-digit" }),
    day: createFormat({ day: "numeric", month: "short" }),
    month: createFormat({ month: "short", year: "numeric" }),
    date: createFormat({ dateStyle: "medium" }),
    instant: createFormat({ dateStyle: "medium", timeStyle: "short" }),
    precise: createFormat({ dateStyle: "medium", timeStyle: "medium" }),
  };
}

const FORMATS = { local: createFormats({}), utc: createFormats({ timeZone: "UTC" }) };

export const formatLocal = (instant: string | number, hasTime = true): string =>
  FORMATS.local[hasTime ? "instant" : "date"]().format(new Date(instant));

/** Formats the local time of an instant: `21:14`. */
export const formatTime = (instant: string): string =>
  FORMATS.local.time().format(new Date(instant));

/** Formats an instant of a chart: as local time, with seconds unless they are 0, date or age. */
export function formatPoint(at: number, scale: TimeScale): string {
  if (scale === "age") return formatAge(at);
  if (scale === "utc") return FORMATS.utc.date().format(at);
  return FORMATS.local[at % 60_000 < 1000 ? "instant" : "precise"]().format(at);
}

export function formatTick(seconds: number, stepSeconds: number, scale: TimeScale): string {
  if (scale === "age") return formatAge(seconds * 1000);
  const date = new Date(seconds * 1000);
  const formats = FORMATS[scale];
  if (stepSeconds < 60) return formats.second().format(date);
  const isMidnight = formats.time().format(date) === "00:00";
  if (stepSeconds < 86_400 && !isMidnight) return formats.time().format(date);
  return formats[stepSeconds < 28 * 86_400 ? "day" : "month"]().format(date);
}

export const formatUtc = (instant: string | number): string =>
  `${new Date(instant).toISOString().slice(0, 19).replace("T", " ")} UTC`;

export function toCsv(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const encode = (cell: string | number | null) =>
    /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? "");
  return [header, ...rows].map((row) => `${row.map(encode).join(",")}\r\n`).join("");
}

/** Creates the name of a file from a text that may have characters which are none of a name. */
export const createFileName = (text: string): string =>
  text
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 100);
