/** The list of channels or users: how it is sorted and searched, its rows and their trends. */
import { LIST_ORDERS } from "../../../core/lists.ts";
import { usePages } from "../hooks.ts";
import {
  COUNT_LABELS,
  getPluralLabel,
  getSortLabels,
  KIND_LABELS,
  SORT_FIELDS,
} from "../labels.ts";
import { PAGE_ITEMS, readCount, type ListedOwner, type OwnerPages } from "../owners/owner-pages.ts";
import { useProgress } from "../store.ts";
import { createPath, setParameters, useAddress } from "../router.ts";
import { MoreButton, SearchForm, SearchOn, Select } from "../parts/controls.tsx";
import { Name } from "../parts/figures.tsx";
import { Heading } from "../parts/heading.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column, type ListSorting } from "../parts/table.tsx";
import { createTrendColumns, TrendsButton } from "../parts/trends.tsx";

/** How a list is sorted and filtered. */
interface ListChoices {
  readonly sort: string;
  readonly order: "asc" | "desc";
  readonly search: string;
  readonly country: string;
}

const ORDERS = [
  ["desc", "Greatest first"],
  ["asc", "Least first"],
] as const;

function useChoices({ kind, hasCountry }: OwnerPages): ListChoices {
  const { query } = useAddress();
  const sorts = Object.keys(SORT_FIELDS[kind]);
  return {
    sort: sorts.find((name) => name === query.get("sort")) ?? sorts[0] ?? "",
    order: LIST_ORDERS.find((name) => name === query.get("order")) ?? "desc",
    search: query.get("search") ?? "",
    country: hasCountry ? (query.get("country") ?? "") : "",
  };
}

export function Owners({ owner }: { readonly owner: OwnerPages }) {
  const { kind, path, hasCountry, emptyHint } = owner;
  const { sort, order, search, country } = useChoices(owner);
  const sortLabels = getSortLabels(kind);
  const trends = useProgress();
  const read = usePages(`${path} ${sort} ${order} ${search} ${country}`, (client) =>
    owner.openList(client, {
      sort,
      order,
      limit: PAGE_ITEMS,
      ...(search === "" ? {} : { search }),
      ...(country === "" ? {} : { country }),
    }),
  );
  const sorting: ListSorting = {
    sort,
    isDescending: order === "desc",
    hint: "Sorts the whole list, for 1 credit",
    sortBy: (name) =>
      setParameters({ sort: name, order: name === sort && order === "desc" ? "asc" : "desc" }),
  };
  const searchFields = [
    { label: "Name", name: "search", value: search, size: 20 },
    ...(hasCountry ? [{ label: "Country", name: "country", value: country, size: 4 }] : []),
  ];
  return (
    <>
      <Heading text={getPluralLabel(kind)} />
      <div class="row">
        <Select label="Sort by" name="sort" value={sort} options={Object.entries(sortLabels)} />
        <Select label="Order" name="order" value={order} options={ORDERS} />
        <SearchForm fields={searchFields} />
      </div>
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 && list.hasMore ? (
            <SearchOn list={list} kind={kind} />
          ) : list.items.length === 0 ? (
            <Empty>
              {search !== "" || country !== ""
                ? `No ${kind} matches. A search of one or two letters finds beginnings of usernames.`
                : `No ${kind} was observed yet. ${emptyHint}`}
            </Empty>
          ) : (
            <>
              <TrendsButton owner={owner} listed={list.items} progress={trends} />
              <Table
                caption={`${getPluralLabel(kind)} by ${sortLabels[sort]?.toLowerCase()}, ${
                  order === "desc" ? "greatest" : "least"
                } first. Another order costs 1 credit.`}
                columns={[...createColumns(owner, sort), ...createTrendColumns(owner, list.items)]}
                items={list.items}
                getKey={({ id }) => id}
                sorting={sorting}
              />
              {list.emptyPages > 0 && list.hasMore ? (
                <SearchOn list={list} kind={kind} />
              ) : (
                <MoreButton list={list} />
              )}
            </>
          )
        }
      </Reading>
    </>
  );
}

/** The columns: the name, the figure of the sort, and the most important counts. */
function createColumns(
  { kind, path, listedCounts }: OwnerPages,
  sort: string,
): Column<ListedOwner>[] {
  const labels: Readonly<Record<string, string>> = COUNT_LABELS[kind];
  const sorts = Object.entries(SORT_FIELDS[kind]);
  const sortField = SORT_FIELDS[kind][sort] ?? "";
  return [
    {
      label: KIND_LABELS[kind],
      render: ({ id, name, username }) => (
        <Name href={createPath(path, id)} name={name} username={username} />
      ),
    },
    ...(listedCounts.includes(sortField)
      ? []
      : [
          {
            label: getSortLabels(kind)[sort] ?? sort,
            as: Object.hasOwn(labels, sortField) ? ("count" as const) : ("change" as const),
            sort,
            getValue: ({ counts }: ListedOwner) => readCount(counts, sortField),
          },
        ]),
    ...listedCounts.map((count, index) => ({
      label: labels[count] ?? count,
      as: "count" as const,
      sort: sorts.find(([, field]) => field === count)?.[0],
      isWide: index >= 2,
      getValue: ({ counts }: ListedOwner) => readCount(counts, count),
    })),
  ];
}
