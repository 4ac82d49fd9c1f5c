/** The list of channels or users: sorting, search, rows, more pages, and trends of 30 days. */
import { COMPARISON_MAX_NAMES, SEARCH_MAX_CHARACTERS } from "../../../core/limits.ts";
import { LIST_ORDERS, SORT_FIELDS } from "../../../core/lists.ts";
import { findChangeSinceStart } from "../changes.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { formatNumberOf } from "../format.ts";
import { usePages } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, getSortLabels, KIND_LABELS } from "../labels.ts";
import { PAGE_ITEMS, readCount, type ListedOwner, type OwnerPages } from "../owners/owner-pages.ts";
import { MoreButton, Select } from "../parts/controls.tsx";
import { Below, ChangeSinceStart, Text } from "../parts/figures.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Empty, Failed, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createPath, setParameters, useAddress } from "../router.ts";
import { getClient } from "../session.ts";
import { useProgress } from "../state-hooks.ts";

const ORDERS = [
  ["desc", "Greatest first"],
  ["asc", "Least first"],
] as const;

export function Owners({ owner }: { readonly owner: OwnerPages }) {
  const { kind, path, hasCountry, emptyHint } = owner;
  const { query } = useAddress();
  const sortLabels = getSortLabels(kind);
  const sorts = Object.keys(sortLabels);
  const sort = sorts.find((name) => name === query.get("sort")) ?? sorts[0] ?? "";
  const order = LIST_ORDERS.find((name) => name === query.get("order")) ?? "desc";
  const search = query.get("search") ?? "";
  const country = hasCountry ? (query.get("country") ?? "") : "";
  const progress = useProgress();
  const read = usePages(`${path} ${sort} ${order} ${search} ${country}`, (client) =>
    owner.openList(client, {
      sort,
      order,
      limit: PAGE_ITEMS,
      search: search || undefined,
      country: country || undefined,
    }),
  );
  const sorting = {
    sort,
    isDescending: order === "desc",
    hint: "Sorts the whole list, for 1 credit",
    sortBy: (name: string) =>
      setParameters({ sort: name, order: name === sort && order === "desc" ? "asc" : "desc" }),
  };
  return (
    <>
      <Heading text={getPluralLabel(kind)} />
      <div class="row">
        <Select label="Sort by" name="sort" value={sort} options={Object.entries(sortLabels)} />
        <Select label="Order" name="order" value={order} options={ORDERS} />
        <Form
          class="row"
          role="search"
          onSubmit={({ search: name = "", country: code = "" }) =>
            setParameters({ search: name, country: code })
          }
        >
          <SearchField label="Name" name="search" value={search} size={20} />
          {hasCountry && <SearchField label="Country" name="country" value={country} size={4} />}
          <button type="submit">Search</button>
        </Form>
      </div>
      <Reading read={read}>
        {(list) => (
          <>
            {list.items.length > 0 && (
              <>
                <TrendsButton owner={owner} listed={list.items} {...progress} />
                <Table
                  caption={`${getPluralLabel(kind)} by ${sortLabels[sort]?.toLowerCase()}, ${
                    order === "desc" ? "greatest" : "least"
                  } first. Another order costs 1 credit.`}
                  columns={[
                    ...createColumns(owner, sort),
                    ...createTrendColumns(owner, list.items),
                  ]}
                  items={list.items}
                  getKey={({ id }) => id}
                  sorting={sorting}
                />
              </>
            )}
            {list.items.length === 0 && !list.hasMore && (
              <Empty>
                {search !== "" || country !== ""
                  ? `No ${kind} matches. A search of one or two letters finds beginnings of usernames.`
                  : `No ${kind} was observed yet. ${emptyHint}`}
              </Empty>
            )}
            <MoreButton list={list} noun={kind} />
          </>
        )}
      </Reading>
    </>
  );
}

const SearchField = ({
  label,
  value,
  ...attributes
}: Readonly<{ label: string; name: string; value: string; size: number }>) => (
  <label class="control">
    {label}
    <input
      key={value}
      {...attributes}
      type="search"
      maxLength={SEARCH_MAX_CHARACTERS}
      defaultValue={value}
    />
  </label>
);

function createColumns(
  { kind, path, listedCounts }: OwnerPages,
  sort: string,
): Column<ListedOwner>[] {
  const labels = COUNT_LABELS[kind];
  const fields: Readonly<Record<string, string>> = SORT_FIELDS[kind];
  const sorts = Object.entries(fields);
  const sortField = fields[sort] ?? "";
  const sortColumn: Column<ListedOwner> = {
    label: getSortLabels(kind)[sort] ?? sort,
    as: Object.hasOwn(labels, sortField) ? "count" : "change",
    sort,
    getValue: ({ counts }) => readCount(counts, sortField),
  };
  return [
    {
      label: KIND_LABELS[kind],
      render: ({ id, name, username }) => (
        <>
          <a href={createPath(path, id)}>
            <Text value={name} />
          </a>
          <Below value={username === name ? null : username} />
        </>
      ),
    },
    ...(listedCounts.includes(sortField) ? [] : [sortColumn]),
    ...listedCounts.map((count, index): Column<ListedOwner> => ({
      label: labels[count] ?? count,
      as: "count",
      sort: sorts.find(([, field]) => field === count)?.[0],
      isWide: index >= 2,
      getValue: ({ counts }) => readCount(counts, count),
    })),
  ];
}

/** The values of the trends that were read in this tab, oldest first, by kind and owner. */
const trends = new Map<string, readonly (number | null)[]>();

const getTrend = ({ kind }: OwnerPages, id: string) => trends.get(`${kind} ${id}`);

async function readTrends({ kind, compare }: OwnerPages, ids: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += COMPARISON_MAX_NAMES) {
    const group = ids.slice(from, from + COMPARISON_MAX_NAMES);
    const { rows } = await compare(getClient(), group);
    for (const [index, id] of group.entries()) {
      trends.set(
        `${kind} ${id}`,
        rows.map((row) => row.values[index] ?? null),
      );
    }
  }
}

function createTrendColumns(
  owner: OwnerPages,
  listed: readonly ListedOwner[],
): Column<ListedOwner>[] {
  if (!listed.some(({ id }) => getTrend(owner, id))) return [];
  const getCounts = ({ id }: ListedOwner) => getTrend(owner, id) ?? [];
  return [
    {
      label: "30 days",
      render: ({ id }) => {
        const values = getTrend(owner, id);
        return values !== undefined && <Sparkline values={values} label={`30 days of ${id}`} />;
      },
    },
    {
      label: "Change",
      as: "change",
      render: (listedOwner) => <ChangeSinceStart counts={getCounts(listedOwner)} />,
    },
    {
      label: "In %",
      as: "percent",
      getValue: (listedOwner) => findChangeSinceStart(getCounts(listedOwner), { isPercent: true }),
    },
  ];
}

/** A button that reads the trends, which cost a credit a row; the list renders again afterwards. */
function TrendsButton({
  owner,
  listed,
  progress: { isLoading, error },
  follow,
}: ReturnType<typeof useProgress> &
  Readonly<{ owner: OwnerPages; listed: readonly ListedOwner[] }>) {
  const missing = listed.flatMap(({ id }) => (getTrend(owner, id) ? [] : [id]));
  if (missing.length === 0) return null;
  const price = formatNumberOf(missing.length, "credit");
  return (
    <p class="row">
      <Button
        label={isLoading ? "Loading…" : `Show trends of 30 days (${price})`}
        isDisabled={isLoading}
        onClick={() => follow(readTrends(owner, missing))}
      />
      <Failed error={error} />
    </p>
  );
}
