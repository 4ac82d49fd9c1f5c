/** The list of channels. */
import { CHANNEL_SORT_FIELDS, CHANNEL_SORTS, LIST_ORDERS } from "../../../core/lists.ts";
import type { ListedChannel } from "../../../core/resources/generated/types.ts";
import { usePages } from "../hooks.ts";
import { createPath, useAddress } from "../router.ts";
import { EntityList } from "../parts/entity-list.tsx";
import { Change, Count, Name } from "../parts/figures.tsx";
import { Heading } from "../parts/profile.tsx";
import type { Column } from "../parts/table.tsx";
import { useTrends } from "../parts/trends.tsx";

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
    ...(sort === "subscribers" || sort === "videos" ? [] : [createFigureColumn(sort)]),
    {
      label: "Subscribers",
      sort: "subscribers",
      isNumeric: true,
      render: ({ subscribers }) => <Count value={subscribers} />,
    },
    {
      label: "Videos",
      sort: "videos",
      isNumeric: true,
      render: ({ videoCount }) => <Count value={videoCount} />,
    },
  ];
  return (
    <>
      <Heading text="Channels" />
      <EntityList
        kind="channel"
        sort={sort}
        order={order}
        sortLabels={SORT_LABELS}
        searchFields={[
          { label: "Name", name: "search", value: search, size: 20 },
          { label: "Country", name: "country", value: country, size: 4 },
        ]}
        read={read}
        emptyHint="Import observations, or let the service collect some."
        columns={columns}
        trends={trends}
        getName={({ id }) => id}
      />
    </>
  );
}

/** The figure that the list is sorted by, where it has no column of its own. */
function createFigureColumn(sort: keyof typeof SORT_LABELS): Column<ListedChannel> {
  const field = CHANNEL_SORT_FIELDS[sort];
  const Cell = sort === "views" ? Count : Change;
  return {
    label: SORT_LABELS[sort],
    sort,
    isNumeric: true,
    render: (channel) => {
      const value: unknown = Reflect.get(channel, field);
      return <Cell value={typeof value === "number" ? value : null} />;
    },
  };
}
