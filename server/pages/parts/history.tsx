/** The history of an entity: charts of its counts and of their changes. */
import type { ComponentChildren } from "preact";
import type { Client, HistoryQuery, Listing } from "../../../core/client/mod.ts";
import type { HistoryItem, HistoryPage } from "../../../core/resources/mod.ts";
import {
  computeChangesSinceStart,
  computeRates,
  findExtremes,
  pickBucketChanges,
  pickRateUnit,
  type CountChange,
} from "../changes.ts";
import { usePages, type ListedPages } from "../hooks.ts";
import {
  createGapRule,
  getRangeLabel,
  parseRange,
  planHistory,
  type HistoryPlan,
  type Range,
} from "../ranges.ts";
import { useAddress } from "../router.ts";
import { Chart } from "./chart.tsx";
import { MoreButton, RangeControl, Select } from "./controls.tsx";
import { Change, Figures, Instant, Percent } from "./figures.tsx";
import { Empty, Reading } from "./states.tsx";

interface HistoryProperties<Counts, Page> {
  /** What the name of its files begins with. */
  readonly name: string;
  /** The counts, the first of which is shown at first, by their labels. */
  readonly counts: Readonly<Record<keyof Counts & string, string>>;
  /** When a short or tweet was published; its whole history is shown at first. */
  readonly publishedAt?: string;
  readonly createListing: (
    client: Client,
    query: HistoryQuery,
  ) => Listing<HistoryItem<Counts>, Page>;
}

export function History<
  Counts extends Record<keyof Counts, number | null>,
  Page extends HistoryPage<Counts>,
>({ name, counts, publishedAt, createListing }: HistoryProperties<Counts, Page>) {
  const { query } = useAddress();
  const since = publishedAt === undefined ? undefined : Date.parse(publishedAt);
  const range = parseRange(query.get("range"), since === undefined ? "30d" : "all");
  const names = Object.keys(counts) as (keyof Counts & string)[];
  const count = names.find((known) => known === query.get("count")) ?? names[0];
  const plan = planHistory(range, Date.now(), since);
  const { from, interval } = plan;
  const read = usePages(
    `history ${name} ${from} ${interval}`,
    (client) => createListing(client, { from, interval }),
    (page) => page.history,
    (page) => page.pagination.hasMore,
  );
  if (count === undefined) return null;
  const options = names.map((known) => [known, counts[known]] as const);
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="row">
        <RangeControl range={range} cost="Costs 1 credit, once" />
        <Select label="Count" name="count" value={count} options={options} />
      </div>
      <Reading read={read}>
        {(list) => (
          <HistoryCharts
            {...{ list, count, plan, range, since }}
            label={counts[count]}
            fileName={`${name}-${count}-${range}`}
          />
        )}
      </Reading>
    </section>
  );
}

function HistoryCharts<Counts extends Record<keyof Counts, number | null>>({
  list,
  count,
  label,
  plan: { interval, stepMs },
  range,
  since,
  fileName,
}: {
  readonly list: ListedPages<HistoryItem<Counts>>;
  readonly count: keyof Counts;
  readonly label: string;
  readonly plan: HistoryPlan;
  readonly range: Range;
  readonly since: number | undefined;
  readonly fileName: string;
}) {
  if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
  const instants = list.items.map(({ timestamp }) => Date.parse(timestamp));
  const observed = list.items.map((item): CountChange => {
    const observedAt = Date.parse(item.observedAt);
    return { observedAt, count: item[count], change: item.change[count] };
  });
  const getGapMs = createGapRule(instants, stepMs, since);
  const unit = pickRateUnit(stepMs);
  const rates = since === undefined ? undefined : computeRates(observed, unit.ms);
  const shared = { instants, getGapMs, group: "history", measure: "change" } as const;
  return (
    <>
      <Summary
        {...{ observed, instants }}
        isRate={rates !== undefined}
        parts={rates ?? pickBucketChanges(observed, stepMs)}
        period={since === undefined || range !== "all" ? getRangeLabel(range) : undefined}
        part={rates === undefined ? interval : unit.name}
      />
      <Chart
        {...shared}
        title={label}
        series={[{ label, values: observed.map(({ count: value }) => value) }]}
        measure="count"
        fileName={`${fileName}.csv`}
      />
      {rates === undefined ? (
        <Chart
          {...shared}
          title={`${label}: change each ${interval}`}
          series={[
            {
              label: `Change of ${label.toLowerCase()}`,
              values: observed.map(({ change }) => change),
            },
          ]}
          kind="bars"
          fileName={`${fileName}-change.csv`}
        />
      ) : (
        <Chart
          {...shared}
          title={`${label}: rate of growth, ${withArticle(unit.name)}`}
          series={[{ label: `${label} ${withArticle(unit.name)}`, values: rates }]}
          fileName={`${fileName}-rate.csv`}
        />
      )}
      <MoreButton list={list} />
    </>
  );
}

/** What a history comes to: the change in all, and the best and the worst of its parts. */
function Summary({
  observed,
  instants,
  period,
  part,
  parts,
  isRate,
}: {
  readonly observed: readonly CountChange[];
  readonly instants: readonly number[];
  /** What the counts changed in; `undefined` since a publication, which begins with nothing. */
  readonly period: string | undefined;
  /** What a part is: `day`. */
  readonly part: string;
  /** The change of each part, or the rate of growth in it. */
  readonly parts: readonly (number | null)[];
  readonly isRate: boolean;
}) {
  const counts = observed.map(({ count }) => count);
  const isKnown = (value: number | null): value is number => value !== null;
  if (counts.every((count) => count === null)) return null;
  const extremes = findExtremes(parts);
  const renderPart = (index: number) => (
    <>
      <Change value={parts[index]} />{" "}
      <small class="muted">
        <Instant value={new Date(instants[index] ?? 0).toISOString()} hasTime={part === "hour"} />
      </small>
    </>
  );
  const items: [label: string, value: ComponentChildren][] = [];
  if (period !== undefined) {
    const [change, percent] = [false, true].map((isPercent) =>
      computeChangesSinceStart(counts, { isPercent }).findLast(isKnown),
    );
    const inPercent = percent !== undefined && (
      <small>
        <Percent value={percent} />
      </small>
    );
    items.push([
      `Change: ${period}`,
      <>
        <Change value={change} /> {inPercent}
      </>,
    ]);
  }
  if (isRate) {
    items.push([`Latest, ${withArticle(part)}`, <Change value={parts.findLast(isKnown)} />]);
    if (extremes !== null)
      items.push([`Fastest, ${withArticle(part)}`, renderPart(extremes.greatest)]);
  } else if (extremes !== null) {
    items.push([`Best ${part}`, renderPart(extremes.greatest)]);
    items.push([`Worst ${part}`, renderPart(extremes.least)]);
  }
  return <Figures items={items} />;
}

function withArticle(unit: string): string {
  return unit === "hour" ? "an hour" : `a ${unit}`;
}
