/** A list of channels or users: how it is sorted and searched, its rows and their trends. */
import type { ListOrder } from "../../../core/lists.ts";
import type { ListedPages, Read } from "../hooks.ts";
import { setParameters } from "../router.ts";
import { MoreButton, SearchForm, SearchOn, Select } from "./controls.tsx";
import { Empty, Reading } from "./states.tsx";
import { Table, type Column, type ListSorting } from "./table.tsx";
import { createTrendColumns, TrendsButton, type Trends } from "./trends.tsx";

interface EntityListProperties<Entity, Sort extends string> {
  /** What the list has: `channel`. */
  readonly kind: string;
  readonly sort: Sort;
  readonly order: ListOrder;
  readonly sortLabels: Readonly<Record<Sort, string>>;
  readonly searchFields: Parameters<typeof SearchForm>[0]["fields"];
  readonly read: Read<ListedPages<Entity>>;
  /** What to do while nothing was observed. */
  readonly emptyHint: string;
  readonly columns: readonly Column<Entity>[];
  readonly trends: Trends;
  /** The name by which requests find an entity. */
  readonly getName: (entity: Entity) => string;
}

export function EntityList<Entity, Sort extends string>({
  kind,
  sort,
  order,
  sortLabels,
  searchFields,
  read,
  emptyHint,
  columns,
  trends,
  getName,
}: EntityListProperties<Entity, Sort>) {
  const isFiltered = searchFields.some(({ value }) => value !== "");
  const options: (readonly [string, string])[] = Object.entries<string>(sortLabels);
  const sorting: ListSorting = {
    sort,
    isDescending: order === "desc",
    hint: "Sorts the whole list, for 1 credit",
    sortBy: (name) =>
      setParameters({ sort: name, order: name === sort && order === "desc" ? "asc" : "desc" }),
  };
  return (
    <>
      <div class="row">
        <Select label="Sort by" name="sort" value={sort} options={options} />
        <Select
          label="Order"
          name="order"
          value={order}
          options={[
            ["desc", "Greatest first"],
            ["asc", "Least first"],
          ]}
        />
        <SearchForm fields={searchFields} />
      </div>
      <Reading read={read}>
        {(list) =>
          list.items.length === 0 && list.hasMore ? (
            <SearchOn list={list} kind={kind} />
          ) : list.items.length === 0 ? (
            <Empty>
              {isFiltered
                ? `No ${kind} matches. A search of one or two letters finds beginnings of usernames.`
                : `No ${kind} was observed yet. ${emptyHint}`}
            </Empty>
          ) : (
            <>
              <TrendsButton trends={trends} names={list.items.map(getName)} />
              <Table
                caption={`${capitalize(kind)}s by ${sortLabels[sort].toLowerCase()}, ${
                  order === "desc" ? "greatest" : "least"
                } first. Another order costs 1 credit.`}
                columns={
                  list.items.some((entity) => trends.values.has(getName(entity)))
                    ? [...columns, ...createTrendColumns(trends, getName)]
                    : columns
                }
                items={list.items}
                getKey={getName}
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

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
