/** Compares up to ten shorts or tweets by a count: by hours since publication, or by date. */
import type { AGE_STEPS } from "../../../core/item-comparison.ts";
import { COMPARISON_MAX_NAMES, HISTORY_LIMIT_RANGE } from "../../../core/limits.ts";
import { HOUR_MS } from "../../../core/time.ts";
import type { ComponentChildren } from "preact";
import { Charts } from "../charts/charts.tsx";
import { formatAge } from "../format.ts";
import { useHistoryPlan, useRead } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS, pickCount } from "../labels.ts";
import { findCommonAge } from "./common-age.ts";
import { ITEM_PAGES } from "./item-pages.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import { Select } from "../parts/controls.tsx";
import { Below, NameCell, Text } from "../parts/figures.tsx";
import { RangeControl } from "../parts/range-control.tsx";
import { RemoveButton } from "../parts/remove-button.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createAgeAxis, createTimeAxis, getRangeLabel, parseRange } from "../ranges.ts";
import { createPath, setParameters, splitNames, useAddress } from "../router.ts";
import { createPriceNote } from "../session.ts";

const STEPS: readonly (readonly [step: (typeof AGE_STEPS)[number], label: string])[] = [
  ["1", "Each hour"],
  ["6", "Each 6 hours"],
  ["24", "Each day"],
];

const ROWS = [
  ["age", "Hours since publication"],
  ["date", "Dates"],
] as const;

/** The kinds of items, by the names that addresses have. */
export const findComparedItems = (name: string | null): OwnerPages | undefined =>
  OWNERS.find(({ itemPath }) => itemPath === name);

function readChoices(owner: OwnerPages, query: URLSearchParams) {
  const counts = COUNT_LABELS[owner.itemKind];
  const count = pickCount(counts, query.get("count") ?? ITEM_PAGES[owner.itemKind].views);
  return {
    owner,
    counts,
    count,
    label: counts[count] ?? count,
    ids: splitNames(query.get("ids")),
    by: query.get("by") === "date" ? ("date" as const) : ("age" as const),
    step: STEPS.find(([name]) => name === query.get("step"))?.[0] ?? "1",
    range: parseRange(query.get("range")),
  };
}

export function CompareItems({
  owner,
  kindSelect,
}: Readonly<{ owner: OwnerPages; kindSelect: ComponentChildren }>) {
  const choices = readChoices(owner, useAddress().query);
  const { counts, count, ids, by, step, range } = choices;
  const cost = createPriceNote(`Costs a credit for each ${owner.itemKind}, once`);
  return (
    <>
      <div class="filters">
        <div class="segments" role="group" aria-label="Compare by">
          {ROWS.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === by}
              title={name === by ? undefined : cost}
              onClick={() => setParameters({ by: name, view: "" })}
            >
              {label}
            </button>
          ))}
        </div>
        {by === "date" ? (
          <RangeControl range={range} cost={cost} />
        ) : (
          <Select label="Points" name="step" value={step} options={STEPS} />
        )}
        <span class="space" />
        {kindSelect}
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
      </div>
      {ids.length === 0 ? <NothingCompared owner={owner} /> : <ItemComparison {...choices} />}
    </>
  );
}

const NothingCompared = ({ owner: { kind, path, itemKind } }: { readonly owner: OwnerPages }) => (
  <Empty
    title={`Compare up to ${COMPARISON_MAX_NAMES} ${getPluralLabel(itemKind).toLowerCase()}`}
    action={
      <a class="button" href={`/${path}`}>
        Choose a {kind}
      </a>
    }
  >
    Open a {kind}, and check {getPluralLabel(itemKind).toLowerCase()} in the table on its page.
    {createPriceNote(" Each costs a credit.")}
  </Empty>
);

