/** The list of users. */
import { LIST_ORDERS, USER_SORTS } from "../../../core/lists.ts";
import type { ListedUser } from "../../../core/resources/mod.ts";
import { usePages } from "../hooks.ts";
import { createPath, useAddress } from "../router.ts";
import { MoreButton, SearchForm, Select } from "../parts/controls.tsx";
import { Change, Count, Name } from "../parts/figures.tsx";
import { Heading } from "../parts/heading.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { Trend, TrendsButton, useTrends } from "../parts/trends.tsx";

const SORT_LABELS = {
  followers: "Followers",
  dailyGain: "Followers gained in a day",
  weeklyGain: "Followers gained in a week",
  monthlyGain: "Followers gained in 30 days",
} as const;

const PAGE_USERS = 50;

export function Users() {
  const { query } = useAddress();
  const sort = USER_SORTS.find((name) => name === query.get("sort")) ?? "followers";
  const order = LIST_ORDERS.find((name) => name === query.get("order")) ?? "desc";
  const search = query.get("search") ?? "";
  const read = usePages(
    `users ${sort} ${order} ${search}`,
    ({ microblog }) =>
      microblog.users({ sort, order, limit: PAGE_USERS, ...(search === "" ? {} : { search }) }),
    ({ users }) => users,
    ({ pagination }) => pagination.hasMore,
  );
  const trends = useTrends("user");
  const columns: Column<ListedUser>[] = [
    {
      label: "User",
      render: ({ username, displayName }) => (
        <Name
          href={createPath("users", username)}
          name={displayName ?? username}
          username={username}
        />
      ),
    },
    ...(sort === "followers"
      ? []
      : [
          {
            label: SORT_LABELS[sort],
            isNumeric: true,
            render: (user: ListedUser) => <Change value={user[sort]} />,
          },
        ]),
    {
      label: "Followers",
      isNumeric: true,
      render: ({ followers_count }) => <Count value={followers_count} />,
    },
    {
      label: "Tweets",
      isNumeric: true,
      render: ({ tweet_count }) => <Count value={tweet_count} />,
    },
    { label: "30 days", render: ({ username }) => <Trend trends={trends} name={username} /> },
  ];
  return (
    <>
      <Heading text="Users" />
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
      <SearchForm fields={[{ label: "Name", name: "search", value: search, size: 20 }]} />
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 ? (
            <Empty>
              {search === ""
                ? "No user was observed yet. Add creators to the monitoring list, or import observations."
                : "No user matches. A search of one or two letters finds beginnings of usernames."}
            </Empty>
          ) : (
            <>
              <Table
                caption={`Users by ${SORT_LABELS[sort].toLowerCase()}`}
                columns={columns}
                items={list.items}
                getKey={({ username }) => username}
              />
              <TrendsButton trends={trends} names={list.items.map(({ username }) => username)} />
              <MoreButton list={list} />
            </>
          )
        }
      </Reading>
    </>
  );
}
