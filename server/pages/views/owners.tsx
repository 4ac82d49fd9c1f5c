/** The list of channels or users as a table: sorting, filters, check boxes, more pages. */
import { NeverObserved } from "../owners/never-observed.tsx";
import type { InputHTMLAttributes } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { SEARCH_MAX_CHARACTERS } from "../../../core/limits.ts";
import { usePages } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, pickCount } from "../labels.ts";
import { PAGE_ROWS, type OwnerPages } from "../owners/owner-pages.ts";
import { MoreButton, Select } from "../parts/controls.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { SavedListSelect } from "../lists/saved-list-fields.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { createPrice } from "../session.ts";
import { setParameters, useAddress } from "../router.ts";
import { createColumns, listFields, listSorts, RowActions } from "./owner-table.tsx";

const ORDERS = [
  ["desc", "Greatest first"],
  ["asc", "Least first"],
] as const;

function readChoices({ kind, hasCountry }: OwnerPages, query: URLSearchParams) {
  const sortLabels = listSorts(kind);
  const sorts = Object.keys(sortLabels);
  const min = query.get("min") ?? "";
  return {
    sortLabels,
    sort: sorts.find((name) => name === query.get("sort")) ?? sorts[0] ?? "",
    order: query.get("order") === "asc" ? ("asc" as const) : ("desc" as const),
    search: query.get("search") ?? "",
    country: hasCountry ? (query.get("country") ?? "") : "",
    list: query.get("list") ?? "",
    min: /^\d{1,15}$/.test(min) ? String(Number(min)) : "",
  };
}

export function Owners({ owner }: { readonly owner: OwnerPages }) {
  const { kind, hasCountry } = owner;
  const choices = readChoices(owner, useAddress().query);
  const { sortLabels, sort, order, search, country, list: savedList, min } = choices;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const read = usePages(["list", kind, sort, order, search, country, savedList, min], (client) =>
    owner.openList(client, {
      sort,
      order,
      limit: PAGE_ROWS,
      search: search || undefined,
      country: country || undefined,
      list: savedList || undefined,
      min: min === "" ? undefined : Number(min),
      fields: listFields(owner, sort),
    }),
  );
  const [unchecked, setUnchecked] = useState(0);
  const current = useRef(chosen);
  current.current = chosen;
  // Rows are rendered again when the columns change: not for each check box, which shows its own state.
  const columns = useMemo(
    () =>
      createColumns(owner, sort, ({ id, name }) => (
        <input
          type="checkbox"
          aria-label={`Check ${name}`}
          checked={current.current.has(id)}
          onChange={() => setChosen((before) => before.symmetricDifference(new Set([id])))}
        />
      )),
    [owner, sort, unchecked],
  );
  const sorting = {
    sort,
    isDescending: order === "desc",
    hint: `Sorts the whole list${createPrice(1)}`,
    sortBy: (name: string) =>
      setParameters({ sort: name, order: name === sort && order === "desc" ? "asc" : "desc" }),
  };
  const plural = getPluralLabel(kind).toLowerCase();
  const main = COUNT_LABELS[kind][pickCount(COUNT_LABELS[kind], null)]?.toLowerCase() ?? "";
  return (
    <>
      <Heading text={getPluralLabel(kind)} />
      <div class="filters">
        <Form
          class="row"
          role="search"
          onSubmit={({ search: text = "", country: code = "", min: least = "" }) =>
            setParameters({ search: text, country: code, min: least })
          }
        >
          <SearchField
            label="Name"
            name="search"
            value={search}
            size={24}
            placeholder={`Find a ${kind} by name`}
          />
          {hasCountry && (
            <SearchField
              label="Country"
              name="country"
              value={country}
              size={8}
              placeholder="Country"
            />
          )}
          <SearchField
            label={`At least so many ${main}`}
            name="min"
            value={min}
            size={8}
            placeholder="At least"
            inputMode="numeric"
            pattern="[0-9]{1,15}"
          />
          <button type="submit">Search</button>
        </Form>
        <span class="space" />
        <SavedListSelect all={`All ${plural}`} />
        <Select label="Sort by" name="sort" value={sort} options={Object.entries(sortLabels)} />
        <Select label="Order" name="order" value={order} options={ORDERS} />
      </div>
      <Reading read={read}>
        {(list) => (
          <>
            {list.items.length > 0 && (
              <>
                <RowActions
                  owner={owner}
                  rows={list.items}
                  chosen={chosen}
                  onDone={() => {
                    setChosen(new Set());
                    setUnchecked(unchecked + 1);
                  }}
                />
                <Table
                  caption={`${getPluralLabel(kind)} by ${sortLabels[sort]?.toLowerCase()}, ${
                    order === "desc" ? "greatest" : "least"
                  } first. A head sorts the whole list${createPrice(1)}.`}
                  columns={columns}
                  items={list.items}
                  getKey={({ id }) => id}
                  sorting={sorting}
                />
              </>
            )}
            {list.items.length === 0 && !list.hasMore && (
              <NothingListed
                owner={owner}
                isFiltered={`${search}${country}${min}${savedList}` !== ""}
              />
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
}: Readonly<{ label: string; name: string; value: string; size: number; placeholder: string }> &
  Pick<InputHTMLAttributes, "inputMode" | "pattern">) => (
  <label>
    <span class="hidden">{label}</span>
    <input
      key={value}
      {...attributes}
      type="search"
      maxLength={SEARCH_MAX_CHARACTERS}
      defaultValue={value}
    />
  </label>
);

function NothingListed({
  owner,
  isFiltered,
}: Readonly<{ owner: OwnerPages; isFiltered: boolean }>) {
  const { kind } = owner;
  if (!isFiltered) return <NeverObserved owner={owner} />;
  return (
    <Empty
      title={`No ${kind} matches`}
      action={
        <Button
          label={`Show all ${getPluralLabel(kind).toLowerCase()}${createPrice(1)}`}
          onClick={() => setParameters({ search: "", country: "", min: "", list: "" })}
        />
      }
    >
      A search of one or two letters finds beginnings of usernames.
    </Empty>
  );
}
