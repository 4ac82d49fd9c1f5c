/** Compares one count of up to ten channels or users. */
import { useEffect } from "preact/hooks";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import { computeChangesSinceStart, findChangeSinceStart } from "../changes.ts";
import type { Measure } from "../format.ts";
import { useRead } from "../hooks.ts";
import { COUNT_LABELS, getPluralLabel, KIND_LABELS } from "../labels.ts";
import type { OwnerPages } from "../owners/owner-pages.ts";
import { OWNERS } from "../owners/owners.ts";
import {
  createGapRule,
  findUnfinishedStart,
  getRangeLabel,
  getTimeScale,
  parseRange,
  planHistory,
  type Range,
} from "../ranges.ts";
import { findLeastSpan, findRoundingStep } from "../rounding.ts";
import { createPath, setParameters, useAddress } from "../router.ts";
import { Chart } from "../charts/chart.tsx";
import { rememberCompared } from "../parts/compare-link.tsx";
import { RangeControl, Select } from "../parts/controls.tsx";
import { ChangeSinceStart, Text } from "../parts/figures.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/heading.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

/** Counts of creators of different sizes are flat lines beside each other; their changes are not. */
const MEASURES: Readonly<Record<Measure, string>> = {
  count: "Counts",
  change: "Change since the start",
  percent: "Change since the start, in %",
};

const MEASURE_NAMES = ["count", "change", "percent"] as const;

export function Compare() {
  const { query } = useAddress();
  const owner = OWNERS.find((pages) => pages.path === query.get("kind")) ?? OWNERS[0];
  const { kind, path } = owner;
  const counts: Readonly<Record<string, string>> = COUNT_LABELS[kind];
  const [firstCount = ""] = Object.keys(counts);
  const requested = query.get("count") ?? "";
  const count = Object.hasOwn(counts, requested) ? requested : firstCount;
  const names = parseNames(query.get("names") ?? "");
  const range = parseRange(query.get("range"));
  const measure = MEASURE_NAMES.find((known) => known === query.get("show")) ?? "count";
  useEffect(() => rememberCompared(kind, names), [kind, names.join()]);
  return (
    <>
      <Heading text="Compare" />
      <div class="row">
        <Select
          label="Compare"
          name="kind"
          value={path}
          options={OWNERS.map((pages) => [pages.path, getPluralLabel(pages.kind)])}
          dependents={["count", "names"]}
        />
        <Select label="Count" name="count" value={count} options={Object.entries(counts)} />
        <Select label="Show" name="show" value={measure} options={Object.entries(MEASURES)} />
        <RangeControl range={range} cost="Costs a credit for each name, once" />
      </div>
      <NamesForm names={names} />
      {names.length === 0 ? (
        <Empty>
          Name up to {COMPARISON_MAX_NAMES} channels or users. Each costs a credit, as does each
          further page of a long range.
        </Empty>
      ) : (
        <Comparison {...{ owner, count, names, range, measure }} label={counts[count] ?? count} />
      )}
    </>
  );
}

/** Parses names that are separated by commas. One that is named twice would cost twice. */
function parseNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
}

function NamesForm({ names }: { readonly names: readonly string[] }) {
  return (
    <Form
      class="row"
      onSubmit={(fields) => setParameters({ names: parseNames(fields["names"] ?? "").join(",") })}
    >
      <label for="names">Names, separated by commas</label>
      <input id="names" name="names" size={50} defaultValue={names.join(", ")} key={names.join()} />
      <button type="submit">Compare</button>
    </Form>
  );
}

function Comparison(properties: {
  readonly owner: OwnerPages;
  readonly count: string;
  readonly names: readonly string[];
  readonly range: Range;
  readonly measure: Measure;
  readonly label: string;
}) {
  const { owner, count, names, range, measure, label } = properties;
  const { from, interval, stepMs } = planHistory(range, Date.now());
  const read = useRead(
    `compare ${owner.kind} ${count} ${names.join()} ${from} ${interval}`,
    (client) => owner.compare(client, names, { from, interval, count }),
  );
  return (
    <Reading read={read}>
      {({ owners, rows, readAt }) => {
        const instants = rows.map(({ timestamp }) => Date.parse(timestamp));
        const compared = owners.flatMap((found, index): ComparedSeries[] => {
          if (found.label === null) return [];
          const counts = rows.map(({ values }) => values[index] ?? null);
          const change = computeChangesSinceStart(counts);
          const percent = computeChangesSinceStart(counts, { isPercent: true });
          return [{ name: found.name, label: found.label, count: counts, change, percent }];
        });
        const allCounts = compared.map((one) => one.count);
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
                  title={measure === "count" ? label : `${label}: ${lowerFirst(MEASURES[measure])}`}
                  instants={instants}
                  series={compared.map((one) => ({ label: one.label, values: one[measure] }))}
                  measure={measure}
                  leastSpan={findLeastSpan(allCounts, measure)}
                  timeScale={getTimeScale(interval)}
                  unfinishedFrom={findUnfinishedStart(instants, interval, readAt)}
                  getGapMs={createGapRule(instants, stepMs)}
                  fileName={`compare-${count}-${measure}-${range}.csv`}
                />
                <Table
                  caption={`${label}: ${getRangeLabel(range)}`}
                  columns={createColumns(owner, names)}
                  items={compared}
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

/** The compared values of a channel or user, by measure. */
interface ComparedSeries extends Readonly<Record<Measure, readonly (number | null)[]>> {
  /** The name by which it was requested. */
  readonly name: string;
  readonly label: string;
}

function createColumns(
  { kind, path }: OwnerPages,
  names: readonly string[],
): Column<ComparedSeries>[] {
  return [
    {
      label: KIND_LABELS[kind],
      getValue: ({ label }) => label.toLowerCase(),
      render: ({ name, label }) => (
        <a href={createPath(path, name)}>
          <Text value={label} />
        </a>
      ),
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
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
