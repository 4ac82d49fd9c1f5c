/** The table of a list of channels or users: its columns, check boxes, and what to do with rows. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { GainDefinition } from "../../../core/growth.ts";
import { COMPARISON_MAX_NAMES } from "../../../core/limits.ts";
import { isChangeRounding } from "../../../core/metrics/rounded-counts.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { hasDerivedFigures } from "../derived-figures.ts";
import { formatNumberOf } from "../format.ts";
import {
  COUNT_LABELS,
  getMainGain,
  getPercentName,
  getSortField,
  getSortLabels,
  KIND_LABELS,
} from "../labels.ts";
import { findComparedName } from "../owners/compared-name.ts";
import { readCount, type OwnerPages, type OwnerRow } from "../owners/owner-pages.ts";
import { Below, ChangeSinceStart, NameCell, Percent } from "../parts/figures.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Picture } from "../parts/picture.tsx";
import { ListNameInput } from "../lists/saved-list-fields.tsx";
import { Failed } from "../parts/states.tsx";
import type { Column } from "../parts/table.tsx";
import { createPrice, isAdministrator, session } from "../session.ts";
import { createPath } from "../router.ts";
import { saveCsv } from "../save-file.ts";
import { addToList, createListNames } from "../lists/saved-lists.ts";
import { useProgress } from "../state-hooks.ts";

/** The gains with columns: those of a day are little more than noise. */
const PERIODS = { weekly: "7 days", monthly: "30 days" } as const;

/** The sorts that a list offers, by name. */
export const listSorts = (kind: OwnerPages["kind"]) =>
  getSortLabels(kind, { hasPercents: hasDerivedFigures(kind) });

/** The columns that the service is asked for. */
export function listFields({ kind, listedCounts }: OwnerPages, sort: string): readonly string[] {
  const gains = (["weekly", "monthly"] as const).map((period) => getMainGain(kind, period));
  const percents = hasDerivedFigures(kind) ? gains.map(getPercentName) : [];
  const sorted = getSortField(kind, sort);
  return [...new Set([...listedCounts, ...gains, ...percents, sorted, "observedAt", "trend"])];
}

/** The count before a gain and the one after it, if both are known. */
function getEnds({ counts }: OwnerRow, count: string, gain: string): readonly number[] {
  const [newest, change] = [readCount(counts, count), readCount(counts, gain)];
  return newest === null || change === null ? [] : [newest - change, newest];
}

/**
 * A gain and, if it may be shown, the same in percent: a column, or a line below where there is
 * little room. A step of rounding is no gain.
 */
export function createGainColumns(
  kind: OwnerPages["kind"],
  count: string,
  period: keyof typeof PERIODS & GainDefinition["period"],
): readonly Column<OwnerRow>[] {
  const [gain, label] = [getMainGain(kind, period), PERIODS[period]];
  const percent = getPercentName(gain);
  const getPercent = (row: OwnerRow) =>
    isChangeRounding(getEnds(row, count, gain)) ? null : readCount(row.counts, percent);
  const columns: readonly Column<OwnerRow>[] = [
    {
      label,
      as: "change",
      sort: gain,
      isWide: period !== "weekly",
      render: (row) => (
        <>
          <ChangeSinceStart counts={getEnds(row, count, gain)} />
          {getPercent(row) !== null && (
            <small class="narrow">
              <Percent value={getPercent(row)} />
            </small>
          )}
        </>
      ),
    },
    {
      label: `${label}, %`,
      as: "percent",
      sort: percent,
      isWide: true,
      isWidest: period !== "weekly",
      getValue: getPercent,
    },
  ];
  return hasDerivedFigures(kind) ? columns : columns.slice(0, 1);
}

export const createNameColumn = (
  { kind, path }: OwnerPages,
  renderCheckbox?: (row: OwnerRow) => ComponentChildren,
): Column<OwnerRow> => ({
  label: KIND_LABELS[kind],
  as: "name",
  render: (row) => (
    <NameCell
      href={createPath(path, row.id)}
      name={row.name}
      picture={
        <>
          {renderCheckbox?.(row)}
          <Picture of={row.picture} name={row.name} />
        </>
      }
      below={<Below value={row.username === row.name ? null : row.username} />}
    />
  ),
});

