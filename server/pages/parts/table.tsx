/** A table whose columns sort the loaded rows, or the whole list. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "../format.ts";
import { Button } from "./form.tsx";
import { Empty } from "./states.tsx";
import { Change, Count, Instant, Percent, Text } from "./figures.tsx";

type Value = number | string | null | undefined;

/** A column of a table. */
export interface Column<Item> {
  readonly label: string;
  /** Reads the value of a cell, which also sorts the rows; unknown values come last. */
  readonly getValue?: (item: Item) => Value;
  /** How the values are written; without it, as text. */
  readonly as?: "count" | "change" | "percent" | "exact" | "instant" | "date";
  /** Renders a cell in place of the value. */
  readonly render?: (item: Item) => ComponentChildren;
  /** The name by which the service sorts the whole list by this column. */
  readonly sort?: string | undefined;
  /** Whether the column is left out where there is little room: another one shows it there. */
  readonly isWide?: boolean;
}

/** How the service has sorted a list. */
export interface ListSorting {
  readonly sort: string;
  readonly isDescending: boolean;
  /** A sentence about the cost of another order. */
  readonly hint: string;
  sortBy(sort: string): void;
}

export interface TableProperties<Item> {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly getKey: (item: Item) => string;
  /** Said in place of a table without rows. */
  readonly empty?: ComponentChildren;
  /** The order of the service, for columns that it sorts by. */
  readonly sorting?: ListSorting;
  /** Whether the visitor can sort the rows. */
  readonly isSortable?: boolean;
  /** Whether a hundred rows are shown at first, and the others on request. */
  readonly isCut?: boolean;
}

/** Rows that are shown at first if the table is cut. */
const ROWS_STEP = 100;

export function Table<Item>(properties: TableProperties<Item>) {
  const { caption, columns, items, getKey, sorting, isCut = false } = properties;
  const { isSortable = sorting === undefined } = properties;
  const [order, setOrder] = useState<{ column: number; isDescending: boolean }>();
  const [rowsMax, setRowsMax] = useState(ROWS_STEP);
  const getValue = order === undefined ? undefined : columns[order.column]?.getValue;
  const sorted = getValue === undefined ? items : sortItems(items, getValue, order?.isDescending);
  const left = items.length - rowsMax;
  if (items.length === 0 && properties.empty !== undefined)
    return <Empty>{properties.empty}</Empty>;
  const renderHead = (column: Column<Item>, index: number) => {
    const { label, sort } = column;
    const listed = sort === undefined ? undefined : sorting;
    const isSorted = listed === undefined ? order?.column === index : listed.sort === sort;
    const isDescending = listed === undefined ? order?.isDescending : listed.isDescending;
    const sortBy = () =>
      listed === undefined
        ? setOrder({ column: index, isDescending: !isSorted || isDescending !== true })
        : listed.sortBy(sort ?? "");
    return (
      <th
        key={label}
        scope="col"
        class={getCellClass(column)}
        aria-sort={isSorted ? (isDescending === true ? "descending" : "ascending") : undefined}
      >
        {listed === undefined && !(isSortable && column.getValue !== undefined) ? (
          label
        ) : (
          <Button label={label} look="sort" hint={listed?.hint} onClick={sortBy} />
        )}
      </th>
    );
  };
  return (
    <>
      <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
        <table>
          <caption>
            <span>{caption}</span>
          </caption>
          <thead>
            <tr>{columns.map(renderHead)}</tr>
          </thead>
          <tbody>
            {(isCut ? sorted.slice(0, rowsMax) : sorted).map((item) => (
              <tr key={getKey(item)}>
                {columns.map((column) => (
                  <td key={column.label} class={getCellClass(column)}>
                    {column.render?.(item) ?? (
                      <Cell as={column.as} value={column.getValue?.(item)} />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {isCut && left > 0 && (
        <p class="row">
          <Button
            label={`Show ${Math.min(left, ROWS_STEP)} more`}
            onClick={() => setRowsMax(rowsMax + ROWS_STEP)}
          />
          <span class="muted">
            {formatExact(rowsMax)} of {formatExact(items.length)}
          </span>
        </p>
      )}
    </>
  );
}

const isTime = (as: Column<never>["as"]): boolean => as === "instant" || as === "date";

function getCellClass({ as, isWide }: Column<never>): string {
  return `${as === undefined || isTime(as) ? "" : "numeric"} ${isWide === true ? "wide" : ""}`.trim();
}

function Cell({ value = null, as }: { readonly value: Value; readonly as: Column<never>["as"] }) {
  if (typeof value === "string") {
    return isTime(as) ? (
      <Instant value={value} hasTime={as === "instant"} />
    ) : (
      <Text value={value} />
    );
  }
  if (as === "change") return <Change value={value} />;
  if (as === "percent") return <Percent value={value} />;
  return as === "exact" && value !== null ? <>{formatExact(value)}</> : <Count value={value} />;
}

function sortItems<Item>(
  items: readonly Item[],
  getValue: (item: Item) => Value,
  isDescending = false,
): Item[] {
  const direction = isDescending ? -1 : 1;
  return items.toSorted((a, b) => {
    const [left = null, right = null] = [getValue(a), getValue(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? 0 : left < right ? -direction : direction;
  });
}
