/** Figures and instants as people write them; pointing at one shows its exact value. */
import type { ComponentChildren } from "preact";
import {
  formatChange,
  formatCompact,
  formatExact,
  formatLocal,
  formatPercent,
  formatUtc,
} from "../format.ts";
import { findChangeSinceStart } from "../changes.ts";
import { findRoundingStep, isChangeRounding } from "../rounding.ts";

interface FigureProperties {
  /** An unknown value is shown as a dash. */
  readonly value: number | null | undefined;
}

function createFigure(format: (value: number) => string, { hasSign = false, isExact = true } = {}) {
  return ({ value }: FigureProperties) => {
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
}

export const Count = createFigure((value) => formatCompact(value));

/** A difference with its sign. */
export const Change = createFigure(formatChange, { hasSign: true });

/** A difference in per cent. */
export const Percent = createFigure(formatPercent, { hasSign: true, isExact: false });

/** A count that the source may have rounded. */
export function RoundedCount({ value }: { readonly value: number | null }) {
  return (
    <>
      <Count value={value} />
      {findRoundingStep([value]) > 0 && <small class="muted"> rounded by the source</small>}
    </>
  );
}

/** The change of counts since their start, or `rounded` if it is a step of the rounding. */
export function ChangeSinceStart({ counts }: { readonly counts: readonly (number | null)[] }) {
  if (!isChangeRounding(counts)) return <Change value={findChangeSinceStart(counts)} />;
  return (
    <span class="muted" title="A step of the source's rounding: the change can be next to nothing">
      rounded
    </span>
  );
}

function Unknown() {
  return (
    <span class="muted" title="Not known">
      –
    </span>
  );
}

/** An instant in local time; pointing at it shows UTC. */
export function Instant({
  value,
  hasTime = true,
}: {
  readonly value: string | null;
  readonly hasTime?: boolean;
}) {
  if (value === null) return <Unknown />;
  return (
    <time dateTime={value} title={formatUtc(value)}>
      {formatLocal(value, hasTime)}
    </time>
  );
}

/** A text from outside: in its own direction, so that it cannot turn the text around it. */
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

/** A text in a line of its own below another one; nothing without a text. */
export function Below({ value }: { readonly value: string | null }) {
  if (value === null) return null;
  return (
    <small class="muted">
      <Text value={value} />
    </small>
  );
}

/** The name of an entity as a link to its page, above its username. */
export function Name(properties: {
  readonly href: string;
  readonly name: string;
  readonly username: string | null;
}) {
  const { href, name, username } = properties;
  return (
    <>
      <a href={href}>
        <Text value={name} />
      </a>
      <Below value={username === name ? null : username} />
    </>
  );
}

/** The main figures of a page. */
export function Figures({
  items,
}: {
  readonly items: readonly (readonly [label: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="figures">
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