function ItemComparison(choices: ReturnType<typeof readChoices>) {
  const { owner, count, ids, by, step, range, label } = choices;
  const { itemKind } = owner;
  const plan = useHistoryPlan(ids, range);
  const isAge = by === "age";
  const rowQuery = isAge ? { step: Number(step) } : plan.query;
  const read = useRead(["compare", itemKind, count, ids, by, rowQuery], (client) =>
    ITEM_PAGES[itemKind].compare(client, ids, {
      count,
      by,
      ...rowQuery,
      limit: HISTORY_LIMIT_RANGE.max,
    }),
  );
  return (
    <Reading read={read}>
      {({ items, rows: table, hasMore, readAt }) => {
        const found = listSeries(items, table.rows);
        const common = table.by === "age" ? findCommonAge(found, table.rows) : undefined;
        const newest = hasMore ? "Last shown" : "Newest";
        const axis =
          table.by === "age" ? createAgeAxis(table.rows) : createTimeAxis(plan, table.rows, readAt);
        return (
          <>
            {ids
              .filter((_, index) => items[index] === undefined)
              .map((id) => (
                <p key={id} role="alert" class="loss">
                  <Text value={id} /> is not found.{" "}
                  <RemoveButton parameter="ids" names={ids} name={id} label={id} />
                </p>
              ))}
            {hasMore && (
              <p class="hint">
                There is more: {isAge ? "points of more hours" : "another range"} shows it.
              </p>
            )}
            {table.rows.length === 0 ? (
              <Empty>Nothing was observed in this range.</Empty>
            ) : (
              <>
                <Charts
                  {...axis}
                  charts={[
                    {
                      title: isAge ? `${label} by hours since publication` : label,
                      series: found,
                    },
                  ]}
                  fileName={`compare-${owner.itemPath}-${count}-${by}`}
                  isShareable
                />
                <Table
                  caption={`${label}: ${
                    isAge ? `${newest.toLowerCase()}, and at the same age` : getRangeLabel(range)
                  }`}
                  columns={createColumns(owner, ids, { common, newest })}
                  items={found}
                  getKey={({ id }) => id}
                />
              </>
            )}
          </>
        );
      }}
    </Reading>
  );
}

type TableRows = Awaited<ReturnType<(typeof ITEM_PAGES)["short"]["compare"]>>;

type Series = NonNullable<TableRows["items"][number]> &
  Readonly<{ label: string; values: readonly (number | null)[] }>;

/** A longer name leaves no room for the lines. */
const LABEL_MAX_CHARACTERS = 60;

function listSeries(items: TableRows["items"], rows: TableRows["rows"]["rows"]): Series[] {
  const labels = new Set<string>();
  return items.flatMap((item, index): Series[] => {
    if (item === undefined) return [];
    const { id, title } = item;
    const text = [...(title ?? "").replaceAll(/\s+/g, " ")];
    const isLong = text.length > LABEL_MAX_CHARACTERS;
    const short = isLong ? `${text.slice(0, LABEL_MAX_CHARACTERS).join("")}…` : text.join("");
    // Several items can have the same title, or none.
    const label = short === "" || labels.has(short) ? `${short} ${id}`.trim() : short;
    labels.add(label);
    return [{ ...item, label, values: rows.map(({ values }) => values[index] ?? null) }];
  });
}

function createColumns(
  owner: OwnerPages,
  ids: readonly string[],
  { common, newest }: Readonly<{ common: ReturnType<typeof findCommonAge>; newest: string }>,
): Column<Series>[] {
  const commonColumn: Column<Series> = {
    label: `By ${formatAge((common?.hours ?? 0) * HOUR_MS)}`,
    as: "count",
    getValue: ({ values }) => common?.findCount(values),
  };
  return [
    {
      label: KIND_LABELS[owner.itemKind],
      as: "name",
      field: "label",
      render: ({ id, owner: name, label }) => (
        <NameCell
          href={createPath(owner.path, name, owner.itemPath, id)}
          name={label}
          below={<Below value={name} />}
        />
      ),
    },
    { label: owner.items.publishedLabel, as: "date", field: "publishedAt", isWide: true },
    ...(common === undefined ? [] : [commonColumn]),
    {
      label: newest,
      as: "count",
      getValue: ({ values }) => values.findLast((value) => value !== null),
    },
    {
      label: "Remove",
      as: "action",
      render: ({ id, label }) => (
        <RemoveButton parameter="ids" names={ids} name={id} label={label} />
      ),
    },
  ];
}
