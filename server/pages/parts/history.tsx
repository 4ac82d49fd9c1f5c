/** The history of an entity: choice of range and count, summary, charts of counts and changes. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Client, HistoryQuery } from "../../../core/client/mod.ts";
import type { HistoryItem } from "../../../core/histories.ts";
import { Chart, formatPeriod, ScaledTime } from "../charts/chart.tsx";
import type { PlotView } from "../charts/plot.ts";
import { formatCompact, type TimeScale } from "../format.ts";
import { usePages, type ListedPages, type PageSource } from "../hooks.ts";
import { pickCount } from "../labels.ts";
import { readCount } from "../owners/owner-pages.ts";
import { createTimeAxis, parseRange, planHistory, RANGES, type Range } from "../ranges.ts";
import {
  computeRates,
  findExtremes,
  findRoundingStep,
  isRoundingStep,
  LEAST_STEPS,
  pickBucketChanges,
  sumChanges,
  type CountChange,
} from "../changes.ts";
import { useAddress } from "../router.ts";
import { MoreButton, RangeControl, Select } from "./controls.tsx";
import { Change, Figures, Percent } from "./figures.tsx";
import { Empty, Reading } from "./states.tsx";

type ObservedList = ListedPages<HistoryItem<object>>;

export function History(properties: {
  readonly name: string;
  readonly counts: Readonly<Record<string, string>>;
  /** When a short or tweet was published; its whole history is shown at first. */
  readonly publishedAt?: string;
  /** The gains of the first count, which the page also shows; the summary must agree with them. */
  readonly gains?: Partial<Readonly<Record<Range, number | null>>>;
  readonly open: (client: Client, query: HistoryQuery) => PageSource<HistoryItem<object>>;
}) {
  const { name, counts, publishedAt, gains, open } = properties;
  const { query } = useAddress();
  const since = publishedAt === undefined ? undefined : Date.parse(publishedAt);
  const range = parseRange(query.get("range"), since === undefined ? "30d" : "all");
  const count = pickCount(counts, query.get("count"));
  const plan = planHistory(range, Date.now(), since);
  const { from, interval } = plan;
  const read = usePages(`history ${name} ${from} ${interval}`, (client) =>
    open(client, { from, interval }),
  );
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="row">
        <RangeControl range={range} cost="Costs 1 credit, once" />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
      </div>
      <Reading read={read}>
        {(list) => (
          <HistoryCharts
            {...{ list, count, plan, range, since }}
            gain={count === pickCount(counts, null) ? (gains?.[range] ?? null) : null}
            label={counts[count] ?? count}
            fileName={`${name}-${count}-${range}`}
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
  readonly plan: ReturnType<typeof planHistory>;
  readonly range: Range;
  readonly since: number | undefined;
  readonly gain: number | null;
  readonly fileName: string;
}) {
  const { list, count, label, plan, range, since, gain, fileName } = properties;
  const [view, setView] = useState<PlotView>();
  if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
  const observed = list.items.map((item): CountChange => {
    const observedAt = Date.parse(item.observedAt);
    return { observedAt, count: readCount(item, count), change: readCount(item.change, count) };
  });
  const axis = createTimeAxis(plan, list.items, list.readAt, since);
  const { unit, rates } = computeRates(observed, plan.stepMs);
  const isRate = since !== undefined;
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
  const isWhole = view?.isWhole !== false;
  const eachUnit = withArticle(unit);
  return (
    <>
      <Summary
        parts={shown}
        timeScale={axis.timeScale}
        isRate={isRate}
        range={isWhole ? { label: RANGES[range].label, gain } : undefined}
        hasChange={!isRate || range !== "all" || !isWhole}
        part={isRate ? unit : plan.interval}
      />
      {roundingStep > 0 && (
        <p class="hint">
          {label} are rounded by the source: a change of {formatCompact(roundingStep)} can be less.
        </p>
      )}
      <Chart
        {...axis}
        group="history"
        title={label}
        series={[{ label, values: counts }]}
        leastSpan={roundingStep * LEAST_STEPS}
        onView={setView}
        fileName={`${fileName}.csv`}
      />
      <Chart
        {...axis}
        group="history"
        measure="change"
        kind={isRate ? "lines" : "bars"}
        title={`${label}: ${isRate ? `rate of growth, ${eachUnit}` : `change each ${plan.interval}`}`}
        series={[
          {
            label: isRate ? `${label} ${eachUnit}` : `Change of ${label.toLowerCase()}`,
            values: growth,
          },
        ]}
        fileName={`${fileName}-${isRate ? "rate" : "change"}.csv`}
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
}) {
  const { parts, timeScale, range, hasChange, part, isRate } = properties;
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
        {change !== null && base !== 0 && (
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
