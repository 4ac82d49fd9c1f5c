/** The list of users. */
import { LIST_ORDERS, USER_SORTS } from "../../../core/lists.ts";
import type { ListedUser } from "../../../core/resources/generated/types.ts";
import { usePages } from "../hooks.ts";
import { createPath, useAddress } from "../router.ts";
import { EntityList } from "../parts/entity-list.tsx";
import { Change, Count, Name } from "../parts/figures.tsx";
import { Heading } from "../parts/profile.tsx";
import type { Column } from "../parts/table.tsx";
import { useTrends } from "../parts/trends.tsx";

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
            sort,
            isNumeric: true,
            render: (user: ListedUser) => <Change value={user[sort]} />,
          },
        ]),
    {
      label: "Followers",
      sort: "followers",
      isNumeric: true,
      render: ({ followers_count }) => <Count value={followers_count} />,
    },
    {
      label: "Tweets",
      isNumeric: true,
      render: ({ tweet_count }) => <Count value={tweet_count} />,
    },
    {
      label: "Following",
      isNumeric: true,
      isWide: true,
      render: ({ following_count }) => <Count value={following_count} />,
    },
  ];
  return (
    <>
      <Heading text="Users" />
      <EntityList
        kind="user"
        sort={sort}
        order={order}
        sortLabels={SORT_LABELS}
        searchFields={[{ label: "Name", name: "search", value: search, size: 20 }]}
        read={read}
        emptyHint="Add creators to the monitoring list, or import observations."
        columns={columns}
        trends={trends}
        getName={({ username }) => username}
      />
    </>
  );
}
