/** The page that compares up to ten channels or users by a count, and the link to this page. */
import { useEffect } from "preact/hooks";
import type { OwnerKind } from "../../../core/kinds.ts";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import { Chart } from "../charts/chart.tsx";
import type { Measure } from "../format.ts";
import { useRead } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS, pickCount } from "../labels.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import { RangeControl, Select } from "../parts/controls.tsx";
import { ChangeSinceStart, Text } from "../parts/figures.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { createTimeAxis, parseRange, planHistory, RANGES } from "../ranges.ts";
import {
  computeChangesSinceStart,
  findChangeSinceStart,
  findLeastSpan,
  findRoundingStep,
} from "../changes.ts";
import { createPath, setParameters, useAddress } from "../router.ts";

/** Counts of creators of different sizes are flat lines in one chart; their changes are not. */
const MEASURES: Readonly<Record<Measure, string>> = {
  count: "Counts",
  change: "Change since the start",
  percent: "Change since the start, in %",
};

const isMeasure = (name: string): name is Measure => Object.hasOwn(MEASURES, name);

const compared: Record<OwnerKind, readonly string[]> = { channel: [], user: [] };

/** A link that compares an owner with the owners that this tab compared last. */
export function CompareLink({ owner, name }: Readonly<{ owner: OwnerPages; name: string }>) {
  const { kind, path } = owner;
  const others = compared[kind].filter((other) => other !== name);
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
  const names = parseNames(query.get("names") ?? "");
  const range = parseRange(query.get("range"));
  const show = query.get("show") ?? "";
  const measure = isMeasure(show) ? show : "count";
  return { owner, counts, count, label: counts[count] ?? count, names, range, measure };
}

export function Compare() {
  const choices = readChoices(useAddress().query);
  const { owner, counts, count, names, range, measure } = choices;
  const { kind, path } = owner;
  useEffect(() => void (compared[kind] = names), [kind, names.join()]);
  return (
    <>
      <Heading text="Compare" />
      <div class="row">
        <Select
          label="Compare"
          name="kind"
          value={path}
          options={OWNERS.map((pages) => [pages.path, getPluralLabel(pages.kind)])}
          cleared={{ count: "", names: "" }}
        />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
        <Select label="Show" name="show" value={measure} options={Object.entries(MEASURES)} />
        <RangeControl range={range} cost="Costs a credit for each name, once" />
      </div>
      <Form
        class="row"
        onSubmit={(fields) => setParameters({ names: parseNames(fields["names"] ?? "").join(",") })}
      >
        <label for="names">Names, separated by commas</label>
        <input
          id="names"
          name="names"
          size={50}
          defaultValue={names.join(", ")}
          key={names.join()}
        />
        <button type="submit">Compare</button>
      </Form>
      {names.length === 0 ? (
        <Empty>
          Name up to {COMPARISON_MAX_NAMES} channels or users. Each costs a credit, as does each
          further page of a long range.
        </Empty>
      ) : (
        <Comparison {...choices} />
      )}
    </>
  );
}

/** Parses names that are separated by commas. Removes repeated names, which would cost again. */
function parseNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
}

function Comparison(choices: ReturnType<typeof readChoices>) {
  const { owner, count, names, range, measure, label } = choices;
  const plan = planHistory(range, Date.now());
  const { from, interval } = plan;
  const read = useRead(
    `compare ${owner.kind} ${count} ${names.join()} ${from} ${interval}`,
    (client) => owner.compare(client, names, { from, interval, count }),
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
                <Chart
                  {...createTimeAxis(plan, rows, readAt)}
                  title={
                    measure === "count" ? label : `${label}: ${MEASURES[measure].toLowerCase()}`
                  }
                  series={found.map((one) => ({ label: one.label, values: one[measure] }))}
                  measure={measure}
                  leastSpan={findLeastSpan(allCounts, measure)}
                  fileName={`compare-${count}-${measure}-${range}.csv`}
                />
                <Table
                  caption={`${label}: ${RANGES[range].label}`}
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
  {
    label: "In %",
    as: "percent",
    getValue: ({ count }) => findChangeSinceStart(count, { isPercent: true }),
  },
  {
    label: "Remove",
    render: ({ name, label }) => (
      <Button
        label="Remove"
        about={`Remove ${label}`}
        look="plain"
        hint="Compares the others again, for a credit each"
        onClick={() => setParameters({ names: names.filter((other) => other !== name).join() })}
      />
    ),
  },
];
