/** The history of an entity: choice of range and count, summary, charts of counts and changes. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Client, HistoryQuery } from "../../../core/client/mod.ts";
import type { HistoryItem } from "../../../core/histories.ts";
import type { EntityKind } from "../../../core/kinds.ts";
import { findRoundingStep, isRoundingStep } from "../../../core/metrics/rounded-counts.ts";
import { formatPeriod, ScaledTime } from "../charts/chart-table.tsx";
import { Charts } from "../charts/charts.tsx";
import type { View } from "../charts/view.ts";
import { formatCompact, type TimeScale } from "../format.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { useHistoryPlan, usePages, type ListedPages, type PageSource } from "../hooks.ts";
import { pickCount } from "../labels.ts";
import { readCount, type HistoryIds } from "../owners/owner-pages.ts";
import { createTimeAxis, getRangeLabel, parseRange, type Range } from "../ranges.ts";
import {
  computeRates,
  findExtremes,
  LEAST_STEPS,
  pickBucketChanges,
  sumChanges,
  type CountChange,
} from "../changes.ts";
import { useAddress } from "../router.ts";
import { createPriceNote } from "../session.ts";
import { MoreButton, Select } from "./controls.tsx";
import { Change, Figures, Percent } from "./figures.tsx";
import { RangeControl } from "./range-control.tsx";
import { Empty, Reading } from "./states.tsx";

type ObservedList = ListedPages<HistoryItem<object>>;

export function History(properties: {
  readonly kind: EntityKind;
  readonly ids: HistoryIds;
  readonly counts: Readonly<Record<string, string>>;
  /** When a short or tweet was published; its whole history is shown at first. */
  readonly publishedAt?: string;
  /** The gains of the first count, which the page also shows; the summary must agree with them. */
  readonly gains?: Partial<Readonly<Record<Range, number | null>>>;
  readonly open: (
    client: Client,
    ids: HistoryIds,
    query: HistoryQuery,
  ) => PageSource<HistoryItem<object>>;
}) {
  const { kind, ids, counts, publishedAt, gains, open } = properties;
  const { query } = useAddress();
  const since = publishedAt === undefined ? undefined : Date.parse(publishedAt);
  const range = parseRange(query.get("range"), since === undefined ? "30d" : "all");
  const count = pickCount(counts, query.get("count"));
  const plan = useHistoryPlan(ids, range, since);
  const read = usePages(["history", kind, ids, plan.query], (client) =>
    open(client, ids, plan.query),
  );
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="row">
        <RangeControl range={range} cost={createPriceNote("Costs 1 credit, once")} />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
      </div>
      <Reading read={read}>
        {(list) => (
          <HistoryCharts
            {...{ list, count, plan, range, since }}
            hasDerived={hasDerivedFigures(kind)}
            gain={count === pickCount(counts, null) ? (gains?.[range] ?? null) : null}
            label={counts[count] ?? count}
            fileName={`${kind} ${ids.at(-1)}-${count}-${range}`}
          />
        )}
      </Reading>
    </section>
  );
}

