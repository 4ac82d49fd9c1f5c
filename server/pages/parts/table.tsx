/** A table: formats values, sorts loaded rows or the whole list, and can show rows in steps. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "../format.ts";
import { Change, Count, Instant, Percent, Text } from "./figures.tsx";
import { Button } from "./form.tsx";
import { Empty } from "./states.tsx";

type Value = number | string | null | undefined;

type FieldOf<Item> = {
  [Name in keyof Item]-?: Item[Name] extends Value ? Name : never;
}[keyof Item];

/** A column of a table. With a field or value, it sorts the rows; unknown values come last. */
export interface Column<Item> {
  readonly label: string;
  readonly field?: FieldOf<Item>;
  readonly getValue?: (item: Item) => Value;
  /** How the values are written; by default, as text. A name is sorted regardless of case. */
  readonly as?: "count" | "change" | "percent" | "exact" | "instant" | "date" | "name";
  readonly getHref?: (item: Item) => string;
  readonly render?: (item: Item) => ComponentChildren;
  /** The name by which the service sorts the whole list by this column. */
  readonly sort?: string | undefined;
  /** Whether the column is left out where there is little room: there, another column has it. */
  readonly isWide?: boolean;
}

interface TableProperties<Item> {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly getKey: (item: Item) => string;
  readonly empty?: ComponentChildren;
  /** How the service has sorted the list, for columns that it sorts by. */
  readonly sorting?: {
    readonly sort: string;
    readonly isDescending: boolean;
    readonly hint: string;
    sortBy(sort: string): void;
  };
  readonly isSortable?: boolean;
  readonly isCut?: boolean;
}

const ROWS_STEP = 100;

export function Table<Item>(properties: TableProperties<Item>) {
  const { caption, columns, items, getKey, empty, sorting, isCut = false } = properties;
  const { isSortable = sorting === undefined } = properties;
  const [order, setOrder] = useState({ column: -1, isDescending: false });
  const [rowsMax, setRowsMax] = useState(ROWS_STEP);
  const sorted = sortItems(items, columns[order.column], order.isDescending);
  const left = items.length - rowsMax;
  if (items.length === 0 && empty !== undefined) return <Empty>{empty}</Empty>;
  const renderHead = (column: Column<Item>, index: number) => {
    const { label, sort = "" } = column;
    const listed = sort === "" ? undefined : sorting;
    const isSorted = listed === undefined ? order.column === index : listed.sort === sort;
    const { isDescending } = listed ?? order;
    const isButton = listed !== undefined || (isSortable && hasValue(column));
    const sortBy = () =>
      listed === undefined
        ? setOrder({ column: index, isDescending: !isSorted || !isDescending })
        : listed.sortBy(sort);
    return (
      <th
        key={label}
        scope="col"
        class={getCellClass(column)}
        aria-sort={isSorted ? (isDescending ? "descending" : "ascending") : undefined}
      >
        {isButton ? (
          <Button label={label} look="sort" hint={listed?.hint} onClick={sortBy} />
        ) : (
          label
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
                    {renderCell(column, item)}
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

const hasValue = <Item,>({ field, getValue }: Column<Item>): boolean =>
  field !== undefined || getValue !== undefined;

function readValue<Item>({ field, getValue }: Column<Item>, item: Item): number | string | null {
  const value: unknown = field === undefined ? getValue?.(item) : item[field];
  return typeof value === "number" || typeof value === "string" ? value : null;
}

const NUMBERS = {
  count: Count,
  change: Change,
  percent: Percent,
  exact: ({ value }: { readonly value: number }) => <>{formatExact(value)}</>,
};

const isNumeric = (as: Column<never>["as"]): as is keyof typeof NUMBERS =>
  as !== undefined && Object.hasOwn(NUMBERS, as);

const getCellClass = ({ as, isWide }: Pick<Column<never>, "as" | "isWide">): string =>
  `${isNumeric(as) ? "numeric" : ""} ${isWide === true ? "wide" : ""}`.trim();

function renderCell<Item>(column: Column<Item>, item: Item): ComponentChildren {
  const { as, getHref, render } = column;
  const rendered = render?.(item);
  if (rendered != null) return rendered;
  const value = readValue(column, item);
  if (value === null) return <Count value={null} />;
  if (typeof value === "number") {
    const Figure = isNumeric(as) ? NUMBERS[as] : Count;
    return <Figure value={value} />;
  }
  if (as === "instant" || as === "date") {
    return <Instant value={value} hasTime={as === "instant"} />;
  }
  const text = <Text value={value} />;
  return getHref === undefined ? text : <a href={getHref(item)}>{text}</a>;
}

function sortItems<Item>(
  items: readonly Item[],
  column: Column<Item> | undefined,
  isDescending: boolean,
): readonly Item[] {
  if (column === undefined || !hasValue(column)) return items;
  const direction = isDescending ? -1 : 1;
  const getRank = (item: Item) => {
    const value = readValue(column, item);
    return column.as === "name" && typeof value === "string" ? value.toLowerCase() : value;
  };
  return items.toSorted((a, b) => {
    const [left, right] = [getRank(a), getRank(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? 0 : left < right ? -direction : direction;
  });
}
