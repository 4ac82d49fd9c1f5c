/** The history of an entity: charts of its counts and of their changes. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Client, HistoryQuery } from "../../../core/client/mod.ts";
import type { HistoryItem } from "../../../core/responses/histories.ts";
import {
  computeRates,
  findExtremes,
  pickBucketChanges,
  pickRateUnit,
  sumChanges,
  type CountChange,
} from "../changes.ts";
import { formatCompact, type TimeScale } from "../format.ts";
import { usePages, type ListedPages } from "../hooks.ts";
import { readCount } from "../owners/owner-pages.ts";
import type { PageSource } from "../owners/page-source.ts";
import {
  createGapRule,
  findUnfinishedStart,
  getRangeLabel,
  getTimeScale,
  parseRange,
  planHistory,
  type HistoryPlan,
  type Range,
} from "../ranges.ts";
import { findRoundingStep, isRoundingStep, LEAST_STEPS } from "../rounding.ts";
import { useAddress } from "../router.ts";
import { Chart, formatPeriod, ScaledTime } from "../charts/chart.tsx";
import { MoreButton, RangeControl, Select } from "./controls.tsx";
import { Change, Figures, Percent } from "./figures.tsx";
import type { PlotView } from "../charts/plot.ts";
import { Empty, Reading } from "./states.tsx";

interface HistoryProperties {
  /** The beginning of the names of its files. */
  readonly name: string;
  /** The counts, the first of which is shown at first, by their labels. */
  readonly counts: Readonly<Record<string, string>>;
  /** When a short or tweet was published; its whole history is shown at first. */
  readonly publishedAt?: string;
  /** The gains of the first count that the page shows, too: they are the changes of these ranges. */
  readonly gains?: Partial<Readonly<Record<Range, number | null>>>;
  readonly open: (client: Client, query: HistoryQuery) => PageSource<HistoryItem<object>>;
}

export function History({ name, counts, publishedAt, gains, open }: HistoryProperties) {
  const { query } = useAddress();
  const since = publishedAt === undefined ? undefined : Date.parse(publishedAt);
  const range = parseRange(query.get("range"), since === undefined ? "30d" : "all");
  const [firstCount = ""] = Object.keys(counts);
  const requested = query.get("count") ?? "";
  const count = Object.hasOwn(counts, requested) ? requested : firstCount;
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
            gain={count === firstCount ? (gains?.[range] ?? null) : null}
            label={counts[count] ?? count}
            fileName={`${name}-${count}-${range}`}
          />
        )}
      </Reading>
    </section>
  );
}

function HistoryCharts(properties: {
  readonly list: ListedPages<HistoryItem<object>>;
  readonly count: string;
  readonly label: string;
  readonly plan: HistoryPlan;
  readonly range: Range;
  readonly since: number | undefined;
  readonly gain: number | null;
  readonly fileName: string;
}) {
  const { list, count, label, plan, range, since, gain, fileName } = properties;
  const { interval, stepMs } = plan;
  const [view, setView] = useState<PlotView>();
  if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
  const instants = list.items.map(({ timestamp }) => Date.parse(timestamp));
  const observed = list.items.map((item): CountChange => {
    const observedAt = Date.parse(item.observedAt);
    return { observedAt, count: readCount(item, count), change: readCount(item.change, count) };
  });
  const getGapMs = createGapRule(instants, stepMs, since);
  const unit = pickRateUnit(stepMs);
  const rates = since === undefined ? undefined : computeRates(observed, unit.ms);
  const unfinishedFrom = findUnfinishedStart(instants, interval, list.readAt);
  const timeScale = getTimeScale(interval);
  const counts = observed.map(({ count: value }) => value);
  const roundingStep = findRoundingStep(counts);
  const shared = {
    instants,
    timeScale,
    unfinishedFrom,
    getGapMs,
    group: "history",
    measure: "change",
  } as const;
  const growth =
    rates === undefined
      ? ({
          title: `${label}: change each ${interval}`,
          series: [
            {
              label: `Change of ${label.toLowerCase()}`,
              values: observed.map(({ change }) => change),
            },
          ],
          kind: "bars",
          fileName: `${fileName}-change.csv`,
        } as const)
      : {
          title: `${label}: rate of growth, ${withArticle(unit.name)}`,
          series: [{ label: `${label} ${withArticle(unit.name)}`, values: rates }],
          fileName: `${fileName}-rate.csv`,
        };
  const isShown = (at: number) => view === undefined || (at >= view.from && at <= view.to);
  const parts = rates ?? pickBucketChanges(observed, stepMs);
  const shown = observed.flatMap((point, index): SummaryPart[] => {
    const at = instants[index] ?? 0;
    // An unfinished bucket is not the worst, nor is a step of rounding the best.
    const isComparable =
      rates !== undefined ||
      (at < unfinishedFrom && (roundingStep === 0 || !isRoundingStep(point.count, point.change)));
    return isShown(at)
      ? [{ ...point, at, part: isComparable ? (parts[index] ?? null) : null }]
      : [];
  });
  const isWhole = view?.isWhole !== false;
  return (
    <>
      <Summary
        parts={shown}
        timeScale={timeScale}
        isRate={rates !== undefined}
        range={isWhole ? { label: getRangeLabel(range), gain } : undefined}
        hasChange={since === undefined || range !== "all" || !isWhole}
        part={rates === undefined ? interval : unit.name}
      />
      {roundingStep > 0 && (
        <p class="hint">
          {label} are rounded by the source: a change of {formatCompact(roundingStep)} can be less.
        </p>
      )}
      <Chart
        {...shared}
        title={label}
        series={[{ label, values: counts }]}
        measure="count"
        leastSpan={roundingStep * LEAST_STEPS}
        onView={setView}
        fileName={`${fileName}.csv`}
      />
      <Chart {...shared} {...growth} />
      <MoreButton list={list} />
    </>
  );
}

/** A bucket that is shown. */
interface SummaryPart extends CountChange {
  /** The start of the bucket. */
  readonly at: number;
  /** Its change or its rate of growth; `null` if that is no fair one to compare. */
  readonly part: number | null;
}

/** A summary of the shown part of a history: its change, and its best and worst buckets. */
function Summary(properties: {
  readonly parts: readonly SummaryPart[];
  readonly timeScale: TimeScale;
  /** The range that is shown as a whole, and the gain of the count in it. */
  readonly range: { readonly label: string; readonly gain: number | null } | undefined;
  /** Whether there is a change in all: since a publication, it is the count itself. */
  readonly hasChange: boolean;
  /** The noun for a bucket: `day`. */
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
    const gain = range?.gain ?? null;
    const period = formatPeriod({ from: first.at, to: last.at }, timeScale);
    items.push([
      `Change: ${gain === null ? period : range?.label}`,
      <ChangeWithPercent change={gain ?? sumChanges(parts)} newest={newest} />,
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

/** @param newest The count after the change. */
function ChangeWithPercent({
  change,
  newest,
}: {
  readonly change: number | null;
  readonly newest: number;
}) {
  const base = change === null ? 0 : newest - change;
  return (
    <>
      <Change value={change} />{" "}
      {change !== null && base !== 0 && (
        <small>
          <Percent value={(change / base) * 100} />
        </small>
      )}
    </>
  );
}

function withArticle(unit: string): string {
  return unit === "hour" ? "an hour" : `a ${unit}`;
}
