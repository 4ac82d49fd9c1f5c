/** The history of an entity: charts of its counts and of their changes. */
import type { Client, HistoryQuery, Listing } from "../../../core/client/mod.ts";
import type { HistoryItem, HistoryPage } from "../../../core/resources/mod.ts";
import { HOUR_MS } from "../../../core/time.ts";
import { usePages, type ListedPages } from "../hooks.ts";
import { createGapRule, parseRange, planHistory, type HistoryPlan } from "../ranges.ts";
import { useAddress } from "../router.ts";
import { Chart } from "./chart.tsx";
import { MoreButton, RangeControl, Select } from "./controls.tsx";
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
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="row">
        <RangeControl range={range} />
        <Select label="Count" name="count" value={count} options={options} />
      </div>
      <Reading read={read}>
        {(list) => (
          <HistoryCharts
            {...{ list, count, plan, since }}
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
  since,
  fileName,
}: {
  readonly list: ListedPages<HistoryItem<Counts>>;
  readonly count: keyof Counts;
  readonly label: string;
  readonly plan: HistoryPlan;
  readonly since: number | undefined;
  readonly fileName: string;
}) {
  if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
  const instants = list.items.map(({ timestamp }) => Date.parse(timestamp));
  const values = list.items.map((item): number | null => item[count]);
  const getGapMs = createGapRule(instants, stepMs, since);
  return (
    <>
      <Chart
        title={label}
        instants={instants}
        series={[{ label, values }]}
        getGapMs={getGapMs}
        fileName={`${fileName}.csv`}
      />
      {since === undefined ? (
        <Chart
          title={`${label}: change each ${interval}`}
          instants={instants}
          series={[
            {
              label: `Change of ${label.toLowerCase()}`,
              values: list.items.map(({ change }) => change[count]),
            },
          ]}
          kind="bars"
          getGapMs={getGapMs}
          fileName={`${fileName}-change.csv`}
        />
      ) : (
        <Chart
          title={`${label}: rate of growth, an hour`}
          instants={instants}
          series={[{ label: `${label} an hour`, values: computeRates(list.items, count) }]}
          getGapMs={getGapMs}
          fileName={`${fileName}-rate.csv`}
        />
      )}
      <MoreButton list={list} />
    </>
  );
}

/** The change of a count an hour since the observation before: they are not evenly spaced. */
function computeRates<Counts extends Record<keyof Counts, number | null>>(
  items: readonly HistoryItem<Counts>[],
  count: keyof Counts,
): (number | null)[] {
  return items.map(({ observedAt, change }, index) => {
    const [before, difference] = [items[index - 1], change[count]];
    if (before === undefined || difference === null || before[count] === null) return null;
    const hours = (Date.parse(observedAt) - Date.parse(before.observedAt)) / HOUR_MS;
    return Math.round((difference / hours) * 100) / 100;
  });
}
