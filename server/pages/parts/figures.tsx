/** Shows numbers, instants and texts for people, lists of figures, and exact values as tooltips. */
import type { ComponentChildren } from "preact";
import {
  formatChange,
  formatCompact,
  formatExact,
  formatLocal,
  formatPercent,
  formatUtc,
} from "../format.ts";
import { findChangeSinceStart, isChangeRounding } from "../changes.ts";

const createFigure =
  (format: (value: number) => string, { hasSign = false, isExact = true } = {}) =>
  ({ value }: { readonly value: number | null | undefined }) => {
    if (value === null || value === undefined) return <Unknown />;
    const direction = value < 0 ? "loss" : value > 0 ? "gain" : "";
    return (
      <data
        value={value}
        title={isExact ? formatExact(value) : undefined}
        class={hasSign ? direction : undefined}
      >
        {format(value)}
      </data>
    );
  };

export const Count = createFigure((value) => formatCompact(value));

export const Change = createFigure(formatChange, { hasSign: true });

export const Percent = createFigure(formatPercent, { hasSign: true, isExact: false });

export function ChangeSinceStart({ counts }: { readonly counts: readonly (number | null)[] }) {
  if (!isChangeRounding(counts)) return <Change value={findChangeSinceStart(counts)} />;
  return (
    <span class="muted" title="A step of the source's rounding: the change can be next to nothing">
      rounded
    </span>
  );
}

const Unknown = () => (
  <span class="muted" title="Not known">
    –
  </span>
);

export function Instant(properties: Readonly<{ value: string | null; hasTime?: boolean }>) {
  const { value, hasTime = true } = properties;
  if (value === null) return <Unknown />;
  return (
    <time dateTime={value} title={formatUtc(value)}>
      {formatLocal(value, hasTime)}
    </time>
  );
}

/** A text from outside, isolated, so that it cannot change the direction of the text around it. */
export function Text({ value }: { readonly value: string | null }) {
  if (value === null || value === "") return <Unknown />;
  return (
    <bdi class="text" title={value.length > 60 ? value.slice(0, 300) : undefined}>
      {/\s/.test(value) ? value : addBreaks(value)}
    </bdi>
  );
}

/** Lets a long path or host continue in the next line between its parts rather than anywhere. */
function addBreaks(name: string): ComponentChildren {
  const [first, ...others] = name.split(name.includes("/") ? /(?=\/)/ : /(?<=[._])(?=\w)/);
  return [first, ...others.flatMap((part) => [<wbr />, part])];
}

export const Below = ({ value }: { readonly value: string | null }) =>
  value === null ? null : (
    <small class="muted">
      <Text value={value} />
    </small>
  );

type LabelledFigure = readonly [label: string, value: ComponentChildren];

export const Figures = ({ items }: { readonly items: readonly LabelledFigure[] }) => (
  <dl class="figures">
    {items.map(([label, value]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
