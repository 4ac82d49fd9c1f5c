/** The list of channels. */
import { CHANNEL_SORT_FIELDS, CHANNEL_SORTS, LIST_ORDERS } from "../../../core/lists.ts";
import type { ListedChannel } from "../../../core/resources/mod.ts";
import { usePages } from "../hooks.ts";
import { createPath, useAddress } from "../router.ts";
import { MoreButton, SearchForm, Select } from "../parts/controls.tsx";
import { Change, Count, Name } from "../parts/figures.tsx";
import { Heading } from "../parts/heading.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Trend, TrendsButton, useTrends } from "../parts/trends.tsx";

const SORT_LABELS = {
  subscribers: "Subscribers",
  views: "Views",
  videos: "Videos",
  dailyGain: "Subscribers gained in a day",
  weeklyGain: "Subscribers gained in a week",
  monthlyGain: "Subscribers gained in 30 days",
  dailyViews: "Views gained in a day",
  weeklyViews: "Views gained in a week",
  monthlyViews: "Views gained in 30 days",
} as const;

const PAGE_CHANNELS = 50;

export function Channels() {
  const { query } = useAddress();
  const sort = CHANNEL_SORTS.find((name) => name === query.get("sort")) ?? "subscribers";
  const order = LIST_ORDERS.find((name) => name === query.get("order")) ?? "desc";
  const [search, country] = [query.get("search") ?? "", query.get("country") ?? ""];
  const read = usePages(
    `channels ${sort} ${order} ${search} ${country}`,
    ({ video }) =>
      video.channels({
        sort,
        order,
        limit: PAGE_CHANNELS,
        ...(search === "" ? {} : { search }),
        ...(country === "" ? {} : { country }),
      }),
    ({ channels }) => channels,
    ({ pagination }) => pagination?.hasMore === true,
  );
  const trends = useTrends("channel");
  const columns: Column<ListedChannel>[] = [
    {
      label: "Channel",
      render: (channel) => (
        <Name
          href={createPath("channels", channel.id)}
          name={channel.displayName ?? channel.username ?? channel.id}
          username={channel.username}
        />
      ),
    },
    ...(/gain|views$/i.test(sort) || sort === "views" ? [createFigureColumn(sort)] : []),
    {
      label: "Subscribers",
      isNumeric: true,
      render: ({ subscribers }) => <Count value={subscribers} />,
    },
    { label: "Videos", isNumeric: true, render: ({ videoCount }) => <Count value={videoCount} /> },
    { label: "30 days", render: ({ id }) => <Trend trends={trends} name={id} /> },
  ];
  return (
    <>
      <Heading text="Channels" />
      <div class="row">
        <Select label="Sort by" name="sort" value={sort} options={Object.entries(SORT_LABELS)} />
        <Select
          label="Order"
          name="order"
          value={order}
          options={[
            ["desc", "Greatest first"],
            ["asc", "Least first"],
          ]}
        />
      </div>
      <SearchForm
        fields={[
          { label: "Name", name: "search", value: search, size: 20 },
          { label: "Country", name: "country", value: country, size: 4 },
        ]}
      />
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 ? (
            <Empty>
              {search === "" && country === ""
                ? "No channel was observed yet. Import observations, or let the service collect some."
                : "No channel matches. A search of one or two letters finds beginnings of usernames."}
            </Empty>
          ) : (
            <>
              <Table
                caption={`Channels by ${SORT_LABELS[sort].toLowerCase()}`}
                columns={columns}
                items={list.items}
                getKey={({ id }) => id}
              />
              <TrendsButton trends={trends} names={list.items.map(({ id }) => id)} />
              <MoreButton list={list} />
            </>
          )
        }
      </Reading>
    </>
  );
}

/** The figure that the list is sorted by, where it has no column of its own. */
function createFigureColumn(sort: keyof typeof SORT_LABELS): Column<ListedChannel> {
  const field = CHANNEL_SORT_FIELDS[sort];
  const Cell = sort === "views" ? Count : Change;
  return {
    label: SORT_LABELS[sort],
    isNumeric: true,
    render: (channel) => {
      const value: unknown = Reflect.get(channel, field);
      return <Cell value={typeof value === "number" ? value : null} />;
    },
  };
}
