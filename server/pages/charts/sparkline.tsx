/** A small chart for a table cell: a line without axes, marked as a loss if it falls. */
import { findRoundingStep } from "../../../core/metrics/rounded-counts.ts";
import { LEAST_STEPS } from "../changes.ts";

const WIDTH = 96;
const HEIGHT = 24;

/** Draws values, oldest first and by default evenly spaced. An unknown value is a gap. */
export function Sparkline({
  values,
  instants = values.map((_, index) => index),
  label,
}: Readonly<{ values: readonly (number | null)[]; instants?: readonly number[]; label: string }>) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <span class="muted">–</span>;
  const step = findRoundingStep(known);
  const middle = (Math.min(...known) + Math.max(...known)) / 2;
  const span = Math.max(Math.max(...known) - Math.min(...known), step * LEAST_STEPS) || 1;
  const [first = 0, last = 0] = [instants[0], instants.at(-1)];
  const toX = (index: number) =>
    (((instants[index] ?? first) - first) / (last - first || 1)) * (WIDTH - 2) + 1;
  const toY = (value: number) => HEIGHT / 2 - ((value - middle) / span) * (HEIGHT - 4);
  const path = values
    .map((value, index) => {
      if (value === null) return "";
      const command = (values[index - 1] ?? null) === null ? "M" : "L";
      return `${command}${toX(index).toFixed(1)} ${toY(value).toFixed(1)}`;
    })
    .join("");
  const isLoss = (known.at(-1) ?? 0) < (known[0] ?? 0) - step;
  return (
    <svg
      class={isLoss ? "sparkline loss" : "sparkline"}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