function HistoryCharts(properties: {
  readonly list: ObservedList;
  readonly count: string;
  readonly label: string;
  readonly plan: ReturnType<typeof useHistoryPlan>;
  readonly range: Range;
  readonly since: number | undefined;
  /** Whether rates and percentages may be shown. */
  readonly hasDerived: boolean;
  readonly gain: number | null;
  readonly fileName: string;
}) {
  const { list, count, label, plan, range, since, hasDerived, gain, fileName } = properties;
  const [view, setView] = useState<View>();
  if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
  const observed = list.items.map((item): CountChange => {
    const observedAt = Date.parse(item.observedAt);
    return { observedAt, count: readCount(item, count), change: readCount(item.change, count) };
  });
  const axis = createTimeAxis(plan, list.items, list.readAt, since);
  const { unit, rates } = computeRates(observed, plan.stepMs);
  const isRate = since !== undefined && hasDerived;
  const growth = isRate ? rates : observed.map(({ change }) => change);
  const counts = observed.map((point) => point.count);
  const roundingStep = findRoundingStep(counts);
  const parts = isRate ? growth : pickBucketChanges(observed, plan.stepMs);
  const shown = observed.flatMap((point, index): SummaryPart[] => {
    const at = axis.instants[index] ?? 0;
    if (view !== undefined && (at < view.from || at > view.to)) return [];
    // An unfinished bucket must not count as the worst, nor a rounding step as the best.
    const isComparable =
      isRate ||
      (at < axis.unfinishedFrom &&
        (roundingStep === 0 || !isRoundingStep(point.count, point.change)));
    return [{ ...point, at, part: isComparable ? (parts[index] ?? null) : null }];
  });
  const isWhole = view === undefined;
  const eachUnit = withArticle(unit);
  return (
    <>
      <Summary
        parts={shown}
        timeScale={axis.timeScale}
        isRate={isRate}
        hasPercent={hasDerived}
        range={isWhole ? { label: getRangeLabel(range), gain } : undefined}
        hasChange={!isRate || range !== "all" || !isWhole}
        part={isRate ? unit : plan.interval}
      />
      {roundingStep > 0 && (
        <p class="hint">
          {label} are rounded by the source: a change of {formatCompact(roundingStep)} can be less.
        </p>
      )}
      <Charts
        {...axis}
        charts={[
          {
            title: label,
            series: [{ label, values: counts }],
            leastSpan: roundingStep * LEAST_STEPS,
          },
          {
            title: `${label}: ${isRate ? `rate of growth, ${eachUnit}` : `change each ${plan.interval}`}`,
            measure: "change",
            kind: isRate ? "lines" : "bars",
            series: [
              {
                label: isRate ? `${label} ${eachUnit}` : `Change of ${label.toLowerCase()}`,
                values: growth,
              },
            ],
          },
        ]}
        fileName={fileName}
        isShareable
        onView={setView}
      />
      <MoreButton list={list} />
    </>
  );
}

/** A shown bucket; its change or rate of growth is `null` if a comparison would be unfair. */
type SummaryPart = CountChange & Readonly<{ at: number; part: number | null }>;

/** A summary of the shown part of a history: its change, and its best and worst buckets. */
function Summary(properties: {
  readonly parts: readonly SummaryPart[];
  readonly timeScale: TimeScale;
  readonly range: { readonly label: string; readonly gain: number | null } | undefined;
  /** Whether to show the whole change: since a publication, it would repeat the count. */
  readonly hasChange: boolean;
  readonly part: string;
  readonly isRate: boolean;
  readonly hasPercent: boolean;
}) {
  const { parts, timeScale, range, hasChange, part, isRate, hasPercent } = properties;
  const [first, last] = [parts[0], parts.at(-1)];
  const newest = parts.findLast(({ count }) => count !== null)?.count ?? null;
  if (first === undefined || last === undefined || newest === null) return null;
  const values = parts.map((shown) => shown.part);
  const extremes = findExtremes(values);
  const renderPart = (index: number) => (
    <>
      <Change value={values[index]} />{" "}
      <small class="muted">
        <ScaledTime at={parts[index]?.at ?? 0} timeScale={timeScale} />
      </small>
    </>
  );
  const items: [label: string, value: ComponentChildren][] = [];
  if (hasChange) {
    const period = formatPeriod({ from: first.at, to: last.at }, timeScale);
    const gain = range?.gain ?? null;
    const change = gain ?? sumChanges(parts);
    const base = change === null ? 0 : newest - change;
    items.push([
      `Change: ${gain === null ? period : range?.label}`,
      <>
        <Change value={change} />{" "}
        {hasPercent && change !== null && base !== 0 && (
          <small>
            <Percent value={(change / base) * 100} />
          </small>
        )}
      </>,
    ]);
  }
  if (isRate) {
    const latest = values.findLast((value) => value !== null);
    items.push([`Latest, ${withArticle(part)}`, <Change value={latest} />]);
    if (extremes !== null)
      items.push([`Fastest, ${withArticle(part)}`, renderPart(extremes.greatest)]);
  } else if (extremes !== null && extremes.greatest !== extremes.least) {
    items.push([`Best ${part}`, renderPart(extremes.greatest)]);
    items.push([`Worst ${part}`, renderPart(extremes.least)]);
  }
  return <Figures items={items} />;
}

const withArticle = (unit: string): string => (unit === "hour" ? "an hour" : `a ${unit}`);
