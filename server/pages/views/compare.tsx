/** The page that compares channels, users or items by a count, and the link that adds an owner. */
import { useEffect } from "preact/hooks";
import type { OwnerKind } from "../../../core/kinds.ts";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import { findRoundingStep } from "../../../core/metrics/rounded-counts.ts";
import { Charts } from "../charts/charts.tsx";
import type { Measure } from "../format.ts";
import { readOnce, useHistoryPlan, useRead } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS, pickCount } from "../labels.ts";
import { findComparedName } from "../owners/compared-name.ts";
import type { ListedOwner, OwnerPages } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import { Select } from "../parts/controls.tsx";
import { ChangeSinceStart, Text } from "../parts/figures.tsx";
import { Button } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Picker } from "../picker/picker.tsx";
import { RangeControl } from "../parts/range-control.tsx";
import { RemoveButton } from "../parts/remove-button.tsx";
import { Empty, Failed, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createTimeAxis, getRangeLabel, parseRange } from "../ranges.ts";
import { computeChangesSinceStart, findChangeSinceStart, findLeastSpan } from "../changes.ts";
import { hasDerivedFigures } from "../derived-figures.ts";
import { continueHere, createPath, setParameters, splitNames, useAddress } from "../router.ts";
import { createPrice, createPriceNote, getClient } from "../session.ts";
import { useProgress } from "../state-hooks.ts";
import { CompareItems, findComparedItems } from "../items/compare-items.tsx";

/** Counts of creators of different sizes are flat lines in one chart; their changes are not. */
const MEASURES: Readonly<Record<Measure, string>> = {
  count: "Counts",
  change: "Change since the start",
  percent: "Change since the start, in %",
};

/** The measures of a kind, and their labels. */
const listMeasures = (kind: OwnerKind) =>
  Object.entries(MEASURES).filter(([name]) => name !== "percent" || hasDerivedFigures(kind));

const isMeasure = (name: string, kind: OwnerKind): name is Measure =>
  listMeasures(kind).some(([measure]) => measure === name);

const compared: Record<OwnerKind, readonly string[]> = { channel: [], user: [] };

/** A link that compares an owner with the owners that this tab compared last. */
export function CompareLink({
  pages: { kind, path },
  owner,
}: Readonly<{ pages: OwnerPages; owner: ListedOwner }>) {
  const name = findComparedName(owner);
  if (name === undefined) return null;
  const others = compared[kind].filter((other) => other !== owner.id && other !== owner.username);
  const names = [...others.slice(1 - COMPARISON_MAX_NAMES), name];
  const query = new URLSearchParams({ kind: path, names: names.join(",") });
  return (
    <a class="button" href={`/compare?${query}`}>
      {names.length === 1 ? "Compare" : `Compare with ${names.length - 1} more`}
    </a>
  );
}

function readChoices(query: URLSearchParams) {
  const owner = OWNERS.find(({ path }) => path === query.get("kind")) ?? OWNERS[0];
  const counts = COUNT_LABELS[owner.kind];
  const count = pickCount(counts, query.get("count"));
  const names = splitNames(query.get("names"));
  const range = parseRange(query.get("range"));
  const show = query.get("show") ?? "";
  const measure = isMeasure(show, owner.kind) ? show : "count";
  return { owner, counts, count, label: counts[count] ?? count, names, range, measure };
}

export function Compare() {
  const { query } = useAddress();
  const items = findComparedItems(query.get("kind"));
  return (
    <>
      <Heading text="Compare" />
      {items === undefined ? (
        <CompareOwners />
      ) : (
        <CompareItems
          key={items.itemPath}
          owner={items}
          kindSelect={<KindSelect value={items.itemPath} />}
        />
      )}
    </>
  );
}

/** The choice of what is compared: another kind has other names and counts. */
const KindSelect = ({ value }: { readonly value: string }) => (
  <Select
    label="Compare"
    name="kind"
    value={value}
    options={OWNERS.flatMap(({ path, kind, itemPath, itemKind }) => [
      [path, getPluralLabel(kind)] as const,
      [itemPath, getPluralLabel(itemKind)] as const,
    ])}
    cleared={{ count: "", names: "", ids: "", show: "", view: "" }}
  />
);

function CompareOwners() {
  const choices = readChoices(useAddress().query);
  const { owner, counts, count, names, range, measure } = choices;
  const { kind, path } = owner;
  useEffect(() => void (compared[kind] = names), [kind, names.join()]);
  return (
    <>
      <Picker
        key={`${kind} ${names.join()}`}
        owner={owner}
        names={names}
        onChoose={(chosen) => setParameters({ names: chosen.join(), view: "" })}
      />
      <div class="filters">
        <RangeControl range={range} cost={createPriceNote("Costs a credit for each name, once")} />
        <span class="space" />
        <KindSelect value={path} />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
        <Select label="Show" name="show" value={measure} options={listMeasures(kind)} />
      </div>
      {names.length === 0 ? <NothingCompared owner={owner} /> : <Comparison {...choices} />}
    </>
  );
}