export function createColumns(
  owner: OwnerPages,
  sort: string,
  renderCheckbox: (row: OwnerRow) => ComponentChildren,
): readonly Column<OwnerRow>[] {
  const { kind, listedCounts } = owner;
  const labels = COUNT_LABELS[kind];
  const [main = "", ...others] = listedCounts;
  const createCountColumn = (count: string): Column<OwnerRow> => ({
    label: labels[count] ?? count,
    as: "count",
    sort: Object.keys(listSorts(kind)).find((name) => getSortField(kind, name) === count),
    isWidest: count !== main,
    getValue: ({ counts }) => readCount(counts, count),
  });
  const columns: Column<OwnerRow>[] = [
    createNameColumn(owner, renderCheckbox),
    createCountColumn(main),
    ...createGainColumns(kind, main, "weekly"),
    ...createGainColumns(kind, main, "monthly"),
    {
      label: "Trend",
      as: "trend",
      isWide: true,
      render: ({ id, trend }) => (
        <Sparkline
          values={trend.map(({ value }) => value)}
          instants={trend.map(({ day }) => Date.parse(day))}
          label={`30 days of ${id}`}
        />
      ),
    },
    ...others.map(createCountColumn),
    { label: "Observed", as: "instant", isWidest: true, field: "observedAt" },
  ];
  const field = getSortField(kind, sort);
  if (!columns.some((column) => column.sort === sort)) {
    columns.splice(2, 0, {
      label: listSorts(kind)[sort] ?? sort,
      as: Object.hasOwn(labels, field) ? "count" : "change",
      sort,
      getValue: ({ counts }) => readCount(counts, field),
    });
  }
  const shown = columns.findIndex((column) => column.sort === sort);
  // A column that the list is sorted by is shown at any width.
  return columns.with(shown, { label: "", ...columns[shown], isWide: false, isWidest: false });
}

/** What can be done with the rows that are loaded, and with those that are chosen. */
export function RowActions({
  owner: { kind, path },
  rows,
  chosen,
  onDone,
}: Readonly<{
  owner: OwnerPages;
  rows: readonly OwnerRow[];
  chosen: ReadonlySet<string>;
  onDone: () => void;
}>) {
  const { progress, follow } = useProgress();
  const [saved, setSaved] = useState("");
  const names = [...chosen];
  const compared = names.flatMap(
    (name) =>
      findComparedName(rows.find(({ id }) => id === name) ?? { id: name, username: null }) ?? [],
  );
  const query = new URLSearchParams({ kind: path, names: compared.join() });
  const save = async (list: string) => {
    const { name } = await addToList(list, createListNames(kind, names));
    setSaved(name);
    onDone();
  };
  return (
    <div class="row">
      {names.length === 0 ? (
        <span class="muted" role="status">
          {saved === "" ? (
            "Check rows to compare or to save them."
          ) : (
            <>
              Added to the list <a href={createPath("lists", saved)}>{saved}</a>
            </>
          )}
        </span>
      ) : (
        <>
          <span role="status">{formatNumberOf(names.length, kind)} checked</span>
          {compared.length > 0 && compared.length <= COMPARISON_MAX_NAMES && (
            <a class="button" href={`/compare?${query}`}>
              Compare{createPrice(compared.length)}
            </a>
          )}
          {!isAdministrator(session.get().apiKey) && (
            <Form class="row" onSubmit={({ list = "" }) => follow(save(list))}>
              <ListNameInput placeholder="Name of a list" />
              <button type="submit" disabled={progress.isLoading}>
                Add to the list
              </button>
            </Form>
          )}
          <Button label="Uncheck" look="plain" about="Uncheck all rows" onClick={onDone} />
        </>
      )}
      <Failed error={progress.error} />
      <span class="space" />
      <Button
        label="CSV"
        about={`CSV of ${formatNumberOf(rows.length, kind)}`}
        hint={`Saves the ${formatNumberOf(rows.length, "loaded row")}, for free`}
        onClick={() => saveRows(path, rows)}
      />
    </div>
  );
}

/** Saves rows with all their fields, and trends as in the CSV of the service. */
function saveRows(fileName: string, rows: readonly OwnerRow[]): void {
  const header = Object.keys(rows[0]?.counts ?? {});
  const cells = rows.map(({ counts, trend }) =>
    header.map((name) => {
      const value: unknown = Reflect.get(counts, name);
      if (Array.isArray(value)) return trend.map(({ day, value: n }) => `${day}:${n}`).join(" ");
      return typeof value === "number" || typeof value === "string" ? value : null;
    }),
  );
  saveCsv(`${fileName}.csv`, header, cells);
}
