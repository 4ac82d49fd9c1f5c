/**
 * A table: formats values, sorts loaded rows or the whole list, and can show rows in steps. Its head
 * stays in view. A table that is wider than the page scrolls in a region of its own.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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
  /**
   * How the values are written; by default, as text. A name is sorted regardless of case. A trend is
   * a sparkline. The label of an action, which has buttons, is read by screen readers alone.
   */
  readonly as?: keyof typeof NUMBERS | "instant" | "date" | "name" | "trend" | "action";
  readonly getHref?: (item: Item) => string;
  readonly render?: (item: Item) => ComponentChildren;
  /** The name by which the service sorts the whole list by this column. */
  readonly sort?: string | undefined;
  /** Whether the column is left out where there is little room: there, another column has it. */
  readonly isWide?: boolean;
  /** Whether it is left out on a tablet, too. */
  readonly isWidest?: boolean;
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
  /** Whether it has a few rows among other tables: then it is not sorted, and is a line if empty. */
  readonly isSmall?: boolean;
  readonly isSortable?: boolean;
  readonly isCut?: boolean;
}

const ROWS_STEP = 100;

/** How many rows one task draws: a hundred rows with trends take longer than 100 ms. */
const TASK_ROWS = 40;

export function Table<Item>(properties: TableProperties<Item>) {
  const {
    caption,
    columns,
    items,
    getKey,
    empty,
    sorting,
    isCut = false,
    isSmall = false,
  } = properties;
  const { isSortable = sorting === undefined && !isSmall } = properties;
  const [order, setOrder] = useState({ column: -1, isDescending: false });
  const [rowsMax, setRowsMax] = useState(ROWS_STEP);
  const sorted = sortItems(items, columns[order.column], order.isDescending);
  const left = items.length - rowsMax;
  const rowsShown = isCut ? Math.min(rowsMax, items.length) : items.length;
  const rowsDrawn = useDrawnRows(rowsShown);
  const renderRow = useRows(columns, getKey);
  const { region, isFitting } = useFit();
  if (items.length === 0 && empty !== undefined) {
    return isSmall ? <p class="muted">{empty}</p> : <Empty>{empty}</Empty>;
  }
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
        ) : column.as === "action" ? (
          <span class="hidden">{label}</span>
        ) : (
          label
        )}
      </th>
    );
  };
  return (
    <>
      <div
        ref={region}
        class={isFitting ? "scroll fits" : "scroll"}
        role="region"
        aria-label={caption}
        aria-busy={rowsDrawn < rowsShown}
        tabIndex={isFitting ? undefined : 0}
      >
        <table>
          <caption>
            <span>{caption}</span>
          </caption>
          <thead>
            <tr>{columns.map(renderHead)}</tr>
          </thead>
          <tbody>{sorted.slice(0, rowsDrawn).map(renderRow)}</tbody>
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

/** Renders a row once for the same columns: the rows before are not compared in each task. */
function useRows<Item>(columns: readonly Column<Item>[], getKey: (item: Item) => string) {
  const rendered = useRef({ columns, rows: new Map<Item, ComponentChildren>() });
  if (rendered.current.columns !== columns) rendered.current = { columns, rows: new Map() };
  const { rows } = rendered.current;
  return (item: Item): ComponentChildren => {
    const row = rows.get(item) ?? (
      <tr key={getKey(item)}>
        {columns.map((column) => (
          <td key={column.label} class={getCellClass(column)}>
            {renderCell(column, item)}
          </td>
        ))}
      </tr>
    );
    rows.set(item, row);
    return row;
  };
}

/** Draws the rows of a table in several tasks, and returns how many are drawn. */
function useDrawnRows(count: number): number {
  const [drawn, setDrawn] = useState(TASK_ROWS);
  useEffect(() => {
    if (drawn >= count) return undefined;
    const timer = setTimeout(() => setDrawn(drawn + TASK_ROWS));
    return () => clearTimeout(timer);
  }, [drawn, count]);
  return Math.min(drawn, count);
}

/**
 * Measures whether a table is no wider than its region. Then its head stays at the top of the window;
 * in a region that scrolls, it can only stay at the top of the region.
 */
function useFit() {
  const region = useRef<HTMLDivElement>(null);
  // Most tables fit. Until one that does not is measured, its region cuts it.
  const [isFitting, setFitting] = useState(true);
  /** The width of the region in which the table did not fit. */
  const tooNarrow = useRef(-1);
  const measure = () => {
    const { current } = region;
    const table = current?.firstElementChild;
    const width = current?.offsetWidth ?? 0;
    // A table that scrolls has narrower names: it could fit, and not fit without them, for ever.
    if (!(table instanceof HTMLElement) || width === tooNarrow.current) return;
    const isWideEnough = table.offsetWidth <= width;
    tooNarrow.current = isWideEnough ? -1 : width;
    setFitting(isWideEnough);
  };
  useLayoutEffect(measure);
  useEffect(() => {
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  return { region, isFitting };
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

const getCellClass = ({
  as,
  isWide,
  isWidest,
}: Pick<Column<never>, "as" | "isWide" | "isWidest">): string =>
  [
    isNumeric(as) && "numeric",
    (as === "name" || as === "trend" || as === "action") && as,
    isWide === true && "wide",
    isWidest === true && "widest",
  ]
    .filter((name) => name !== false)
    .join(" ");

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
