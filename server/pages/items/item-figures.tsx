/** Figures of shorts and tweets in rows: age, multiple of the median, and share of the views. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/time.ts";
import { formatExact, formatUtc } from "../format.ts";
import { Count } from "../parts/figures.tsx";

/** From this age on, hours say nothing. */
const HOURS_MAX_MS = 2 * DAY_MS;

/** Formats an age in one unit: `40 min`, `30 h`, `12 d`. */
function formatAgeInOneUnit(ms: number): string {
  if (ms < HOUR_MS) return `${Math.max(0, Math.floor(ms / MINUTE_MS))} min`;
  if (ms < HOURS_MAX_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${formatExact(Math.floor(ms / DAY_MS))} d`;
}

export const Age = ({ since }: { readonly since: string | null }) =>
  since === null ? (
    <Count value={null} />
  ) : (
    <time dateTime={since} title={formatUtc(since)}>
      {formatAgeInOneUnit(Date.now() - Date.parse(since))}
    </time>
  );

/** A multiple from which on an item did better than its creator's others, as people see at once. */
const BREAKOUT_MULTIPLE = 2;

export const Multiple = ({ value }: { readonly value: number | null }) =>
  value === null ? (
    <Count value={null} />
  ) : (
    <data value={value} class={value >= BREAKOUT_MULTIPLE ? "gain" : undefined}>
      {formatExact(Number(value.toPrecision(2)))} ×
    </data>
  );

/** A ratio as a share, without a sign. */
export const Share = ({ value }: { readonly value: number | null }) =>
  value === null ? (
    <Count value={null} />
  ) : (
    <data value={value}>{formatExact(Number((value * 100).toPrecision(2)))} %</data>
  );

/** A rate in three digits: the next ones are noise. */
export const Rate = ({ value }: { readonly value: number | null }) => (
  <Count value={value === null ? null : Number(value.toPrecision(3))} />
);
