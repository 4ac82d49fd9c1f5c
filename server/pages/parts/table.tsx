/** A table whose rows can be sorted by a column. */
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

/** A column of a table. */
export interface Column<Item> {
  readonly label: string;
  readonly render: (item: Item) => ComponentChildren;
  /** What the column is sorted by; `null` comes last. Without it, the column cannot be sorted. */
  readonly getValue?: (item: Item) => number | string | null;
  readonly isNumeric?: boolean;
}

interface TableProperties<Item> {
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly getKey: (item: Item) => string;
}

interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

export function Table<Item>({ caption, columns, items, getKey }: TableProperties<Item>) {
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
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ label, isNumeric, getValue: value }, index) => (
              <th
                key={label}
                scope="col"
                class={isNumeric === true ? "numeric" : ""}
                aria-sort={getSort(order, index)}
              >
                {value === undefined ? (
                  label
                ) : (
                  <button type="button" class="sort" onClick={() => sortBy(index)}>
                    {label}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((item) => (
            <tr key={getKey(item)}>
              {columns.map(({ label, render, isNumeric }) => (
                <td key={label} class={isNumeric === true ? "numeric" : ""}>
                  {render(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
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
