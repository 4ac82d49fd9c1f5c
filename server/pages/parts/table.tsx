/** A table whose rows can be sorted by a column: those that are there, or the whole list. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

/** A column of a table. */
export interface Column<Item> {
  readonly label: string;
  readonly render: (item: Item) => ComponentChildren;
  /** What the column is sorted by; `null` comes last. Without it, the column cannot be sorted. */
  readonly getValue?: (item: Item) => number | string | null;
  /** The name by which the service sorts the whole list by this column. */
  readonly sort?: string;
  readonly isNumeric?: boolean;
  /** Whether the column is left out where there is little room: another one shows it there. */
  readonly isWide?: boolean;
}

/** How the service has sorted a list. */
export interface ListSorting {
  readonly sort: string;
  readonly isDescending: boolean;
  /** Says what another order costs. */
  readonly hint: string;
  sortBy(sort: string): void;
}

interface TableProperties<Item> {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly getKey: (item: Item) => string;
  /** For columns that the service sorts by. */
  readonly sorting?: ListSorting;
  /** How many rows are shown, after all are sorted. */
  readonly rowsMax?: number;
}

interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

export function Table<Item>(properties: TableProperties<Item>) {
  const { caption, columns, items, getKey, sorting, rowsMax } = properties;
  const [order, setOrder] = useState<Order>();
  const getValue = order === undefined ? undefined : columns[order.column]?.getValue;
  const sorted = getValue === undefined ? items : sortItems(items, getValue, order?.isDescending);
  const sortBy = (column: number) =>
    setOrder((before) => ({
      column,
      isDescending: before?.column === column ? !before.isDescending : true,
    }));
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            {columns.map((column, index) => {
              const { label, sort, getValue: value } = column;
              const isListSort = sorting !== undefined && sort !== undefined;
              return (
                <th
                  key={label}
                  scope="col"
                  class={getCellClass(column)}
                  aria-sort={isListSort ? getListSort(sorting, sort) : getSort(order, index)}
                >
                  {value === undefined && !isListSort ? (
                    label
                  ) : (
                    <button
                      type="button"
                      class="sort"
                      title={isListSort ? sorting.hint : undefined}
                      onClick={() => (isListSort ? sorting.sortBy(sort) : sortBy(index))}
                    >
                      {label}
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, rowsMax).map((item) => (
            <tr key={getKey(item)}>
              {columns.map((column) => (
                <td key={column.label} class={getCellClass(column)}>
                  {column.render(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function getCellClass({ isNumeric, isWide }: Column<never>): string {
  return `${isNumeric === true ? "numeric" : ""} ${isWide === true ? "wide" : ""}`.trim();
}

function getListSort({ sort, isDescending }: ListSorting, column: string) {
  if (sort !== column) return undefined;
  return isDescending ? "descending" : "ascending";
}

function getSort(order: Order | undefined, column: number) {
  if (order?.column !== column) return undefined;
  return order.isDescending ? "descending" : "ascending";
}

function sortItems<Item>(
  items: readonly Item[],
  getValue: (item: Item) => number | string | null,
  isDescending = false,
): Item[] {
  const direction = isDescending ? -1 : 1;
  return items.toSorted((a, b) => {
    const [left, right] = [getValue(a), getValue(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? 0 : left < right ? -direction : direction;
  });
}