/** How many owners a comparison begins with. */
const FIRST_NAMES = 3;

/** Explains the page, and compares the greatest owners for a visitor who has no names at hand. */
function NothingCompared({ owner }: { readonly owner: OwnerPages }) {
  const { kind, path, openList } = owner;
  const { progress, follow } = useProgress(kind);
  const plural = getPluralLabel(kind).toLowerCase();
  const readGreatest = () =>
    readOnce(getClient(), ["greatest", kind], (client) =>
      openList(client, { limit: FIRST_NAMES })(),
    );
  const compareGreatest = () =>
    continueHere(readGreatest(), (page) => {
      const names = page?.items.flatMap((listed) => findComparedName(listed) ?? []) ?? [];
      if (names.length === 0) throw new Error(`No ${kind} that can be compared was observed yet`);
      setParameters({ names: names.join() });
    });
  return (
    <Empty
      title={`Compare up to ${COMPARISON_MAX_NAMES} channels or users`}
      action={
        <>
          <Button
            label={
              progress.isLoading
                ? "Loading…"
                : `Compare the ${FIRST_NAMES} greatest${createPrice(FIRST_NAMES + 1)}`
            }
            isDisabled={progress.isLoading}
            onClick={() => follow(compareGreatest())}
          />
          <a class="button" href={`/${path}`}>
            Choose among all {plural}
          </a>
          <Failed error={progress.error} />
        </>
      }
    >
      Find them above, or press Compare on the page of each. Their counts, and how they changed, are
      then in one chart and one table.
      {createPriceNote(" Each name costs a credit, as does each further page of a long range.")}
    </Empty>
  );
}

function Comparison(choices: ReturnType<typeof readChoices>) {
  const { owner, count, names, range, measure, label } = choices;
  const plan = useHistoryPlan(names, range);
  const read = useRead(["compare", owner.kind, count, names, plan.query], (client) =>
    owner.compare(client, names, { ...plan.query, count }),
  );
  return (
    <Reading read={read}>
      {({ owners, rows, readAt }) => {
        const found = owners.flatMap((named, index): ComparedSeries[] => {
          if (named.label === null) return [];
          const counts = rows.map(({ values }) => values[index] ?? null);
          const change = computeChangesSinceStart(counts);
          const percent = computeChangesSinceStart(counts, { isPercent: true });
          return [{ name: named.name, label: named.label, count: counts, change, percent }];
        });
        const allCounts = found.map((one) => one.count);
        const isRounded = allCounts.some((counts) => findRoundingStep(counts) > 0);
        return (
          <>
            {owners
              .filter((named) => named.label === null)
              .map(({ name }) => (
                <p key={name} role="alert" class="loss">
                  <Text value={name} /> is not found.
                </p>
              ))}
            {rows.length === 0 ? (
              <Empty>Nothing was observed in this range.</Empty>
            ) : (
              <>
                {isRounded && (
                  <p class="hint">
                    Some {label.toLowerCase()} are rounded by the source: a change of one step can
                    be next to nothing, and is shown as “rounded”.
                  </p>
                )}
                <Charts
                  {...createTimeAxis(plan, rows, readAt)}
                  charts={[
                    {
                      title:
                        measure === "count"
                          ? label
                          : `${label}: ${MEASURES[measure].toLowerCase()}`,
                      series: found.map((one) => ({ label: one.label, values: one[measure] })),
                      measure,
                      leastSpan: findLeastSpan(allCounts, measure),
                    },
                  ]}
                  fileName={`compare-${count}-${measure}-${range}`}
                  isShareable
                />
                <Table
                  caption={`${label}: ${getRangeLabel(range)}`}
                  columns={createColumns(owner, names)}
                  items={found}
                  getKey={({ name }) => name}
                />
              </>
            )}
          </>
        );
      }}
    </Reading>
  );
}

type ComparedSeries = Readonly<Record<Measure, readonly (number | null)[]>> &
  Readonly<Record<"name" | "label", string>>;

const PERCENT_COLUMN: Column<ComparedSeries> = {
  label: "In %",
  as: "percent",
  getValue: ({ count }) => findChangeSinceStart(count, { isPercent: true }),
};

const createColumns = (
  { kind, path }: OwnerPages,
  names: readonly string[],
): Column<ComparedSeries>[] => [
  {
    label: KIND_LABELS[kind],
    as: "name",
    field: "label",
    getHref: ({ name }) => createPath(path, name),
  },
  {
    label: "Newest",
    as: "count",
    getValue: ({ count }) => count.findLast((value) => value !== null),
  },
  {
    label: "Change",
    as: "change",
    getValue: ({ count }) => findChangeSinceStart(count),
    render: ({ count }) => <ChangeSinceStart counts={count} />,
  },
  ...(hasDerivedFigures(kind) ? [PERCENT_COLUMN] : []),
  {
    label: "Remove",
    as: "action",
    render: ({ name, label }) => (
      <RemoveButton parameter="names" names={names} name={name} label={label} />
    ),
  },
];
