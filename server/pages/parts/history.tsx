/** The history of an entity: charts of its counts and of their changes. */
import type { Client, HistoryQuery, Listing } from "../../../core/client/mod.ts";
import type { HistoryItem, HistoryPage } from "../../../core/resources/mod.ts";
import { usePages } from "../hooks.ts";
import { createHistoryQuery, describeRange, parseRange } from "../ranges.ts";
import { useAddress } from "../router.ts";
import { Chart } from "./chart.tsx";
import { MoreButton, RangeControl, Select } from "./controls.tsx";
import { Empty, Reading } from "./states.tsx";

interface HistoryProperties<Counts, Page> {
  /** What the name of its files begins with. */
  readonly name: string;
  /** The counts, the first of which is shown at first, by their labels. */
  readonly counts: Readonly<Record<keyof Counts & string, string>>;
  readonly createListing: (
    client: Client,
    query: HistoryQuery,
  ) => Listing<HistoryItem<Counts>, Page>;
}

export function History<
  Counts extends Record<keyof Counts, number | null>,
  Page extends HistoryPage<Counts>,
>({ name, counts, createListing }: HistoryProperties<Counts, Page>) {
  const { query } = useAddress();
  const range = parseRange(query.get("range"));
  const names = Object.keys(counts) as (keyof Counts & string)[];
  const count = names.find((known) => known === query.get("count")) ?? names[0];
  const { interval, stepMs } = describeRange(range);
  const read = usePages(
    `history ${name} ${range}`,
    (client) => createListing(client, createHistoryQuery(range, Date.now())),
    (page) => page.history,
    (page) => page.pagination.hasMore,
  );
  if (count === undefined) return null;
  const label = counts[count];
  const options = names.map((known) => [known, counts[known]] as const);
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="row">
        <RangeControl range={range} />
        <Select label="Count" name="count" value={count} options={options} />
      </div>
      <Reading read={read}>
        {(list) => {
          if (list.items.length === 0) return <Empty>Nothing was observed in this range.</Empty>;
          const instants = list.items.map(({ timestamp }) => Date.parse(timestamp));
          const values = list.items.map((item): number | null => item[count]);
          const changes = list.items.map(({ change }) => change[count]);
          return (
            <>
              <Chart
                title={label}
                instants={instants}
                series={[{ label, values }]}
                gapMs={stepMs * 1.5}
                fileName={`${name}-${count}-${range}.csv`}
              />
              <Chart
                title={`${label}: change each ${interval}`}
                instants={instants}
                series={[{ label: `Change of ${label.toLowerCase()}`, values: changes }]}
                kind="bars"
                gapMs={stepMs * 1.5}
                fileName={`${name}-${count}-change-${range}.csv`}
              />
              <MoreButton list={list} />
            </>
          );
        }}
      </Reading>
    </section>
  );
}
