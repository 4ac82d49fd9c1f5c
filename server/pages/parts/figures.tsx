/** Shows numbers, instants and texts for people, lists of figures, and exact values as tooltips. */
import type { ComponentChildren } from "preact";
import { isChangeRounding } from "../../../core/metrics/rounded-counts.ts";
import {
  formatChange,
  formatCompact,
  formatExact,
  formatLocal,
  formatPercent,
  formatUtc,
} from "../format.ts";
import { findChangeSinceStart } from "../changes.ts";

const createFigure =
  (format: (value: number) => string, { look = "", isExact = true } = {}) =>
  ({ value }: { readonly value: number | null | undefined }) => {
    if (value === null || value === undefined) return <Unknown />;
    const direction = value < 0 ? "loss" : value > 0 ? "gain" : "";
    return (
      <data
        value={value}
        title={isExact ? formatExact(value) : undefined}
        class={look === "" ? undefined : `${look} ${direction}`}
      >
        {format(value)}
      </data>
    );
  };

export const Count = createFigure((value) => formatCompact(value));

export const Change = createFigure(formatChange, { look: "change" });

export const Percent = createFigure(formatPercent, { look: "percent", isExact: false });

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

/** A name in a row of a table: a picture of 32 px if there is one, the name, and a line below. */
export const NameCell = ({
  href,
  name,
  below = null,
  picture,
}: Readonly<{
  href: string;
  name: string;
  below?: ComponentChildren;
  picture?: ComponentChildren;
}>) => (
  <span class="named">
    {picture}
    <span>
      <a href={href}>
        <Text value={name} />
      </a>
      {below}
    </span>
  </span>
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
