/** Figures and instants as people write them, with the exact value for those who point at it. */
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

/** A count; a dash if it is unknown. */
export function Count({ value }: { readonly value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  return (
    <data value={value} title={formatExact(value)}>
      {formatCompact(value)}
    </data>
  );
}

/** A count that the source may have rounded. */
export function RoundedCount({ value }: { readonly value: number | null }) {
  return (
    <>
      <Count value={value} />
      {findRoundingStep([value]) > 0 && <small class="muted"> rounded by the source</small>}
    </>
  );
}

/** A difference with its sign; a dash if it is unknown. */
export function Change({ value }: { readonly value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  return (
    <data value={value} title={formatExact(value)} class={getDirection(value)}>
      {formatChange(value)}
    </data>
  );
}

/** A difference in per cent; a dash if it is unknown. */
export function Percent({ value }: { readonly value: number | null | undefined }) {
  if (value === null || value === undefined) return <Unknown />;
  return (
    <data value={value} class={getDirection(value)}>
      {formatPercent(value)}
    </data>
  );
}

/** The change of counts since their start; of a step of the source's rounding, that it is one. */
export function ChangeSinceStart({ counts }: { readonly counts: readonly (number | null)[] }) {
  if (!isChangeRounding(counts)) return <Change value={findChangeSinceStart(counts)} />;
  return (
    <span class="muted" title="A step of the source's rounding: the change can be next to nothing">
      rounded
    </span>
  );
}

function getDirection(value: number): string {
  return value < 0 ? "loss" : value > 0 ? "gain" : "";
}

function Unknown() {
  return (
    <span class="muted" title="Not known">
      –
    </span>
  );
}

/** An instant in local time; in UTC for those who point at it. */
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

/** A text from outside: in its own direction, so that it cannot turn what is around it. */
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

/** The name of an entity as a link to its page, above its username. */
export function Name({
  href,
  name,
  username,
}: {
  readonly href: string;
  readonly name: string;
  readonly username: string | null;
}) {
  return (
    <>
      <a href={href}>
        <Text value={name} />
      </a>
      {username !== null && username !== name && (
        <small class="muted">
          <Text value={username} />
        </small>
      )}
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
